"""Configuration files of the call's user, read from disk on every call.

Names are matched without regard to case, with or without `.json`. A path outside the tree raises DynamicModuleError,
so that the workflow gets the message: the path may come from a model.
"""

import json
from pathlib import Path, PurePath
from typing import Any

from ..call import current  # noqa: TID252 - the package's full name differs between here and there
from ..failures import DynamicModuleError  # noqa: TID252


def get_current_username() -> str:
    """The user's name as configured; the name of the user's file may differ in case."""
    return current().user


def get_root_config_directory() -> str:
    """The Configs folder itself."""
    return current().config_root


def get_user_config() -> Any:
    """The JSON of the user's file."""
    return load_config(get_config_path("Users", get_current_username().lower()))


def get_config_value(key: str) -> Any:
    """The value of one key of the user's file; None when the key is missing."""
    return get_user_config().get(key)


def get_config_path(sub_directory: str, file_name: str) -> str:
    """The path of a JSON file in that folder; the file need not exist."""
    suffix = "" if file_name.lower().endswith(".json") else ".json"
    return str(_place(sub_directory, file_name + suffix))


def get_default_tool_prompt_path() -> str:
    """The path of the prompt that explains tool calls to a model; the file need not exist."""
    return str(_place("default_tool_prompt.txt"))


def get_endpoint_config(endpoint_name: str) -> Any:
    """The JSON of an endpoint's file, from the folder that the user's file names."""
    folder = get_config_value("endpointConfigsSubDirectory") or ""
    return load_config(get_config_path(f"Endpoints/{folder}", endpoint_name))


def load_config(config_file: str) -> Any:
    """The JSON of any file. Raises FileNotFoundError; ValueError for invalid JSON."""
    return json.loads(Path(config_file).read_text(encoding="utf-8-sig"))


def _place(*parts: str) -> Path:
    names = PurePath(*parts)
    if names.is_absolute() or ".." in names.parts:
        raise DynamicModuleError(f"{str(names)!r} is outside the config tree")
    place = Path(get_root_config_directory())
    for name in names.parts:
        place = _entry(place, name)
    return place


def _entry(folder: Path, name: str) -> Path:
    """The entry with exactly that name, else one that differs only in case, else the path of a missing entry."""
    exact = folder / name
    if exact.exists() or not folder.is_dir():
        return exact
    return next((entry for entry in sorted(folder.iterdir()) if entry.name.lower() == name.lower()), exact)
