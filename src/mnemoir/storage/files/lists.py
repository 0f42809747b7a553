"""Lists of a project file's memories with conditions, and its rows for search."""

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory, Origin, has_members, size_of_metadata
from mnemoir.core.scope import Scope
from mnemoir.core.text import holds, size_of
from mnemoir.ports.memory_store import ListCursor, ListFilter, OwnerSummary, Project
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchSnapshot
from mnemoir.storage.files.contents import Contents, UserRows
from mnemoir.storage.files.index_table import entries_of, token_codes
from mnemoir.storage.files.open_project import OpenProjects
from mnemoir.storage.files.rows import Row, is_shown, place_of
from mnemoir.storage.files.workspace import project_of
from mnemoir.storage.sql.engine import Sql, of_scope
from mnemoir.storage.sql.lists import learned_in

Condition = Callable[[Row], bool]


def meeting(contents: Contents, sql: Sql, scope: Scope, wanted: ListFilter) -> list[Row]:
    """All rows that match, unordered; the history, with what was learned in a session, is read from the database."""
    learned = () if wanted.session is None else learned_in(sql, wanted.session)
    conditions = _conditions(wanted, frozenset(learned))
    return [row for row in contents.in_scope(scope) if all(meets(row) for meets in conditions)]


def select(contents: Contents, sql: Sql, scope: Scope, wanted: ListFilter) -> list[Row]:
    """All rows that match, in the requested order."""
    rows = meeting(contents, sql, scope, wanted)
    return sorted(rows, key=lambda row: _place(row, wanted), reverse=not wanted.ascending)


def behind(rows: Iterable[Row], wanted: ListFilter, after: ListCursor | None) -> Iterable[Row]:
    """The rows after a cursor."""
    if after is None:
        return rows
    is_behind = operator.gt if wanted.ascending else operator.lt
    place = place_of(after.at, after.memory_id, ascending=wanted.ascending)
    return (row for row in rows if is_behind(_place(row, wanted), place))


def owners_of(project: Project, contents: Contents) -> list[OwnerSummary]:
    """The project's users with memories, sorted by name."""
    return [
        OwnerSummary(
            project=project.project,
            user=user,
            memories=len(held.rows),
            changed_at=max(filter(math.isfinite, (row.search.effective_at for row in held.rows)), default=None),
        )
        for user, held in sorted(contents.by_user.items())
        if held.rows
    ]


def week_of(row: Row) -> tuple[int | None, int | None, Origin]:
    """The first members of the row's `WeekCount`."""
    said, changed = _week(row.search.said_at), _week(row.search.effective_at)
    return said, changed if row.search.effective_at > row.search.said_at else None, row.memory.origin


def _week(at: float) -> int | None:
    return math.floor((at / 86_400 - 4) / 7) if math.isfinite(at) else None


def sizes_of(contents: Contents) -> Mapping[str, int]:
    """The bytes of the texts and metadata of each user."""
    return {user: sum(map(_size_of_row, held.rows)) for user, held in contents.by_user.items()}


def _size_of_row(row: Row) -> int:
    return size_of(row.memory.text) + size_of_metadata(row.memory.metadata)


def _conditions(wanted: ListFilter, learned: Collection[MemoryId]) -> list[Condition]:
    conditions: list[Condition] = []
    if wanted.hidden != "with":
        shown, wants_hidden = is_shown(wanted.visible), wanted.hidden == "only"
        conditions.append(lambda row: shown(row) is not wants_hidden)
    if wanted.kind is not None:
        conditions.append(lambda row: row.memory.kind == wanted.kind)
    if wanted.origin is not None:
        conditions.append(lambda row: row.memory.origin == wanted.origin)
    if wanted.ids is not None:
        ids = frozenset(wanted.ids)
        conditions.append(lambda row: row.memory.id in ids)
    if wanted.session is not None:
        conditions.append(lambda row: row.memory.id in learned or _session_of(row) == wanted.session)
    if wanted.words is not None:
        is_in = holds(wanted.words)
        conditions.append(lambda row: is_in(row.memory.text))
    if (metadata := wanted.metadata) is not None:
        conditions.append(lambda row: has_members(row.memory.metadata, metadata))
    if wanted.since is not None or wanted.until is not None:
        since = -math.inf if wanted.since is None else wanted.since.timestamp()
        until = math.inf if wanted.until is None else wanted.until.timestamp()
        conditions.append(lambda row: math.isfinite(at := _time(row, wanted)) and since <= at < until)
    return conditions


def _session_of(row: Row) -> object:
    return (row.memory.metadata or {}).get("session_id")


def _time(row: Row, wanted: ListFilter) -> float:
    return row.search.effective_at if wanted.by == "updated" else row.search.said_at


def _place(row: Row, wanted: ListFilter) -> tuple[float, str]:
    return place_of(_time(row, wanted), row.memory.id, ascending=wanted.ascending)


class FileSearchSnapshot:
    """The port over one transaction. Blocking; for one thread."""

    def __init__(self, projects: OpenProjects, sql: Sql) -> None:
        self._projects = projects
        self._sql = sql
        self._seen: dict[Project, Contents] = {}

    def revision(self, scope: Scope) -> Revision:
        """The user's revision; a file read again is another epoch."""
        contents = self._contents(scope)
        user = contents.of_user(scope.user)
        return Revision(changes=user.changes, removals=user.removals, epoch=contents.epoch)

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and not after `until`, in order of `seq`."""
        return [row.search for row in self._user(scope).rows if changes < row.changed <= until]

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """All such rows without `limit`, in order of `seq`: they are in memory."""
        return [row.search for row in self._user(scope).rows if row.seq > seq and row.changed > changes]

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every row, ascending."""
        return [row.seq for row in self._user(scope).rows]

    def matching_seqs(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        """The `seq` of every row that meets the conditions."""
        return [row.seq for row in meeting(self._contents(scope), of_scope(self._sql, scope), scope, wanted)]

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`; rows without any are left out."""
        held = self._user(scope).by_seq
        return token_codes(self._sql, project_of(scope), [held[seq] for seq in seqs if seq in held])

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories themselves by `seq`; rows that are gone are left out."""
        held = self._user(scope).by_seq
        return {seq: held[seq].memory for seq in seqs if seq in held}

    def _user(self, scope: Scope) -> UserRows:
        return self._contents(scope).of_user(scope.user)

    def _contents(self, scope: Scope) -> Contents:
        project = project_of(scope)
        if project not in self._seen:
            self._seen[project] = self._projects[project].current(lambda: entries_of(self._sql, project))
        return self._seen[project]


_: type[SearchSnapshot] = FileSearchSnapshot  # checked, never run
