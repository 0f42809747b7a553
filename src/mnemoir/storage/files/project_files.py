"""The files of a project's `.etienne` folder: its own settings, read access for people, and the removal of leftovers.

`settings.json` and `extraction-prompt.md` belong to other programs as well: members of `settings.json` that Mnemoir
does not know are kept, and one with a value of a wrong type counts as not set.

Files of other programs in that folder are not shown. The memories of all users of a project are in one file, of which
each user sees only their own.
"""

import asyncio
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

import orjson
import structlog

from mnemoir.core.atomic_file import Stamp, leftover_of, remove_file
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import (
    PiiAction,
    ProjectFile,
    ProjectFiles,
    ProjectSettings,
    ProjectSettingsStore,
    Reviewed,
)
from mnemoir.storage.file_lock import hold_file_lock
from mnemoir.storage.files import project_file
from mnemoir.storage.files.project_file import FILE_NAME, encode
from mnemoir.storage.files.project_file import ProjectFile as MemoriesFile
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import Folder, file_errors, project_folder, project_of, projects

_log = structlog.get_logger(__name__)
INNER = "long-term-memory"
_SETTINGS = "settings.json"
_PROMPT = "extraction-prompt.md"
FILE_NAMES = (_SETTINGS, _PROMPT)
LOCK_NAME = f"{_SETTINGS}.lock"
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_Found = tuple[bytes, Stamp] | None
Allowed = TypeVar("Allowed")


class FileProjectSettings:
    """Reads at each call: the files are small and other programs edit them."""

    def __init__(self, workspace_root: Path) -> None:
        self._root = workspace_root

    async def load(self, project: Project) -> ProjectSettings:
        """The settings in the files; creates nothing."""
        return await asyncio.to_thread(_load, project_folder(self._root, project, INNER))

    async def change(self, project: Project, change: Callable[[ProjectSettings], ProjectSettings]) -> None:
        """See the port; None deletes a member, or the prompt file."""
        # a running thread finishes even when the caller is cancelled
        await asyncio.to_thread(_change, project_folder(self._root, project, INNER), change)


def _load(place: Folder) -> ProjectSettings:
    settings, prompt = _files(place)
    members, read = settings.members(), prompt.read()
    return ProjectSettings(
        memory_enabled=_boolean(members.get("memoryEnabled")),
        decay_days=_number(members.get("decayDays")),
        search_limit=_whole(members.get("searchLimit")),
        extraction_prompt=None if read is None else read[0].decode("utf-8-sig", "replace"),
        review=_one_of(get_args(Reviewed), members.get("review")),
        pii_facts=_one_of(get_args(PiiAction), members.get("piiFacts")),
        pii_messages=_one_of(get_args(PiiAction), members.get("piiMessages")),
        pii_models=_one_of(get_args(PiiAction), members.get("piiModels")),
        memories_days=_whole(members.get("memoriesDays")),
        history_days=_whole(members.get("historyDays")),
        deleted_days=_whole(members.get("deletedDays")),
        time_zone=_text(members.get("timeZone")),
    )


def _change(place: Folder, change: Callable[[ProjectSettings], ProjectSettings]) -> None:
    file, prompt = _files(place)
    with file.hold_lock():
        settings = change(_load(place))
        file.change(lambda content: _changed_content(file.members_of(content), settings))
        if settings.extraction_prompt is None:
            prompt.remove()
        else:
            prompt.replace(settings.extraction_prompt.encode("utf-8", "replace"))


def _changed_content(members: dict[str, Any], settings: ProjectSettings) -> bytes | None:
    merged = _merged_members(members, settings)
    return None if merged == members else orjson.dumps(merged, option=_PRETTY)


def _files(place: Folder) -> tuple[StoredFile, StoredFile]:
    return StoredFile(folder=place, file=_SETTINGS), StoredFile(folder=place, file=_PROMPT)


