"""The rows of project files for search: one view of each project, taken on first use and kept to the end."""

from collections.abc import Sequence

from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter, Project
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchSnapshot
from mnemoir.storage.files.contents import Contents, UserRows
from mnemoir.storage.files.index_table import entries_of, token_codes
from mnemoir.storage.files.lists import meeting
from mnemoir.storage.files.open_project import OpenProjects
from mnemoir.storage.files.workspace import project_of
from mnemoir.storage.sql.engine import Sql, of_scope


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

    def selected(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
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
