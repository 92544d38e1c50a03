"""Which files are asked about each time they are written, whatever way their name is spelt."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.workspace.protected import (
    EDITOR,
    HOOKS,
    INSTRUCTIONS,
    PIPELINE,
    REPOSITORY,
    protection,
)

PROTECTED = [
    (".git/config", REPOSITORY), ("a/b/.git/hooks/pre-commit", REPOSITORY), (".git", REPOSITORY),
    (".hg/hgrc", REPOSITORY), (".gitmodules", REPOSITORY), ("x/.gitattributes", REPOSITORY),
    (".vscode/settings.json", EDITOR), ("a/.idea/x.xml", EDITOR), (".zed/tasks.json", EDITOR),
    (".nvim.lua", EDITOR), (".dir-locals.el", EDITOR), ("x.code-workspace", EDITOR), (".exrc", EDITOR),
    (".devcontainer/devcontainer.json", EDITOR),
    (".github/workflows/ci.yml", PIPELINE), ("a/.github/actions/x/action.yml", PIPELINE),
    (".gitlab-ci.yml", PIPELINE), (".gitlab-ci-extra.yml", PIPELINE), (".ci/run", PIPELINE),
    (".circleci/config.yml", PIPELINE), ("Jenkinsfile", PIPELINE), ("azure-pipelines.yml", PIPELINE),
    (".travis.yml", PIPELINE), (".forgejo/workflows/x.yml", PIPELINE),
    ("AGENTS.md", INSTRUCTIONS), ("a/agents.MD", INSTRUCTIONS), ("CLAUDE.md", INSTRUCTIONS),
    ("AGENTS.override.md", INSTRUCTIONS), ("CLAUDE.local.md", INSTRUCTIONS), (".cursorrules", INSTRUCTIONS),
    (".cursor/rules/a.mdc", INSTRUCTIONS), (".claude/settings.json", INSTRUCTIONS),
    (".agents/skills/x/run.py", INSTRUCTIONS), (".turnbuckle/skills/x/SKILL.md", INSTRUCTIONS),
    ("skills/x/SKILL.md", INSTRUCTIONS), (".github/copilot-instructions.md", INSTRUCTIONS),
    (".github/instructions/a.md", INSTRUCTIONS), (".mcp.json", INSTRUCTIONS),
    (".husky/pre-commit", HOOKS), (".githooks/x", HOOKS), (".pre-commit-config.yaml", HOOKS),
    ("lefthook.yml", HOOKS), (".lintstagedrc.json", HOOKS), (".envrc", HOOKS), (".bashrc", HOOKS),
    (".bash_aliases", HOOKS), (".config/fish/config.fish", HOOKS), (".inputrc", HOOKS),
    (".cargo/config.toml", HOOKS), ("src/sitecustomize.py", HOOKS), (".yarnrc.yml", HOOKS),
    ("Library/LaunchAgents/x.plist", HOOKS), (".config/autostart/x.desktop", HOOKS), (".gdbinit", HOOKS),
    ("mise.toml", HOOKS), (".gitpod.yml", PIPELINE), ("data/HEAD", REPOSITORY),
]  # fmt: skip


@pytest.mark.parametrize(("path", "what"), PROTECTED)
def test_what_others_run_or_obey_is_protected(path: str, what: str) -> None:
    assert protection(PurePosixPath("/w", path), [PurePosixPath("/w")]) == what
    assert protection(PureWindowsPath("c:/w", path)) == what


@pytest.mark.parametrize(
    "path",
    [
        "a.py", "git/config", "docs/AGENTS.txt", "agentset.md", "ci/run", ".github/ISSUE_TEMPLATE.md",
        "src/workflows/x.yml", "README.md", ".gitignore", ".editorconfig", "Jenkins.md", "vscode/x",
        "hooks/x.py", "claude.py", "mygit.git/x",
    ],
)  # fmt: skip
def test_other_files_are_not(path: str) -> None:
    assert protection(PurePosixPath("/w", path), [PurePosixPath("/w")]) is None


@pytest.mark.parametrize(
    "path",
    [
        ".GIT/config", ".Git/config", ".git./config", ".git /config", ".g\u200cit/config", "\uff0egit/config",
        "GIT~1/config", ".git::$INDEX_ALLOCATION/config", ".git:x/config",
    ],
)  # fmt: skip
def test_no_spelling_that_some_file_system_takes_for_the_same_hides_it(path: str) -> None:
    assert protection(PureWindowsPath("c:/w", path)) == REPOSITORY


@given(
    st.sampled_from(PROTECTED), st.lists(st.sampled_from(["a", "b c", "é"]), max_size=3), st.data()
)
def test_it_is_protected_at_any_depth_in_any_case(
    known: tuple[str, str], above: list[str], data: st.DataObject
) -> None:
    path = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in known[0])
    assert protection(PurePosixPath("/w", *above, path), [PurePosixPath("/w")]) == known[1]


def test_where_the_workspace_lies_says_nothing_of_its_files_but_for_a_repository() -> None:
    home = PurePosixPath("/home/.claude/worktrees/x")
    assert protection(home / "a.py", [home]) is None
    assert protection(home / "CLAUDE.md", [home]) == INSTRUCTIONS
    assert protection(home / "a.py") == INSTRUCTIONS
    inside = PurePosixPath("/w/.git/hooks")
    assert protection(inside / "pre-commit", [inside]) == REPOSITORY