def _merged_members(members: dict[str, Any], settings: ProjectSettings) -> dict[str, Any]:
    days = settings.decay_days
    ours = {
        "memoryEnabled": settings.memory_enabled,
        "decayDays": int(days) if days is not None and float(days).is_integer() else days,
        "searchLimit": settings.search_limit,
        "review": settings.review,
        "piiFacts": settings.pii_facts,
        "piiMessages": settings.pii_messages,
        "piiModels": settings.pii_models,
        "memoriesDays": settings.memories_days,
        "historyDays": settings.history_days,
        "deletedDays": settings.deleted_days,
        "timeZone": settings.time_zone,
    }
    unset = {name for name, value in ours.items() if value is None}
    return {name: value for name, value in (members | ours).items() if name not in unset}


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _one_of(allowed: Sequence[Allowed], value: object) -> Allowed | None:
    return next((each for each in allowed if each == value), None)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    mime_type: str
    read: Callable[[Path, Project, str], _Found]  # below that root, for that user


class FileProjectFiles:
    """The files below `workspace_root`; no symbolic link there is followed."""

    def __init__(self, workspace_root: Path) -> None:
        self._root = workspace_root

    async def all(self, scope: Scope) -> list[ProjectFile]:
        """The existing files."""
        found = [await self.get(scope, name) for name in sorted(_FILES)]
        return [file for file in found if file is not None]

    async def get(self, scope: Scope, name: str) -> ProjectFile | None:
        """The file of that name; None without one."""
        kind = _FILES.get(name)
        if kind is None:
            return None
        found = await asyncio.to_thread(kind.read, self._root, project_of(scope), scope.user)
        if found is None:
            return None
        modified = datetime.fromtimestamp(found[1].mtime_ns / 1e9, UTC)
        return ProjectFile(name=name, content=found[0], mime_type=kind.mime_type, modified_at=modified)


def _memories(root: Path, project: Project, user: str) -> _Found:
    """The records of that user alone; None without one, so that no user learns of others."""
    content = MemoriesFile(root, project).read()
    own = [record for record in content.records if record.get("user_id") == user]
    return (encode(own), content.stamp) if own and content.stamp is not None else None


def _setting(name: str) -> Callable[[Path, Project, str], _Found]:
    def read(root: Path, project: Project, user: str) -> _Found:
        return StoredFile(folder=project_folder(root, project, INNER), file=name).read()

    return read


_TYPES = {".json": "application/json", ".md": "text/markdown"}
_FILES: Mapping[str, _Kind] = {
    FILE_NAME: _Kind(mime_type=_TYPES[".json"], read=_memories),
    **{
        f"{INNER}/{name}": _Kind(mime_type=_TYPES[os.path.splitext(name)[1]], read=_setting(name))
        for name in FILE_NAMES
    },
}


def clear_leftovers(root: Path) -> None:
    """Delete the temporary files of every project. Blocks. A failure is logged; the next writer deletes that file."""
    try:
        for project in projects(root):
            _clear(project_folder(root, project), project_file.LOCK_NAME, [project_file.FILE_NAME])
            settings = project_folder(root, project, INNER)
            _clear(settings, LOCK_NAME, FILE_NAMES)
    except StorageUnavailable as exc:
        _log.warning("workspace not looked through", error=exc.message)


def _clear(place: Folder, lock: str, names: Sequence[str]) -> None:
    try:
        with file_errors(place.name_of(names[0]), "tidied"), place.open() as folder:
            removed = [name for name in names if folder is not None and _remove_leftover(folder, name, lock)]
    except StorageUnavailable as exc:
        _log.warning("leftover stays", error=exc.message)
        return
    if removed:
        _log.info("leftover of a killed writer removed", files=[place.name_of(name) for name in removed])


def _remove_leftover(folder: int, name: str, lock: str) -> bool:
    """Delete it; False without one. Raises OSError; ETIMEDOUT while a writer holds the lock and uses the file."""
    leftover = leftover_of(name)
    if leftover not in os.listdir(folder):
        return False
    with hold_file_lock(folder, lock, patience_s=0.0):
        remove_file(folder, leftover)
    return True


_: tuple[type[ProjectSettingsStore], type[ProjectFiles]] = (
    FileProjectSettings,
    FileProjectFiles,
)  # checked, never run
