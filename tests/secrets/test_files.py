"""Files that look like secrets are asked about, and no search prints a line of one unasked."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.strategies import soak
from turnbuckle.tools.sweeping import secret_in
from turnbuckle.workspace.secretive import FILES, FOLDERS, NAMES, looks_secret

CANARY = "CANARY-FILE-91"

SECRET = (
    ".env", ".env.local", ".env.production", "prod.env", ".envrc", ".secrets", "secrets.yaml",
    "credentials.json", "aws_credentials", "id_rsa", "id_ed25519", "id_ecdsa_sk", "deploy.pem",
    "server.key", "site.p12", "AuthKey_1.p8", "win.pfx", "putty.ppk", "store.jks",
    "release.keystore", "pass.kdbx", "login.keychain-db", "vpn.ovpn", ".netrc", "_netrc",
    ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".my.cnf", ".s3cfg", ".boto",
    ".dockercfg", ".vault-token", ".vault_pass.txt", ".terraformrc", "kubeconfig",
    "kubeconfig.yaml", "prod.kubeconfig", "application_default_credentials.json",
    "service-account-prod.json", "client_secret_1.json", "terraform.tfstate",
    "terraform.tfstate.backup", "prod.tfvars", "prod.auto.tfvars.json", ".bash_history",
    ".zsh_history", ".python_history", ".psql_history", "fish_history", "ConsoleHost_history.txt",
    "logins.json", "key4.db", "cookies.sqlite", ".ssh/config", ".ssh/known_hosts", ".aws/config",
    ".gnupg/pubring.kbx", ".azure/token.json", ".kube/config", ".kube/cache/x",
    ".password-store/mail.gpg", ".config/gcloud/access_tokens.db", ".config/op/config",
    ".docker/config.json", ".git/config", ".m2/settings.xml", ".composer/auth.json",
    ".config/gh/hosts.yml", ".mozilla/firefox/x/prefs.js",
    ".config/google-chrome/Default/Cookies", ".config/chromium/Default/History",
    "Library/Keychains/login.keychain",
    "Library/Application_Support/Google/Chrome/Default/Cookies", "etc/shadow",
    "proc/1234/environ", ".local/share/keyrings/login.keyring", ".terraform.d/x",
)  # fmt: skip

FREE = (
    ".env.example", ".env.sample", ".env.template", ".env.dist", "secrets.yaml.example",
    "prod.tfvars.example", "id_ed25519.pub", ".ssh/id_rsa.pub", "main.tf", "variables.tf",
    "config.json", "settings.xml", "auth.py", "environ.py", "environment.py", "keyboard.md",
    "monkey.py", "history.txt", "HISTORY.md", "chromium/src/main.cc", "docker/config.json",
    "tokens.ts", "package.json", "hosts.yml", "shadow.css", "cookies.py", ".gitignore",
    ".github/workflows/ci.yml",
)  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_what_holds_credentials_is_known_by_its_name(name: str) -> None:
    assert looks_secret(PurePosixPath("/home/me/proj") / name)
    assert looks_secret(PurePosixPath("/home/me/proj") / name.upper())


@pytest.mark.parametrize("name", FREE)
def test_what_has_a_similar_name_is_free(name: str) -> None:
    assert not looks_secret(PurePosixPath("/home/me/proj") / name)


def test_the_patterns_are_in_lower_case_as_names_are_compared() -> None:
    for one in (*NAMES, *FOLDERS, *FILES):
        assert one == one.casefold()


parts = st.sampled_from([".ssh", ".env", "a", "b.py", ".git", "config", "proc", "7", "environ"])


@settings(max_examples=soak(100))
@given(
    st.lists(parts, max_size=5), st.lists(parts, min_size=1, max_size=3), st.sampled_from(FOLDERS)
)
def test_what_lies_in_a_secret_folder_is_secret_at_any_depth(
    above: list[str], below: list[str], folder: str
) -> None:
    assert looks_secret(PurePosixPath("/w", *above, folder, *below))


@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": "CANARY"},
        {"pattern": ".", "context": 5},
        {"pattern": "CANARY", "glob": "*"},
        {"pattern": "CANARY", "glob": "**/.*"},
        {"pattern": "CANARY", "path": "sub"},
        {"pattern": ".", "glob": ".env*"},
    ],
    ids=str,
)
async def test_a_search_prints_no_line_of_a_secret_file(
    arguments: dict[str, Any], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    for name in SECRET:
        for folder in (work, work / "sub"):
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{CANARY} in {name}\n")
    (work / "sub" / "plain.txt").write_text("here the CANARY may be seen\n")
    calls = [say("", ("c1", "search", arguments)), say("done")]
    async with served(Scripted(calls), tmp_path, events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "search")
        (result,) = server.facts("tool/result")
    assert CANARY not in result["content"]
    if arguments["pattern"] and "glob" not in arguments:
        assert "here the CANARY may be seen" in result["content"]
    assert server.facts("approval/asked") == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": "sub/../.env"}),
        ("read_file", {"path": "./harmless.txt"}),
        ("search", {"pattern": ".", "path": ".env"}),
        ("search", {"pattern": ".", "path": "harmless.txt"}),
        ("search", {"pattern": ".", "path": ".ssh"}),
        ("run_command", {"command": "cat .env"}),
        ("run_command", {"command": "cat ./sub/../.env"}),
        ("run_command", {"command": "cat .e*"}),
        ("run_command", {"command": "cat .ssh/config"}),
        ("run_command", {"command": "cat harmless.txt"}),
        ("run_command", {"command": "grep -r CANARY ."}),
        ("run_command", {"command": "grep -Rn CANARY"}),
        ("run_command", {"command": "grep --recurs CANARY sub ."}),
        ("run_command", {"command": "timeout 5 grep -r CANARY"}),
        ("run_command", {"command": "cd sub && grep -r CANARY .."}),
        ("run_command", {"command": "rg --hidden CANARY"}),
        ("run_command", {"command": "rg -uu CANARY ."}),
        ("run_command", {"command": "rg CANARY plain"}),
        ("run_command", {"command": "diff -r sub ."}),
        ("run_command", {"command": "grep -f .env x"}),
        ("run_command", {"command": "grep --file=.env x"}),
    ],
    ids=str,
)
async def test_a_secret_file_is_asked_about_whatever_reads_it_and_whatever_rules_allow(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (work / ".ssh").mkdir(parents=True)
    (work / "sub").mkdir()
    for name in (".env", ".ssh/config"):
        (work / name).write_text(f"{CANARY}\n")
    (work / "plain").mkdir()
    (work / "plain" / "secrets.yaml").write_text(f"{CANARY}\n")
    (work / "harmless.txt").symlink_to(".env")
    (tmp_path / "config.toml").write_text(
        'approvals.commands.allow = ["cat", "grep", "rg", "cd", "diff", "timeout"]\n'
        'approvals.reads.allow = ["/", "."]\n'
    )
    async with served(
        Scripted([say("", ("c1", tool, arguments)), say("done")]), tmp_path, events=True
    ) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "look")
        asked = await server.fact("approval/asked")
        await server.approve(asked["approvalId"], decision="reject")
        await server.answer(question)
        (result,) = server.facts("tool/result")
    assert CANARY not in result["content"]


@pytest.mark.parametrize(
    "command",
    ["grep -rn x clean", "rg x clean", "grep x clean/plain.txt", "grep -r x", "rg x", "cat a.txt"],
)
async def test_a_rule_goes_on_to_allow_what_reads_no_secret(command: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("clean/plain.txt", "a.txt", ".git/config"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("[remote]\nurl = https://host/x.git\n")
    (tmp_path / "config.toml").write_text('approvals.commands.allow = ["cat", "grep", "rg"]\n')
    calls = [say("", ("c1", "run_command", {"command": command})), say("done")]
    async with served(Scripted(calls), tmp_path, events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "look")
    assert server.facts("approval/asked") == []


def test_a_repository_with_a_token_in_its_configuration_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    config = tmp_path / ".git" / "config"
    config.write_text("url = https://host/x.git\n")
    assert secret_in(tmp_path, hidden=True) is None
    config.write_text("url = https://me:token@host/x.git\n")
    assert (
        secret_in(tmp_path, hidden=True)
        == f"{Path('.git', 'config')} looks as if it held credentials"
    )
    assert secret_in(tmp_path, hidden=False) is None
