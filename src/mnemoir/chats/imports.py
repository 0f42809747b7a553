"""What a person brought in from other programs: which imports there are, learning from them, and undoing them."""

from dataclasses import dataclass
from typing import Literal

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.past_learning import LearningEstimate, PastLearning
from mnemoir.chats.past_undoing import PastUndoing, left_state
from mnemoir.conversations.transfer import ImportReport
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.errors import NotFound
from mnemoir.core.ids import ChangeId, ImportId, new_import_id
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import Amounts, OpenHolding
from mnemoir.storage.sql.imports import Import, ImportedConversation, SqlImports
from mnemoir.storage.user_pool import in_thread

MOST_LISTED = 100
ImportStanding = Literal["stored", "learning", "stopped", "learned", "undoing", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands with an import. `waits_for` is why the turn or the undo at hand is to be tried again."""

    one: Import
    state: ImportStanding
    waits_for: str | None = None


class Imports:
    """Serves every user. Raises NotFound for an import that a user does not have, and StorageUnavailable."""

    def __init__(
        self, rows: SqlImports, conversations: Conversations, learning: PastLearning, undoing: PastUndoing
    ) -> None:
        self.rows = rows
        self.learning = learning
        self._undoing = undoing
        self._conversations = conversations

    async def note_conversations(self, scope: Scope, own: OwnConversations, report: ImportReport) -> ImportId | None:
        """Note what an import stored, right behind it; None where it stored nothing."""
        stored = report.stored
        if not stored:
            return None
        import_id = new_import_id()

        def list_conversations() -> list[ImportedConversation]:
            return [
                ImportedConversation(
                    id=f"{import_id}/{number:06}",
                    conversation=each.id,
                    is_new=each.is_new,
                    first_message=each.first_message,
                    last_message=each.last_message,
                    left_state=left_state(own.log.get_session(each.id)),
                )
                for number, each in enumerate(stored)
            ]

        conversations = await in_thread(list_conversations)
        one = Import(
            id=import_id,
            kind="conversations",
            program=report.format,
            created_at=to_text(report.begun_at),
            stored=len(conversations),
        )
        await self.rows.put(scope, one, conversations)
        return import_id

    async def note_memories(self, scope: Scope, program: str, stored: int, change_id: ChangeId) -> ImportId:
        """Note the commit in which an import added memories."""
        one = Import(
            id=new_import_id(),
            kind="memories",
            program=program,
            created_at=to_text(utc_now()),
            stored=stored,
            change_id=change_id,
        )
        await self.rows.put(scope, one)
        return one.id

    async def newest(self, scope: Scope) -> list[Standing]:
        """How it stands with the user's imports, newest first."""
        return [await self._state_of(scope, one) for one in await self.rows.newest(scope, limit=MOST_LISTED)]

    async def state_of(self, scope: Scope, import_id: str) -> Standing:
        """How it stands with one import."""
        return await self._state_of(scope, await self._get(scope, import_id))

    async def estimate(self, scope: Scope, import_id: str) -> LearningEstimate:
        """What it will take to learn from what is left of an import."""
        return await self.learning.estimate(scope, await self._get(scope, import_id))

    async def undo(self, scope: Scope, import_id: str) -> None:
        """Take back what was learned of an import and what it stored. Raises Conflict where it was undone."""
        one = await self._get(scope, import_id)
        await self.learning.cancel(scope, one)
        await self._undoing.begin(scope, one)

    async def get(self, scope: Scope, import_id: str) -> Import:
        """The import of that id."""
        return await self._get(scope, import_id)

    async def _get(self, scope: Scope, import_id: str) -> Import:
        one = await self.rows.get(scope, import_id)
        if one is None:
            raise NotFound(
                f"There is no import {import_id[:128]!r} here. List the user's imports to see their ids.",
                code="import_not_found",
            )
        return one

    async def _state_of(self, scope: Scope, one: Import) -> Standing:
        if one.state not in ("learning", "undoing"):
            return Standing(one=one, state=one.state)
        job = await self.learning.job_of(scope, one)
        now = await self.rows.get(scope, one.id) or one  # its job may have ended meanwhile
        if job is None and now.state == "learning" == one.state:
            return Standing(one=now, state="stopped")  # the queue gave it up, or a forgetting withdrew it
        return Standing(one=now, state=now.state, waits_for=job.error if job else None)


def holding_of_imports(rows: SqlImports) -> OpenHolding:
    """What was brought in, and how far it was learned from: a forgetting ends the learning."""

    async def forget(scope: Scope) -> Amounts:
        if scope.conversation is None:
            await rows.stop(scope)
        else:
            await rows.drop_conversation(scope, scope.conversation)
        return {}

    return OpenHolding(name="import", forget=forget)
