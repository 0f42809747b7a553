"""Undoing an import, in a job of the queue: what was learned of it is taken back, newest first, then what it stored.

What was changed by hand since, or by later turns, stays: a memory, a conversation that was continued or renamed, and
what is needed to understand it. A job that was cut is repeated from its beginning, and ends whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.past_turns import learned_uids
from mnemoir.chats.remembering import past_queue_of
from mnemoir.conversations.users import OwnConversations, remove_conversation
from mnemoir.core.conversations import ROOT, SessionRecord
from mnemoir.core.errors import Conflict
from mnemoir.core.ids import JobId
from mnemoir.core.memories import LoggedChange
from mnemoir.core.scope import Scope
from mnemoir.core.text import digest
from mnemoir.memory.background import Background
from mnemoir.memory.facts import Facts
from mnemoir.ports.jobs import Job
from mnemoir.ports.log import Log
from mnemoir.ports.memory_store import MemoryStore, Project
from mnemoir.ports.proposals import ProposalStore
from mnemoir.storage.sql.imports import Import, ImportedConversation, ImportState, SqlImports
from mnemoir.storage.user_pool import in_thread

KIND = "undo_past"
_AT_ONCE = 500  # messages whose changes are looked up together
_PAGE = 200
_FROM: tuple[ImportState, ...] = ("stored", "learning", "stopped", "learned")


class PastUndoing:
    """Serves every user. Raises StorageUnavailable."""

    def __init__(
        self,
        imports: SqlImports,
        conversations: Conversations,
        background: Background,
        facts: Facts,
        store: MemoryStore,
        proposals: ProposalStore,
    ) -> None:
        self._imports = imports
        self._conversations = conversations
        self._background = background
        self._facts = facts
        self._store = store
        self._proposals = proposals
        background.handle(KIND, self._work)

    async def begin(self, scope: Scope, one: Import) -> None:
        """Queue the undo of an import; of one that is being undone, go on. Raises Conflict (`import_undone`)."""
        moved = [was for was in _FROM if await self._imports.move(scope, one.id, was, "undoing")]
        now = await self._imports.get(scope, one.id)
        if not moved and (now is None or now.state != "undoing"):
            raise Conflict("This import was undone already.", code="import_undone")
        payload = {"scope": asdict(scope.owner), "import_id": one.id}
        job_id = JobId(f"evt_{digest(f'{one.id} undo').hex()}")
        await self._background.put(KIND, payload, queue=past_queue_of(scope), job_id=job_id)

    async def _work(self, job: Job) -> Mapping[str, Any]:
        scope = Scope(**job.payload["scope"])
        one = await self._imports.get(scope, job.payload["import_id"])
        if one is None or one.state != "undoing":
            return {}
        if one.change_id is not None:
            project = Project(tenant=scope.tenant, project=scope.project)
            found = await self._store.change(project, one.change_id, scope.user)
            await self._take_back(scope, [found[1]] if found else [])
        known = await self._imports.conversations(scope, one.id)
        if known and await self._conversations.exist(scope):
            uids = await self._learned_uids(scope, known)
            await self._take_back(scope, await self._changes(scope, one, uids))
            for conversation in known:
                await self._remove(scope, conversation)
        await self._imports.move(scope, one.id, "undoing", "undone")
        return {}

    async def _learned_uids(self, scope: Scope, known: Sequence[ImportedConversation]) -> list[str]:
        async with self._conversations.of(scope) as own:
            return await in_thread(lambda: [uid for each in known for uid in learned_uids(own.log, each)])

    async def _changes(self, scope: Scope, one: Import, uids: Sequence[str]) -> list[LoggedChange]:
        """What was learned of the messages since they were imported, newest first; what is to be reviewed is dropped.

        A message that came back in an import may have been learned from before it.
        """
        found: dict[str, LoggedChange] = {}
        for first in range(0, len(uids), _AT_ONCE):
            some = uids[first : first + _AT_ONCE]
            found |= {change.id: change for change in await self._store.changes_from(scope.owner, some)}
            waiting = await self._proposals.from_messages(scope.owner, some)
            if waiting:
                await self._proposals.drop(scope.owner, waiting)
        learned = [change for change in found.values() if change.at >= one.created_at]
        return sorted(learned, key=lambda change: -change.place)

    async def _take_back(self, scope: Scope, changes: Sequence[LoggedChange]) -> None:
        for change in changes:
            await self._facts.undoing.take_back(scope.owner, change)

    async def _remove(self, scope: Scope, one: ImportedConversation) -> None:
        """Remove what the import stored of a conversation; one that was changed since stays."""
        async with (
            self._conversations.deciding(scope, one.conversation),
            self._conversations.of(scope) as own,
        ):
            await in_thread(_remove_stored, own, one)


def left_state(record: SessionRecord | None) -> str:
    """A digest of what can be changed of a conversation by hand besides its messages."""
    return "" if record is None else digest(record.metadata.to_json()).hex()


def _remove_stored(own: OwnConversations, one: ImportedConversation) -> None:
    """Blocks."""
    record = own.log.get_session(one.conversation)
    if record is None:
        return
    if one.is_new:
        is_continued = bool(own.log.message_tree(one.conversation, 1, after=one.last_message))
        if not is_continued and left_state(record) == one.left_state:
            remove_conversation(own, one.conversation)
        return
    stored = _messages_without_followers(own.log, one)
    head = record.head
    if head in stored:
        way = own.log.way_before(one.conversation, head, len(stored) + 1)
        head = next((message.id for message in way if message.id not in stored), ROOT)
        if head == ROOT or not own.log.set_head(one.conversation, head):
            return
    own.log.delete_messages(one.conversation, [*stored])


def _messages_without_followers(log: Log, one: ImportedConversation) -> set[int]:
    """The messages that the import added and that nobody continued."""
    parents: dict[int, int | None] = {}
    after = one.first_message - 1
    while page := log.message_tree(one.conversation, _PAGE, after=after):
        parents |= {message.id: message.parent_id for message in page}
        after = page[-1].id
    stays: set[int] = set()
    for id in sorted(parents, reverse=True):  # those behind come first
        parent = parents[id]
        if parent is not None and (id in stays or not one.holds(id)):
            stays.add(parent)
    return {id for id in parents if one.holds(id) and id not in stays}
