"""Loading of the settings from file, environment and command line; all problems are reported in one error.

The YAML file is read strictly: plain values, unique keys, no aliases; `${NAME}` names a variable. Aliases are
refused because settings do not need them and a short file can expand through them without limit. A syntax error
names the line number but never shows the line, which may hold a key.

Later layers win: defaults, YAML file, environment, command line. Each layer is flattened, dotted key to value and
origin, so that a wrong value is reported with its origin. pydantic checks the result. (pydantic-settings was measured
and dropped: it forgets the source of a value, and importing it adds some 80 ms to every start.)
"""

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from mnemoir.core.errors import SettingsError
from mnemoir.settings.addresses import config_file, default_data_dir
from mnemoir.settings.keys import KEYS, SECTIONS, explain, read_environment, unknown_key
from mnemoir.settings.tree import Settings, Source

_REFERENCE = re.compile(r"\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
COMMAND_LINE = "command line"
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_Given = dict[str, tuple[Any, str]]  # dotted key -> (value as written, its origin)
_OPEN_SECTION = "memory."  # other programs share this section and may have keys of their own in it


def fill_in(text: str, environ: Mapping[str, str]) -> str:
    """`text` with `${NAME}` and `${NAME:-default}` replaced; `$${` stays `${`.

    Raises ValueError that names a variable without value and default. An empty variable counts as not set.
    """

    def value(match: re.Match[str]) -> str:
        escaped, name, default = match.groups()
        if escaped:
            return match[0][1:]
        found = environ.get(name) or default
        if found is None:
            raise ValueError(
                f"names the environment variable {name}, which is not set; set it or write ${{{name}:-}}"
            )
        return found

    return _REFERENCE.sub(value, text)


def load_settings(
    config: Path | None = None,
    overrides: Mapping[str, Any] = _NOTHING,  # Any: pydantic checks the values
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The effective settings. `overrides` may be nested or have dotted keys; a value of None means "not given".

    Raises SettingsError that lists every problem with its file or variable, key, value and the allowed values.
    """
    environ = os.environ if environ is None else environ
    given: _Given = {"storage.data_dir": (default_data_dir(environ), "default")}
    problems: list[str] = []
    warnings: list[str] = []
    path = config or config_file(environ)
    if path is not None:
        problems += _take_file(given, path, environ, warnings)
    from_environment, wrong_names = read_environment(environ)
    warnings += _excuse_decay_days(from_environment)
    given |= {key: (value, f"environment variable {name}") for key, (value, name) in from_environment.items()}
    problems += wrong_names
    problems += _take(given, overrides, COMMAND_LINE, warnings)
    return _checked_settings(given, problems, Source(file=path, warnings=tuple(warnings)))


def _take_file(given: _Given, path: Path, environ: Mapping[str, str], warnings: list[str]) -> list[str]:
    from mnemoir.settings.yaml_file import read_yaml  # most servers have no such file

    try:
        mapping = read_yaml(path)
    except SettingsError as exc:
        return [exc.message]
    return _take(given, mapping, str(path), warnings, environ)


def _take(
    given: _Given,
    layer: Mapping[Any, Any],
    origin: str,
    warnings: list[str],
    environ: Mapping[str, str] | None = None,
) -> list[str]:
    """Merge one layer into `given` and return its problems. With an `environ`, texts may name variables.

    Oddities that do not prevent the start are added to `warnings`.
    """
    problems: list[str] = []
    for key, value in _flat(layer):
        if key in KEYS:
            try:
                filled = value if environ is None else _filled_value(value, environ)
            except ValueError as exc:
                problems.append(f"{origin}: {key} {exc}.")
                continue
            if not _is_blank(filled):
                given[key] = (filled, origin)
        elif key not in SECTIONS and key.startswith(_OPEN_SECTION):
            warnings.append(f"{origin}: {unknown_key(key)}")
        elif key not in SECTIONS:
            problems.append(f"{origin}: {unknown_key(key)}")
        elif value is not None:
            problems.append(f"{origin}: {key} is a section; write its keys below it: {', '.join(SECTIONS[key])}.")
    return problems


def _flat(layer: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of all settings in a nested layer; a setting's own value is not flattened."""
    for name, value in layer.items():
        key = f"{prefix}{name}"
        if key in SECTIONS and isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _filled_value(value: object, environ: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return fill_in(value, environ)
    if isinstance(value, list):
        return [_filled_value(item, environ) for item in value]
    if isinstance(value, Mapping):
        return {name: _filled_value(item, environ) for name, item in value.items()}
    return value


def _is_blank(value: object) -> bool:
    """True for None and for a blank text: both mean "not given"."""
    return value is None or (isinstance(value, str) and not value.strip())


def _excuse_decay_days(given: dict[str, tuple[str, str]]) -> list[str]:
    """Turn a MEMORY_DECAY_DAYS that is not a number into "no decay"; the warning about it, if so.

    For all other settings a wrong number is an error.
    """
    value, variable = given.get("memory.decay_days", ("", ""))
    if variable != "MEMORY_DECAY_DAYS":
        return []
    try:
        if math.isfinite(float(value)):
            return []
    except ValueError:
        pass  # treated like an infinite number
    given["memory.decay_days"] = ("0", variable)
    return [f"MEMORY_DECAY_DAYS is {value[:40]!r}, which is not a number of days: no memory decays."]


def _checked_settings(given: _Given, problems: list[str], source: Source) -> Settings:
    """The checked tree. Raises SettingsError with all problems of keys and values."""
    settings = None
    try:
        settings = Settings.model_validate(_tree_of({key: value for key, (value, _) in given.items()}))
    except ValidationError as exc:
        problems = problems + explain(exc, given)
    if problems or settings is None:
        count = "1 setting is wrong" if len(problems) == 1 else f"{len(problems)} settings are wrong"
        raise SettingsError("\n".join([f"{count}:", *(f"- {problem}" for problem in problems)]))
    if "memory.management_url" not in given:
        settings = _remember_here(settings)
    origins = {key: origin for key, (_, origin) in given.items()}
    settings._source = Source(file=source.file, given=MappingProxyType(origins), warnings=source.warnings)
    return settings


def _tree_of(flat: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *sections, name = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return tree


def _remember_here(settings: Settings) -> Settings:
    """The settings with this server's own address as the memory service of chats, which is the default."""
    url = f"http://localhost:{settings.server.port}/api/memories"
    memory = settings.memory.model_copy(update={"management_url": url})
    return settings.model_copy(update={"memory": memory})
