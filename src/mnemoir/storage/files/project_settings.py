"""What a project sets for itself, in `.etienne/long-term-memory/`: `settings.json` and `extraction-prompt.md`.

Both belong to other programs as well: members of `settings.json` that Mnemoir does not know are kept, and one with a
value of a wrong type counts as not set.
"""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from mnemoir.core.atomic_file import read_file, remove_durably, replace_file
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.storage.file_lock import file_locked
from mnemoir.storage.files.file_errors import damage_errors, file_errors, json_object
from mnemoir.storage.files.workspace import Folder, existing, project_folder, refuse_other_spelling

INNER = "long-term-memory"
_SETTINGS = "settings.json"
_PROMPT = "extraction-prompt.md"
FILE_NAMES = (_SETTINGS, _PROMPT)
LOCK_NAME = f"{_SETTINGS}.lock"
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class FileProjectSettings:
    """Reads at each call: the files are small and other programs edit them."""

    def __init__(self, workspace_root: Path) -> None:
        self._root = workspace_root

    async def load(self, project: Project) -> ProjectSettings:
        """What the files say; creates nothing."""
        return await asyncio.to_thread(_load, project_folder(self._root, project, INNER))

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace what is known of Mnemoir; None takes a member, or the prompt file, away."""
        # a thread that has begun goes on to the end, even when the caller is cancelled
        await asyncio.to_thread(_save, project_folder(self._root, project, INNER), settings)


def _load(place: Folder) -> ProjectSettings:
    with file_errors(place.name_of(_SETTINGS), "read"):
        refuse_other_spelling(place)
        with place.open() as folder:
            if folder is None:
                return ProjectSettings()
            members = _members(folder, place)
            prompt = read_file(folder, _PROMPT)
    return ProjectSettings(
        memory_enabled=_boolean(members.get("memoryEnabled")),
        decay_days=_number(members.get("decayDays")),
        search_limit=_whole(members.get("searchLimit")),
        extraction_prompt=None if prompt is None else prompt[0].decode("utf-8-sig", "replace"),
    )


def _save(place: Folder, settings: ProjectSettings) -> None:
    with file_errors(place.name_of(_SETTINGS), "written"), _locked(place) as folder:
        members = _members(folder, place)
        merged = _merged(members, settings)
        if merged != members:
            replace_file(folder, _SETTINGS, orjson.dumps(merged, option=_PRETTY))
        if settings.extraction_prompt is None:
            remove_durably(folder, _PROMPT)
        else:
            replace_file(folder, _PROMPT, settings.extraction_prompt.encode("utf-8", "replace"))


@contextmanager
def _locked(place: Folder) -> Iterator[int]:
    with place.open(create=True) as opened:
        refuse_other_spelling(place)
        with file_locked(existing(opened), LOCK_NAME):
            yield existing(opened)


def _merged(members: dict[str, Any], settings: ProjectSettings) -> dict[str, Any]:
    days = settings.decay_days
    ours = {
        "memoryEnabled": settings.memory_enabled,
        "decayDays": int(days) if days is not None and float(days).is_integer() else days,
        "searchLimit": settings.search_limit,
    }
    unset = {name for name, value in ours.items() if value is None}
    return {name: value for name, value in (members | ours).items() if name not in unset}


def _members(folder: int, place: Folder) -> dict[str, Any]:
    found = read_file(folder, _SETTINGS)
    with damage_errors(place.name_of(_SETTINGS)):
        return json_object(b"" if found is None else found[0])


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


_: type[ProjectSettingsStore] = FileProjectSettings  # checked, never run
