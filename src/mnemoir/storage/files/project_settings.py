"""A project's own settings, in `.etienne/long-term-memory/`: `settings.json` and `extraction-prompt.md`.

Both belong to other programs as well: members of `settings.json` that Mnemoir does not know are kept, and one with a
value of a wrong type counts as not set.
"""

import asyncio
import math
from pathlib import Path
from typing import Any

import orjson

from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import Folder, project_folder

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
        """The settings in the files; creates nothing."""
        return await asyncio.to_thread(_load, project_folder(self._root, project, INNER))

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace Mnemoir's settings; None deletes a member, or the prompt file."""
        # a running thread finishes even when the caller is cancelled
        await asyncio.to_thread(_save, project_folder(self._root, project, INNER), settings)


def _load(place: Folder) -> ProjectSettings:
    settings, prompt = _files(place)
    members, read = settings.members(), prompt.read()
    return ProjectSettings(
        memory_enabled=_boolean(members.get("memoryEnabled")),
        decay_days=_number(members.get("decayDays")),
        search_limit=_whole(members.get("searchLimit")),
        extraction_prompt=None if read is None else read[0].decode("utf-8-sig", "replace"),
    )


def _save(place: Folder, settings: ProjectSettings) -> None:
    file, prompt = _files(place)
    with file.locked():
        file.change(lambda content: _changed(file.members_of(content), settings))
        if settings.extraction_prompt is None:
            prompt.remove()
        else:
            prompt.replace(settings.extraction_prompt.encode("utf-8", "replace"))


def _changed(members: dict[str, Any], settings: ProjectSettings) -> bytes | None:
    merged = _merged(members, settings)
    return None if merged == members else orjson.dumps(merged, option=_PRETTY)


def _files(place: Folder) -> tuple[StoredFile, StoredFile]:
    return StoredFile(folder=place, file=_SETTINGS), StoredFile(folder=place, file=_PROMPT)


def _merged(members: dict[str, Any], settings: ProjectSettings) -> dict[str, Any]:
    days = settings.decay_days
    ours = {
        "memoryEnabled": settings.memory_enabled,
        "decayDays": int(days) if days is not None and float(days).is_integer() else days,
        "searchLimit": settings.search_limit,
    }
    unset = {name for name, value in ours.items() if value is None}
    return {name: value for name, value in (members | ours).items() if name not in unset}


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
