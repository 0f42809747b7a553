"""Deletion of node memories: of deleted conversations, by age, and of one conversation.

`cleanup_node_memory` is called by a command or on a schedule. Deleting a conversation calls `delete_node_memory`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog

from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX, conversation_prefix, node_key, read_node_key
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import InvalidRequest, MnemoirError, NotSupported
from mnemoir.ports.objects import ObjectEntry, ObjectStore

CORRUPT_COPIES_KEPT_DAYS = 30
_CONVERSATIONS = 1024  # cached answers of `exists`; a scan lists the objects of a conversation together
TASK_NAME = "mnemoir.cleanup_node_memory"

_log = structlog.get_logger(__name__)

ConversationExists = Callable[[str, str], bool]  # app id, conversation id


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of a run: the numbers of deleted, kept and failed objects, and the deleted bytes.

    For a dry run, the numbers that a real run would have.
    """

    deleted: int = 0
    kept: int = 0
    failed: int = 0
    bytes: int = 0


def cleanup_node_memory(
    storage: ObjectStore,
    older_than_days: float | None,
    exists: ConversationExists | None = None,
    dry_run: bool = False,
    limit: int | None = None,
    *,
    keys: Iterable[str] | None = None,
    clock: Clock = utc_now,
    corrupt_copies_kept_days: float | None = CORRUPT_COPIES_KEPT_DAYS,
) -> Report:
    """Delete memories of deleted conversations, and memories last written more than `older_than_days` ago.

    None for `older_than_days` means that nothing is deleted for its age; without `exists` all conversations count as
    existing. Copies of damaged memories are deleted after `corrupt_copies_kept_days`, with None not for their age, or
    with their conversation. Objects written during the run stay. The run ends after `limit` deletions. A store that
    cannot list its objects needs `keys`. An object that fails is logged and counted and does not end the run; a
    failing listing does.

    Raises InvalidRequest for negative days, and NotSupported for a store that needs `keys` when they are not given.
    """
    if older_than_days is not None and older_than_days < 0:
        raise InvalidRequest(
            f"Node memory cannot be older than {older_than_days} days: give 0 or more.", field="older_than_days"
        )
    known = lru_cache(_CONVERSATIONS)(exists or _always)
    run = _CleanupRun(storage, known, older_than_days, corrupt_copies_kept_days, clock())
    report = Report()
    for found in _objects_to_check(storage, keys):
        if limit is not None and report.deleted >= limit:
            break
        _count(report, found, run, dry_run=dry_run)
    return report


def delete_node_memory(
    storage: ObjectStore, app_id: str, conversation_id: str, *, node_ids: Iterable[str] | None = None
) -> int:
    """Delete all node memories of a conversation, including copies of damaged ones; the number of deleted objects.

    A store that cannot list its objects needs the ids of the nodes. Raises StorageUnavailable, and NotSupported for
    such a store without ids; objects deleted before an error stay deleted.
    """
    keys = None if node_ids is None else [node_key(app_id, conversation_id, node) for node in node_ids]
    found = list(_objects_to_check(storage, keys, conversation_prefix(app_id, conversation_id)))
    there = [key for key in (one if isinstance(one, str) else one.key for one in found) if storage.exists(key)]
    for key in there:
        storage.delete(key)
    return len(there)


def celery_task(app: Any, run: Callable[[], Report], name: str = TASK_NAME) -> Any:  # of Celery, which is optional
    """Register `run`, a call of `cleanup_node_memory`, as a task of a Celery application; it returns the counts."""

    def task() -> dict[str, int]:
        report = run()
        return {
            "deleted": report.deleted,
            "kept": report.kept,
            "failed": report.failed,
            "bytes": report.bytes,
        }

    return app.task(name=name)(task)


@dataclass(frozen=True, slots=True)
class _CleanupRun:
    storage: ObjectStore
    exists: ConversationExists
    older_than_days: float | None
    corrupt_copies_kept_days: float | None
    began_at: datetime

    def is_over(self, key: str, modified: datetime) -> bool:
        """True when an object is to be deleted; False for keys that are not of node memory."""
        meaning = read_node_key(key)
        if meaning is None or self._is_fresh(modified):
            return False
        days = self.corrupt_copies_kept_days if meaning.is_corrupt_copy else self.older_than_days
        if days is not None and self.began_at - modified > timedelta(days=days):
            return True
        if meaning.app_id is None or meaning.conversation_id is None:
            return False
        return not self.exists(meaning.app_id, meaning.conversation_id)

    def _is_fresh(self, modified: datetime) -> bool:
        """True when it was written during the run; some stores keep the time of a write in whole seconds."""
        began_at = self.began_at if modified.microsecond else self.began_at.replace(microsecond=0)
        return modified >= began_at


def _count(report: Report, found: ObjectEntry | str, run: _CleanupRun, *, dry_run: bool) -> None:
    key = found if isinstance(found, str) else found.key
    try:
        freed = _delete_if_due(found, run, dry_run=dry_run)
    except Exception as exc:  # noqa: BLE001  # foreign store and application; go on with other objects
        cause = exc.message if isinstance(exc, MnemoirError) else type(exc).__name__
        _log.warning("node_memory_not_cleaned_up", key=key, cause=cause)
        report.failed += 1
        return
    if freed is None:
        report.kept += 1
    else:
        report.deleted += 1
        report.bytes += freed


def _delete_if_due(found: ObjectEntry | str, run: _CleanupRun, *, dry_run: bool) -> int | None:
    """Delete an object that is due, or only check it in a dry run; returns its size in bytes, None if it stays."""
    storage = run.storage
    if isinstance(found, str):
        key, modified = found, storage.modified_at(found)
    else:
        key, modified = found.key, found.last_modified
    if modified is None or not run.is_over(key, modified):
        return None
    size = len(storage.load_once(key)) if isinstance(found, str) else found.size_bytes
    if storage.modified_at(key) != modified:  # it was written or deleted meanwhile
        return None
    if not dry_run:
        storage.delete(key)
    return size


def _objects_to_check(
    storage: ObjectStore, keys: Iterable[str] | None, prefix: str = NODE_MEMORY_PREFIX
) -> Iterator[ObjectEntry | str]:
    if keys is not None:
        yield from keys
        return
    try:
        yield from storage.scan(prefix)
    except (NotSupported, NotImplementedError) as exc:
        raise NotSupported(
            "This object store cannot list its objects; name the keys of the node memories that it may hold."
        ) from exc


def _always(app_id: str, conversation_id: str) -> bool:
    return True
