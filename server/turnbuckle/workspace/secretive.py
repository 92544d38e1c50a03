"""Which names look as if credentials stood behind them."""

from fnmatch import fnmatchcase
from pathlib import PurePath

NAMES = (
    ".env", ".env.*", ".envrc", "*.env",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials",
    "credentials*", "secrets.*",
)  # fmt: skip
"""Names of files, in lower case."""

PUBLIC = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
"""The ones among them that are made to be shown."""

FOLDERS = (".ssh", ".aws", ".gnupg")
"""Folders in which everything is secret."""

FILES = (".docker/config.json", ".kube/config", ".git/config")
"""Files by their name and that of their folder."""


def looks_secret(path: PurePath) -> bool:
    """Whether a file of this name looks like it holds credentials."""
    parts = [part.casefold() for part in path.parts]
    if not parts:
        return False
    name = parts[-1]
    if any(part in FOLDERS for part in parts) or "/".join(parts[-2:]) in FILES:
        return not fnmatchcase(name, "*.pub")
    if any(fnmatchcase(name, pattern) for pattern in PUBLIC):
        return False
    return any(fnmatchcase(name, pattern) for pattern in NAMES)


def ignore_patterns() -> tuple[str, ...]:
    """The same in the words of an ignore file, public ones included, for a search to pass over."""
    folders = tuple(f"{folder}/" for folder in FOLDERS)
    return NAMES + folders + tuple(f"**/{file}" for file in FILES)
