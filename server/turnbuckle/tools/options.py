"""Options by which a program does more than its name says: runs another, loads code, writes."""

from collections.abc import Iterator, Sequence

from turnbuckle.tools.words import Word

_CONFIGURED = ("-c", "--config", "-r", "--require", "--plugin")
_COMPILER = ("-wrapper", "-fplugin", "-specs", "--specs", "-B", "-Xclang", "-load")
_MAKE = ("--eval", "-E", "-f", "--file", "--makefile", "-C", "--directory", "-I", "--include-dir")
_TAR = (
    "-I", "-F", "--use-compress-program", "--to-command", "--checkpoint-action", "--rsh-command",
    "--rmt-command", "--info-script", "--new-volume-script", "--options",
)  # fmt: skip
_PAGER = ("--pager", "--pager-cmd")

OPTIONS: dict[str, tuple[str, ...]] = {
    "git": (
        "-O", "--open-files-in-pager", "-x", "--extcmd", "--exec", "--upload-pack",
        "--receive-pack", "--ext-diff", "--textconv", "--output", "--output-directory",
        "--template", "--config", "--config-env", "--exec-path", "--git-dir", "--work-tree",
        "--tool", "--strategy",
    ),
    "hg": ("--config", "--config-file", "--cwd", "-R", "--repository", "--tool", "-o", "--output"),
    "jj": ("--config", "--config-file", "--config-toml", "-R", "--repository", "--tool"),
    "svn": ("--config-option", "--config-dir", "--editor-cmd", "--diff-cmd", "--diff3-cmd"),
    "rg": ("--pre", "--hostname-bin"),
    "ag": _PAGER, "ack": _PAGER, "bat": _PAGER, "batcat": _PAGER, "delta": _PAGER,
    "printf": ("-v",), "test": ("-v", "-R"), "wait": ("-p",),
    "man": ("-P", "--pager", "-H", "--html", "-C", "--config-file"),
    "less": ("-k", "--lesskey-file", "--lesskey-src", "-o", "-O", "--log-file", "--LOG-FILE"),
    "fzf": ("--preview", "--bind", "--listen", "--listen-unsafe", "--become", "--history"),
    "find": ("-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "tree": ("-o", "--output"),
    "yq": ("-i", "--inplace", "-s", "--split-exp"),
    "tar": _TAR, "bsdtar": _TAR, "gtar": _TAR,
    "zip": ("-TT", "--unzip-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o", "-F"), "sftp": ("-S", "-o", "-D", "-b", "-F"),
    "curl": (
        "-o", "-O", "--output", "--output-dir", "--remote-name", "--remote-name-all", "-K",
        "--config", "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii",
        "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc", "--engine",
    ),
    "wget": ("-e", "--execute", "--use-askpass", "--config", "-O", "-o", "-P", "-a"),
    "make": _MAKE, "gmake": _MAKE, "ninja": ("-f", "-C", "-t"),
    "cmake": ("-P", "-E", "-C", "-S", "-B", "--build", "--install", "--preset", "--toolchain"),
    "gcc": _COMPILER, "g++": _COMPILER, "cc": _COMPILER, "c++": _COMPILER,
    "clang": _COMPILER, "clang++": _COMPILER,
    "ctags": ("--options", "--options-maybe", "-o", "-f"),
    "pytest": (
        "-p", "-c", "--config-file", "--rootdir", "--confcutdir", "-o", "--override-ini",
        "--basetemp", "--pdbcls", "--junitxml", "--junit-xml", "--log-file", "--pyargs",
    ),
    "mypy": ("--config-file", "--python-executable", "--install-types", "--shadow-file"),
    "ruff": ("--config", "-o", "--output-file"),
    "pylint": ("--rcfile", "--init-hook", "--load-plugins", "--output"),
    "flake": ("--config", "--append-config", "--output-file"),
    "eslint": (
        *_CONFIGURED, "--rulesdir", "--resolve-plugins-relative-to", "--parser", "-f", "--format",
        "-o", "--output-file",
    ),
    "prettier": (*_CONFIGURED, "--config-path"),
    "jest": (*_CONFIGURED, "--globalSetup", "--setupFiles", "--runner", "--rootDir"),
    "vitest": (*_CONFIGURED, "--globalSetup", "--root", "--dir"),
    "mocha": (*_CONFIGURED, "--import", "--loader", "--file"),
    "tsc": ("--outDir", "--outFile"),
    "kubectl": ("exec", "run", "debug", "cp", "--kubeconfig"),
    "nmap": ("--script", "--datadir"), "tcpdump": ("-z", "-w"),
    "openssl": ("-engine", "-provider", "-config", "-out"),
}  # fmt: skip
"""By programs that are harmless without them, named without a version; a letter counts wherever in
a word it stands."""

_GLOBAL = {"git": frozenset({"--version", "--help", "-v", "-h", "--no-pager", "-P"})}
"""Programs with a command of their own, and what may stand before it."""


def does_more(name: str, words: Sequence[Word], at: int) -> bool:
    """Whether the words of a command from `at` on may hold such an option of its program.

    A pattern may become the name of any file, of which one may be such an option.
    """
    options = OPTIONS.get(name)
    if options is None:
        return False
    if at == 1 and name in _GLOBAL and _is_global(words, _GLOBAL[name]):
        return True
    for word in words[at:]:
        if word.literal and word.text == "--":
            return False
        if _may_be_option(word) or _is_among(name, word.text, options):
            return True
    return _has_bare_letters(name, words, options)


def values(name: str, words: Sequence[Word]) -> Iterator[str]:
    """What such options of a command are given: with `=`, behind their letter, or as next word."""
    if _has_bare_letters(name, words, OPTIONS.get(name, ())):
        yield from (word.text for word in words[2:])
    for number, word in enumerate(words[1:], 2):
        if any(_is(word.text, option) for option in OPTIONS.get(name, ())):
            found = (
                word.text.partition("=")[2],
                word.text[2:],
                *(w.text for w in words[number : number + 1]),
            )
            yield from filter(None, found)


def _is_global(words: Sequence[Word], harmless: frozenset[str]) -> bool:
    return any(word.text.startswith("-") and word.text not in harmless for word in words[1:2])


def _may_be_option(word: Word) -> bool:
    return not word.literal and word.text[:1] in ("*", "?", "[", "-")


def _has_bare_letters(name: str, words: Sequence[Word], options: Sequence[str]) -> bool:
    """Whether the first word of a program like tar is letters of options, without their dash."""
    return name.endswith("tar") and any(_is_among(name, f"-{w.text}", options) for w in words[1:2])


def _is_among(name: str, word: str, options: Sequence[str]) -> bool:
    # A variable of make is run by what a rule of its file makes of it.
    variable = name.endswith("make") and "=" in word and not word.startswith("-")
    return variable or any(_is(word, option) for option in options)


def _is(word: str, option: str) -> bool:
    """Whether a word is an option, also shortened, with its value, or among other letters."""
    head = word.partition("=")[0]
    if option.startswith("--"):
        return head == option or (len(head) > 3 and option.startswith(head))
    if len(option) == 2 and option[0] == "-":
        return word[:1] == "-" and word[:2] != "--" and option[1] in head[1:]
    return head == option or (option[0] == "-" and word.startswith(option))
