"""Imports in the database: what came from another program, what was learned of it, and how far.

A conversation of an import has one tracker, the last of its messages that was looked into. Trackers only go forward.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from mnemoir.core.ids import ChangeId, ImportId
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Engine, Row, Sql, enter_scope, queries

ImportKind = Literal["conversations", "memories"]
ImportState = Literal["stored", "learning", "stopped", "learned", "undoing", "undone"]
_QUERIES = queries("imports")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import. `stored` is how many conversations or memories it stored, `change_id` the commit of memories.

    Of its `turns`, 0 until learning begins, those that were looked into are counted in `done`, with what was
    `learned`, what is `to_review` and what `failed`. `zone` is the name of the person's time zone, `round` how often
    learning was begun.
    """

    id: ImportId
    kind: ImportKind
    program: str
    created_at: str
    stored: int
    state: ImportState = "stored"
    change_id: ChangeId | None = None
    zone: str | None = None
    round: int = 0
    turns: int = 0
    done: int = 0
    learned: int = 0
    to_review: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedConversation:
    """A conversation of an import, with the ids of the first and the last message that it stored.

    `is_new`: the import made it. `left_state` is a digest of its metadata as the import left them. `learned_to` is
    the last message that was looked into, 0 for none.
    """

    id: str
    conversation: str
    is_new: bool
    first_message: int
    last_message: int
    left_state: str
    learned_to: int = 0

    def holds(self, message_id: int) -> bool:
        """Whether the import stored the message of that id, if it is one of the conversation."""
        return self.first_message <= message_id <= self.last_message


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """What came of a turn: memories that changed, proposals, and 1 where it could not be looked into."""

    learned: int = 0
    to_review: int = 0
    failed: int = 0


class SqlImports:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def put(self, scope: Scope, one: Import, conversations: Sequence[ImportedConversation] = ()) -> None:
        """Store an import with its conversations."""

        def put_all(sql: Sql) -> None:
            within = enter_scope(sql, scope.owner)
            within.run(
                _QUERIES["put_import"],
                id=one.id,
                kind=one.kind,
                program=one.program,
                created_at=one.created_at,
                stored=one.stored,
                change_id=one.change_id,
            )
            for each in conversations:
                values = {name: value for name, value in asdict(each).items() if name != "learned_to"}
                within.run(_QUERIES["put_conversation"], **values, import_id=one.id)

        await self._db.write(scope.owner, put_all)

    async def get(self, scope: Scope, import_id: str) -> Import | None:
        """The user's import of that id."""
        row = await self._db.read(scope.owner, lambda sql: sql.row(_QUERIES["import"], id=import_id))
        return None if row is None else _import(row)

    async def newest(self, scope: Scope, *, limit: int) -> list[Import]:
        """The user's imports, newest first."""
        rows = await self._db.read(scope.owner, lambda sql: sql.rows(_QUERIES["newest_imports"], limit=limit))
        return [_import(row) for row in rows]

    async def conversations(self, scope: Scope, import_id: ImportId) -> list[ImportedConversation]:
        """The conversations of an import that are still there, as they stood in the file."""
        rows = await self._db.read(
            scope.owner, lambda sql: sql.rows(_QUERIES["conversations_of"], import_id=import_id)
        )
        return [
            ImportedConversation(
                id=id,
                conversation=conversation,
                is_new=bool(is_new),
                first_message=first,
                last_message=last,
                learned_to=learned_to,
                left_state=left_state,
            )
            for id, conversation, is_new, first, last, learned_to, left_state in rows
        ]

    async def begin(self, scope: Scope, import_id: ImportId, zone: str | None, turns_left: int) -> Import | None:
        """Note that learning begins; the import from then on, None where nothing is to be learned of it."""

        def begin_round(sql: Sql) -> Row | None:
            is_begun = sql.run(_QUERIES["begin_round"], id=import_id, zone=zone, turns_left=turns_left)
            row: Row | None = sql.row(_QUERIES["import"], id=import_id) if is_begun else None
            return row

        row = await self._db.write(scope.owner, begin_round)
        return None if row is None else _import(row)

    async def move(self, scope: Scope, import_id: ImportId, was: ImportState, state: ImportState) -> bool:
        """Give an import another state; False where it has none that `was` expected."""

        def set_state(sql: Sql) -> int:
            return sql.run(_QUERIES["set_state"], id=import_id, state=state, was=was)

        return bool(await self._db.write(scope.owner, set_state))

    async def note_turn(
        self, scope: Scope, one: Import, conversation_id: str, message_id: int, outcome: TurnOutcome
    ) -> None:
        """Move the tracker of a conversation to a message, and count what came of it, in one step."""

        def note(sql: Sql) -> None:
            if sql.run(_QUERIES["count_turn"], id=one.id, done=one.done, **asdict(outcome)):
                sql.run(_QUERIES["move_tracker"], id=conversation_id, learned_to=message_id)

        await self._db.write(scope.owner, note)

    async def drop_conversation(self, scope: Scope, conversation: str) -> None:
        """Forget what imports keep of a conversation, and those that have none any more."""

        def drop(sql: Sql) -> None:
            if sql.run(_QUERIES["drop_conversation"], conversation=conversation):
                sql.run(_QUERIES["drop_empty_imports"])

        await self._db.write(scope.owner, drop)

    async def stop(self, scope: Scope) -> None:
        """Stop all that is being learned of the user's imports."""
        await self._db.write(scope.owner, lambda sql: sql.run(_QUERIES["stop_learning"]))


def _import(row: Row) -> Import:
    id, kind, program, state, created_at, stored, change_id, zone, round, turns, done, *came_of_it = row
    learned, to_review, failed = came_of_it
    return Import(
        id=ImportId(id),
        kind=kind,
        program=program,
        state=state,
        created_at=created_at,
        stored=stored,
        change_id=None if change_id is None else ChangeId(change_id),
        zone=zone,
        round=round,
        turns=turns,
        done=done,
        learned=learned,
        to_review=to_review,
        failed=failed,
    )
