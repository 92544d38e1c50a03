"""Where our files are: the user's own folders, or where the environment says."""

import os
from collections.abc import Mapping
from pathlib import Path

CONFIG, STATE = "TURNBUCKLE_CONFIG", "TURNBUCKLE_STATE_DIR"


def state_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where sessions and blobs are kept: TURNBUCKLE_STATE_DIR, or the user's state folder.

    A relative one begins at home: in the folder that we stand in, others may have put sessions.
    """
    if named := env.get(STATE):
        path = Path(named)
    else:
        # Imported late, here and below: where the environment says it all, it is not needed.
        import platformdirs

        path = platformdirs.user_state_path("turnbuckle", appauthor=False)
    return path if path.is_absolute() else Path.home() / path


def config_file(env: Mapping[str, str] = os.environ) -> Path:
    """The configuration: TURNBUCKLE_CONFIG, or `config.toml` in the user's folder."""
    if named := env.get(CONFIG):
        return Path(named)
    import platformdirs

    return platformdirs.user_config_path("turnbuckle", appauthor=False) / "config.toml"
