"""Files of a config tree for display: a list with the kind of each, and their texts without secrets.

Paths are relative to the root, with slashes. They are untrusted, so each part is checked, and a link that leads out
of the tree is ignored.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.errors import InvalidRequest, NotFound, SettingsError, TooLarge
from mnemoir.workflows.config.files import MOST_BYTES, read_bytes
from mnemoir.workflows.config.lookup import EXTENSION, parts_of, regular_file
from mnemoir.workflows.config.redaction import redacted

FileKind = Literal[
    "users",
    "workflows",
    "discussion-settings",
    "routing",
    "endpoints",
    "api-types",
    "presets",
    "prompt-templates",
    "other",
]
_BY_FOLDER: Mapping[str, FileKind] = {kind.replace("-", ""): kind for kind in get_args(FileKind)}
_CURRENT_USER = "users/_current-user.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """One file of the tree. `can_remember` is True for workflows that recall or remember, None for other files."""

    path: str
    kind: FileKind
    size_bytes: int
    modified_at: str | None  # as in `core.clock`; None when the file system's time is out of range
    can_remember: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigText:
    """The text of a file; `is_redacted` is True when secrets in it were covered."""

    path: str
    kind: FileKind
    text: str
    is_redacted: bool


def kind_of(path: str) -> FileKind:
    """The kind of a file, by its folder."""
    if path.lower() == _CURRENT_USER:
        return "other"
    return _BY_FOLDER.get(path.partition("/")[0].lower(), "other")


def listed_files(root: str) -> Iterator[ConfigFile]:
    """All JSON files of the tree that can be looked up by name, in order; links out of the tree are left out."""
    for path in sorted(_paths(root)):
        place = os.path.join(root, path)
        try:
            found = regular_file(place) if _is_inside(place, root) else None
        except SettingsError:
            continue
        if found is not None:
            changed = from_epoch(found.stat.st_mtime)
            yield ConfigFile(
                path=path,
                kind=kind_of(path),
                size_bytes=found.stat.st_size,
                modified_at=to_text(changed) if changed else None,
            )


def shown_text(root: str, path: str) -> ConfigText:
    """The text of a file. Raises InvalidRequest for an invalid path, NotFound for a missing file, and TooLarge."""
    _check(path)
    place = os.path.join(root, *path.split("/"))
    try:
        found = regular_file(place) if path.lower().endswith(EXTENSION) and _is_inside(place, root) else None
        if found is None:
            raise absent(path)
        if found.stat.st_size > MOST_BYTES:
            raise TooLarge(f"{path} is over {MOST_BYTES // 1024 // 1024} MiB.")
        content = read_bytes(place, root)
    except SettingsError as exc:
        raise NotFound(f"{path} cannot be read. Correct its permissions.", code="config_file_not_found") from exc
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidRequest(f"{path} is not UTF-8 text. Save it as UTF-8.", code="config_file_unreadable") from exc
    shown = redacted(text)
    return ConfigText(path=path, kind=kind_of(path), text=shown, is_redacted=shown != text)


def absent(path: str) -> NotFound:
    """The error for a missing file."""
    return NotFound(f"There is no file {path[:250]!r} in the config tree.", code="config_file_not_found")


def _check(path: str) -> None:
    try:
        for part in path.split("/"):
            parts_of(part)
    except ValueError as exc:
        raise InvalidRequest(
            f"{path[:80]!r} is no path of a config file: {exc}. Give one from the list of files.", field="path"
        ) from exc


def _is_inside(place: str, root: str) -> bool:
    return os.path.realpath(place).startswith(os.path.join(os.path.realpath(root), ""))


def _paths(root: str) -> Iterator[str]:
    for where, _, names in os.walk(root):
        folder = os.path.relpath(where, root).replace(os.sep, "/")
        for name in names:
            path = name if folder == "." else f"{folder}/{name}"
            if name.lower().endswith(EXTENSION) and _is_nameable(path):
                yield path


def _is_nameable(path: str) -> bool:
    try:
        _check(path)
    except InvalidRequest:
        return False
    return True
