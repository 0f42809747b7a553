"""Default paths of a user's data directory and settings file by the XDG rules; a relative XDG path is ignored."""

from collections.abc import Mapping
from pathlib import Path

CONFIG_NAME = "mnemoir.yaml"


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """The folder `mnemoir` in the user's data directory."""
    return _user_dir(environ, "XDG_DATA_HOME", ".local/share")


def config_file(environ: Mapping[str, str]) -> Path | None:
    """The settings file to read when none is named: in the working directory, else the user's, else None."""
    candidates = (Path(CONFIG_NAME), _user_dir(environ, "XDG_CONFIG_HOME", ".config") / CONFIG_NAME)
    return next((path for path in candidates if path.is_file()), None)


def _user_dir(environ: Mapping[str, str], variable: str, fallback: str) -> Path:
    chosen = Path(environ.get(variable, ""))
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (chosen if chosen.is_absolute() else home / fallback) / "mnemoir"
