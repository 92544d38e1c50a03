"""Which names look as if credentials stood behind them."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

from turnbuckle.workspace.spelling import folded

NAMES = (
    ".env", ".env.*", ".envrc", "*.env", ".secrets", "secrets.*", "credentials*", "*_credentials",
    # keys, certificates with their keys, and stores of passwords
    "*.pem", "*.key", "*.p12", "*.p8", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdb", "*.kdbx",
    "*.keychain", "*.keychain-db", "*.agekey", "*.ovpn",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    # what programs log in with
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", "pgpass.conf", ".htpasswd",
    ".git-credentials", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".dockercfg",
    ".vault-token", ".vault_pass*", ".terraformrc", "terraform.rc", "kubeconfig*", "*.kubeconfig",
    "application_default_credentials*", "service-account*.json", "service_account*.json",
    "client_secret*.json",
    # what holds the secrets of what it describes
    "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json",
    # what was typed
    ".*_history", "fish_history", "consolehost_history.txt",
    # what browsers keep
    "logins.json", "key3.db", "key4.db", "cookies.sqlite",
)  # fmt: skip
"""Names of files, in lower case."""

PUBLIC = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")
"""The ones among them that are made to be shown."""

FOLDERS = (
    ".ssh", ".aws", ".gnupg", ".azure", ".kube", ".password-store", ".oci",
    ".config/gcloud", ".config/op", ".terraform.d", "library/keychains", "share/keyrings",
    ".mozilla", "firefox/profiles", "google/chrome", ".config/google-chrome", ".config/chromium",
    "bravesoftware", "microsoft/edge",
)  # fmt: skip
"""Folders in which everything is secret, by the ends of their paths."""

FILES = (
    ".docker/config.json", ".git/config", ".m2/settings.xml", ".composer/auth.json",
    "gh/hosts.yml", ".config/hub", "etc/shadow", "etc/gshadow", "proc/*/environ",
)  # fmt: skip
"""Files by the ends of their paths."""


def looks_secret(path: PurePath) -> bool:
    """Whether a file of this name looks like it holds credentials."""
    named = [part.casefold() for part in path.parts]
    careless = [folded(part) or part for part in path.parts]
    return _is_secret(named) or (careless != named and _is_secret(careless))


def _is_secret(parts: Sequence[str]) -> bool:
    if not parts:
        return False
    name, whole = parts[-1], f"/{'/'.join(parts)}/".replace("//", "/")
    if any(f"/{folder}/" in whole for folder in FOLDERS) or _is_among(parts, FILES):
        return not fnmatchcase(name, "*.pub")
    if any(fnmatchcase(name, pattern) for pattern in PUBLIC):
        return False
    return any(fnmatchcase(name, pattern) for pattern in NAMES)


def _is_among(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    ends = ("/".join(parts[-length:]) for length in (2, 3))
    return any(fnmatchcase(end, pattern) for end in ends for pattern in patterns)


def ignore_patterns() -> tuple[str, ...]:
    """The same in the words of an ignore file, public ones included, for a search to pass over."""
    folders = tuple(f"**/{folder}/**" for folder in FOLDERS)
    return NAMES + folders + tuple(f"**/{file}" for file in FILES)
