"""Which programs run others, or whatever they are given: what a rule for commands has to know."""

import re
from functools import lru_cache

SHELLS = frozenset({
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "nu", "pwsh",
    "powershell", "cmd", "busybox", "toybox", "eval", "source", ".", "trap", "alias",
})  # fmt: skip
"""What reads a text, of its arguments or of its input, as a command line."""

LAUNCHERS = frozenset({
    "env", "command", "builtin", "exec", "coproc", "sudo", "doas", "su", "runuser", "pkexec",
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "unbuffer", "time", "timeout",
    "xargs", "parallel", "watch", "entr", "strace", "ltrace", "chroot", "unshare", "nsenter",
    "flock", "script", "ssh", "firejail", "bwrap", "caffeinate", "start", "call", "forfiles",
    "npx", "pnpx", "bunx", "uvx", "tsx", "xvfb-run", "dotenv", "direnv", "then", "do", "else", "!",
})  # fmt: skip
"""What runs the program that its arguments name."""

LAUNCHES_AFTER = {
    "find": ("-exec", "-execdir", "-ok", "-okdir"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "npm": ("exec", "x", "--"),
    "pnpm": ("exec", "dlx", "--"),
    "yarn": ("exec", "dlx", "run"),
    "bun": ("x", "run"),
    "uv": ("run", "--"),
    "poetry": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "conda": ("run",),
    "bundle": ("exec",),
    "docker": ("run", "exec"),
    "podman": ("run", "exec"),
    "nix": ("-c", "--command"),
    "nix-shell": ("--run", "--command"),
    "tmux": ("new", "new-session", "send-keys"),
    "git": ("foreach", "run", "exec", "--exec", "-x"),
    "jobs": ("-x",),
    "compgen": ("-C", "-F"),
    "mapfile": ("-C",),
    "readarray": ("-C",),
    "fc": ("-e", "-s"),
}
"""Programs that run another one, and the words after which it stands."""

INTERPRETERS = frozenset({
    "python", "pypy", "ipython", "node", "nodejs", "deno", "bun", "ts-node", "ruby", "irb", "perl",
    "php", "lua", "luajit", "tclsh", "wish", "osascript", "r", "rscript", "julia", "java", "jshell",
    "groovy", "scala", "elixir", "erl", "iex", "ghci", "runghc", "racket", "guile", "sbcl", "emacs",
    "vim", "vi", "nvim", "ex", "ed", "awk", "gawk", "mawk", "nawk", "sed", "gdb", "lldb",
    "sqlite3", "psql", "mysql", "dotnet", "py", "wscript", "cscript", "mshta", "rundll32",
    "set", "shopt", "enable", "hash", "export", "declare", "typeset", "readonly", "unset",
    "unalias", "function", "let", "exit", "logout", "bind", "complete", "if", "for", "while",
    "until", "case", "select", "{", "(", "[[", "read", "mapfile", "readarray", "getopts",
    "compgen", "compopt", "fc", "history", "jobs", "local",
})  # fmt: skip
"""What runs code that it is given, or changes what later words mean."""

EVALUATORS = frozenset({
    "printf", "test", "[", "[[", "read", "mapfile", "readarray", "getopts", "wait", "let",
    "unset", "declare", "typeset", "local", "export", "readonly",
})  # fmt: skip
"""What takes the name of a variable, and so runs what stands in the index of a list: `a[$(x)]`."""

PACKAGE_MANAGERS = frozenset({
    "npm", "pnpm", "yarn", "corepack", "pip", "pipx", "pipenv", "uv", "poetry", "pdm", "hatch",
    "rye", "conda", "mamba", "micromamba", "pixi", "easy_install", "gem", "bundle", "bundler",
    "cargo", "rustup", "go", "composer", "mix", "hex", "cabal", "stack", "opam", "luarocks", "cpan",
    "cpanm", "nuget", "apt", "apt-get", "aptitude", "dpkg", "yum", "dnf", "rpm", "zypper", "pacman",
    "yay", "apk", "emerge", "snap", "flatpak", "brew", "port", "nix", "nix-env", "nix-shell",
    "guix", "choco", "scoop", "winget", "asdf", "mise", "volta", "nvm", "fnm",
})  # fmt: skip

RUNS_ANYTHING = SHELLS | LAUNCHERS | INTERPRETERS | PACKAGE_MANAGERS
"""What no rule can allow by its first words alone."""

PLAIN_WRAPPERS = {"timeout": (r"\d+(\.\d+)?[smhd]?",), "nohup": (), "nice": ()}
"""Programs that do nothing but run the words that follow; before these, words of these forms."""

_ENDING = re.compile(r"\.(exe|cmd|bat|com|ps1)$")
_VERSION = re.compile(r"[-.\d]+$")


@lru_cache(maxsize=4096)  # asked of the same few for every place in a line
def program(word: str) -> str:
    """The name of a program as rules compare it: without its folder, its case and `.exe`."""
    return _ENDING.sub("", re.split(r"[/\\]", word)[-1].casefold())


def kind(word: str) -> str:
    """The same without a version, so that `python3.11` is `python`."""
    name = program(word)
    return name if name in RUNS_ANYTHING else _VERSION.sub("", name) or name
