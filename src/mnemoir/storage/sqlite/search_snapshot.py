"""What search reads, over one reading transaction."""

import json
import math
from collections.abc import Sequence

import apsw

from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Wanted
from mnemoir.ports.search_rows import Revision, SearchRow, SearchSnapshot
from mnemoir.storage.sqlite import lists
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import memory_of, owner_values, scope_number

_QUERIES = queries("search")


class SqliteSearchSnapshot:
    """The port's promises over `connection`, which is inside a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def revision(self, scope: Scope) -> Revision:
        """Where the scope stands; zeros for an unknown one."""
        row = self._connection.execute(_QUERIES["revision"], owner_values(scope)).fetchone()
        return Revision(changes=0, removals=0) if row is None else Revision(changes=row[0], removals=row[1])

    def rows_since(self, scope: Scope, changes: int) -> Sequence[SearchRow]:
        """Rows written after `changes`, in order of `seq`."""
        values = {"scope_id": scope_number(self._connection, scope), "changes": changes}
        rows = [_search_row(*row) for row in self._connection.execute(_QUERIES["rows_since"], values)]
        return sorted(rows, key=lambda row: row.seq)

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every current row, ascending."""
        values = {"scope_id": scope_number(self._connection, scope)}
        return sorted(seq for (seq,) in self._connection.execute(_QUERIES["live"], values))

    def selected(self, scope: Scope, wanted: Wanted) -> Sequence[int]:
        """The `seq` of every row that meets the conditions."""
        return lists.selected_seqs(self._connection, scope, wanted)

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`."""
        return dict(self._connection.execute(_QUERIES["token_codes"], self._wanted(scope, seqs)))

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories by `seq`."""
        rows = self._connection.execute(_QUERIES["memories"], self._wanted(scope, seqs))
        return {row[0]: memory_of(row, scope.user) for row in rows}

    def _wanted(self, scope: Scope, seqs: Sequence[int]) -> dict[str, object]:
        # int(): a caller's numbers may be numpy's, which JSON does not know
        return {
            "scope_id": scope_number(self._connection, scope),
            "seqs": json.dumps([int(seq) for seq in seqs]),
        }


def _search_row(
    seq: int,
    kind: str,
    speaker: str | None,
    agent: str | None,
    app: str | None,
    conversation: str | None,
    effective_at: float | None,
    said_at: float | None,
    expires_at: float | None,
    terms: bytes,
    model: str | None,
    vector: bytes | None,
    token_ids: bytes | None,
) -> SearchRow:
    return SearchRow(
        seq=seq,
        is_message=kind == "message",
        speaker=speaker,
        agent=agent,
        app=app,
        conversation=conversation,
        effective_at=math.inf if effective_at is None else effective_at,
        said_at=math.nan if said_at is None else said_at,
        expires_at=math.inf if expires_at is None else expires_at,
        entry=IndexEntry(terms=terms, model=model, vector=vector, token_ids=token_ids),
    )


_: type[SearchSnapshot] = SqliteSearchSnapshot  # checked, never run
