"""Which files are run, or obeyed, by something else once they are written: always asked about."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath

from turnbuckle.workspace.spelling import folded

REPOSITORY = "files of version control"
EDITOR = "settings of an editor"
PIPELINE = "what a build server runs"
INSTRUCTIONS = "instructions for agents"
HOOKS = "what runs by itself"

_FOLDERS: dict[str, str] = {
    ".git": REPOSITORY, ".hg": REPOSITORY, ".svn": REPOSITORY, ".bzr": REPOSITORY,
    ".jj": REPOSITORY, "git~1": REPOSITORY,
    ".vscode": EDITOR, ".vscode-server": EDITOR, ".idea": EDITOR, ".zed": EDITOR, ".vs": EDITOR,
    ".fleet": EDITOR, ".nova": EDITOR, ".helix": EDITOR, ".nvim": EDITOR, ".vim": EDITOR,
    ".kak": EDITOR, ".lapce": EDITOR, ".devcontainer": EDITOR, ".eclipse": EDITOR,
    ".ci": PIPELINE, ".circleci": PIPELINE, ".buildkite": PIPELINE, ".teamcity": PIPELINE,
    ".woodpecker": PIPELINE, ".drone": PIPELINE, ".semaphore": PIPELINE,
    ".azure-pipelines": PIPELINE, ".gitlab": PIPELINE, ".builds": PIPELINE,
    ".cursor": INSTRUCTIONS, ".windsurf": INSTRUCTIONS, ".clinerules": INSTRUCTIONS,
    ".roo": INSTRUCTIONS, ".claude": INSTRUCTIONS, ".codex": INSTRUCTIONS, ".gemini": INSTRUCTIONS,
    ".agents": INSTRUCTIONS, ".agent": INSTRUCTIONS, ".turnbuckle": INSTRUCTIONS,
    ".continue": INSTRUCTIONS, ".junie": INSTRUCTIONS, ".kiro": INSTRUCTIONS,
    ".amazonq": INSTRUCTIONS, ".aider": INSTRUCTIONS, ".opencode": INSTRUCTIONS,
    ".augment": INSTRUCTIONS, ".trae": INSTRUCTIONS,
    ".husky": HOOKS, ".githooks": HOOKS, ".hooks": HOOKS, ".lefthook": HOOKS, ".direnv": HOOKS,
    ".cargo": HOOKS, "launchagents": HOOKS, "launchdaemons": HOOKS,
}  # fmt: skip
"""Folders in which everything is protected, in lower case."""

_PLACES: dict[str, str] = {
    ".github/workflows": PIPELINE, ".github/actions": PIPELINE, ".gitea/workflows": PIPELINE,
    ".gitea/actions": PIPELINE, ".forgejo/workflows": PIPELINE, ".forgejo/actions": PIPELINE,
    ".github/instructions": INSTRUCTIONS, ".github/prompts": INSTRUCTIONS,
    ".github/agents": INSTRUCTIONS, ".github/chatmodes": INSTRUCTIONS,
    ".config/autostart": HOOKS, ".config/fish": HOOKS, ".config/systemd": HOOKS,
    ".config/git": REPOSITORY, ".config/nvim": EDITOR,
    ".github/skills": INSTRUCTIONS, ".github/hooks": HOOKS,
}  # fmt: skip
"""The same for folders that are protected only in another one."""

_NAMES: tuple[tuple[str, str], ...] = (
    # A file of this name makes a repository of its folder, whose settings git obeys.
    ("head", REPOSITORY),
    (".git", REPOSITORY), (".gitmodules", REPOSITORY), (".gitconfig", REPOSITORY),
    (".gitattributes", REPOSITORY), (".hgrc", REPOSITORY),
    ("*.code-workspace", EDITOR), ("*.sublime-project", EDITOR), (".exrc", EDITOR),
    (".vimrc", EDITOR), (".nvimrc", EDITOR), (".nvim.lua", EDITOR), (".lvimrc", EDITOR),
    (".dir-locals.el", EDITOR), (".dir-locals-2.el", EDITOR), (".kateproject", EDITOR),
    (".devcontainer.json", EDITOR),
    (".gitlab-ci*.yml", PIPELINE), (".gitlab-ci*.yaml", PIPELINE), (".travis.yml", PIPELINE),
    ("azure-pipelines*.yml", PIPELINE), ("azure-pipelines*.yaml", PIPELINE),
    ("appveyor.yml", PIPELINE), (".appveyor.yml", PIPELINE), ("jenkinsfile*", PIPELINE),
    ("bitbucket-pipelines.yml", PIPELINE), (".drone.y*ml", PIPELINE),
    (".woodpecker.y*ml", PIPELINE), (".cirrus.y*ml", PIPELINE),
    ("cloudbuild.y*ml", PIPELINE), ("buildspec.y*ml", PIPELINE),
    (".build.y*ml", PIPELINE), ("codemagic.yaml", PIPELINE), (".zuul.y*ml", PIPELINE),
    ("agents.md", INSTRUCTIONS), ("agents.*.md", INSTRUCTIONS), ("agent.md", INSTRUCTIONS),
    ("claude.md", INSTRUCTIONS), ("claude.*.md", INSTRUCTIONS), ("gemini.md", INSTRUCTIONS),
    ("copilot-instructions.md", INSTRUCTIONS), ("skill.md", INSTRUCTIONS),
    (".cursorrules", INSTRUCTIONS), (".windsurfrules", INSTRUCTIONS), (".clinerules", INSTRUCTIONS),
    (".roorules*", INSTRUCTIONS), (".roomodes", INSTRUCTIONS), (".goosehints", INSTRUCTIONS),
    (".aider*", INSTRUCTIONS), (".mcp.json", INSTRUCTIONS), ("mcp.json", INSTRUCTIONS),
    (".rules", INSTRUCTIONS), ("*.agent.md", INSTRUCTIONS), ("*.prompt.md", INSTRUCTIONS),
    ("*.instructions.md", INSTRUCTIONS), ("*.mdc", INSTRUCTIONS),
    (".pre-commit-config.y*ml", HOOKS), (".pre-commit-hooks.y*ml", HOOKS),
    ("lefthook*.y*ml", HOOKS), (".lefthook*.y*ml", HOOKS), ("lefthook.toml", HOOKS),
    ("lefthook.json", HOOKS),
    (".lintstagedrc*", HOOKS), ("lint-staged.config.*", HOOKS), (".huskyrc*", HOOKS),
    (".overcommit.yml", HOOKS), (".simple-git-hooks.*", HOOKS), (".envrc", HOOKS),
    (".bashrc", HOOKS), (".bash_profile", HOOKS), (".bash_login", HOOKS), (".profile", HOOKS),
    (".zshrc", HOOKS), (".zshenv", HOOKS), (".zprofile", HOOKS), (".zlogin", HOOKS),
    (".zlogout", HOOKS), (".bash_aliases", HOOKS), (".bash_logout", HOOKS), (".kshrc", HOOKS),
    (".cshrc", HOOKS), (".tcshrc", HOOKS), (".login", HOOKS), (".inputrc", HOOKS),
    ("config.fish", HOOKS), (".xinitrc", HOOKS), (".xprofile", HOOKS), (".xsession*", HOOKS),
    (".tmux.conf", HOOKS), (".screenrc", HOOKS), ("crontab", HOOKS),
    (".gdbinit", HOOKS), (".lldbinit", HOOKS), (".pdbrc*", HOOKS), (".pythonrc*", HOOKS),
    ("sitecustomize.py", HOOKS), ("usercustomize.py", HOOKS), ("*.pth", HOOKS),
    (".yarnrc*", HOOKS), (".pnpmfile.*", HOOKS), ("bunfig.toml", HOOKS), (".bazelrc", HOOKS),
    ("mise*.toml", HOOKS), (".mise*.toml", HOOKS), (".ycm_extra_conf.py", HOOKS),
    (".gitpod.y*ml", PIPELINE), (".replit", PIPELINE),
)  # fmt: skip
"""Names of files, as patterns in lower case."""


def protection(path: PurePath, folders: Iterable[PurePath] = ()) -> str | None:
    """What a file would be that is to be written there, in a few words; None for any other file.

    `folders` are those of the workspace: where it lies itself says nothing about its files, but
    for a folder of version control.
    """
    parts = [folded(part) for part in path.parts]
    if any(_FOLDERS.get(part) == REPOSITORY for part in parts):
        return REPOSITORY
    depth = max((len(f.parts) for f in folders if path.is_relative_to(f)), default=0)
    inner = parts[depth:]
    for part in inner:
        if part in _FOLDERS:
            return _FOLDERS[part]
    for pair in pairwise(inner):
        if "/".join(pair) in _PLACES:
            return _PLACES["/".join(pair)]
    name = parts[-1] if parts else ""
    return next((what for pattern, what in _NAMES if fnmatchcase(name, pattern)), None)
