"""Stores the sample memory, through the stores of all memories and chats, for a user that has nothing yet.

The chats are imported like a file of our own; the import is noted by the name of the program, by which the sample is
known again. Each step of the script is a commit of its own, dated as the script has it, so histories and the log of
changes tell the story.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.imports import Imports
from mnemoir.chats.sample.script import Script, Step, Waiting, read_script
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId, new_memory_id, new_proposal_id
from mnemoir.core.memories import Add, Change, IndexEntry, Memory, Provenance, Remove, Update
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ALL_CURRENT, MemoryStore, Visible
from mnemoir.ports.proposals import ProposalStore
from mnemoir.ports.recalled import Reference, references_as_json
from mnemoir.search.indexing import Indexing, fact_passage
from mnemoir.storage.user_pool import in_thread

SAMPLE_USER = "sample"
PROGRAM = "sample"
_REASONS = {"user": "extracted", "api": "verbatim", "person": "edit", "import": "import", "document": "extracted"}
_FORMAT, _VERSION = "mnemoir-conversation", 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How much the sample has: current memories, and chats."""

    memories: int
    chats: int


async def is_sample_there(imports: Imports, scope: Scope) -> bool:
    """Whether what the scope's user has is the sample."""
    return any(standing.one.program == PROGRAM for standing in await imports.newest(scope))


async def is_left_of_sample(scope: Scope, conversations: Conversations, store: MemoryStore, now: datetime) -> bool:
    """Whether the scope's user has chats of a sample, whose removal was cut, and neither others nor memories."""
    if await store.count(scope, Visible(now=now)):
        return False
    chats = await conversations.ids(scope)
    return bool(chats) and {*chats} <= {step.session for step in read_script(now).steps}


async def store_sample(
    scope: Scope,
    *,
    conversations: Conversations,
    imports: Imports,
    store: MemoryStore,
    proposals: ProposalStore,
    indexing: Indexing,
    now: datetime,
) -> Sample:
    """Store it for a user who has nothing. Raises StorageUnavailable: what is there by then is the sample's."""
    script = read_script(now)
    chats = [step for step in script.steps if step.session is not None]
    async with conversations.of(scope) as own:
        report = await in_thread(import_sessions, own.manager, _file_of(chats), format="auto", user=scope.user)
        await imports.note_conversations(scope, own, replace(report, format=PROGRAM))
        known = await _store_facts(script, scope, store, indexing)
        await proposals.add(scope, [_proposal(each, known, scope) for each in script.waiting])
        await _note_recalled(chats, known, scope, store, own)
    visible = Visible(now=now)
    return Sample(memories=await store.count(scope, visible), chats=len(chats))


def _file_of(chats: Sequence[Step]) -> bytes:
    """The chats as lines of our own format."""
    lines: list[dict[str, Any]] = []
    for chat in chats:
        about = {"id": chat.session, "title": chat.title, "created_at": to_text(chat.at)}
        lines.append({"format": _FORMAT, "version": _VERSION, "session": about})
        lines += [
            {
                "id": number,
                "uid": turn.message_uid,
                "parent_id": number - 1 or None,
                "role": turn.role,
                "content": turn.text,
                "created_at": turn.said_at,
                "head": number == len(chat.turns),
            }
            for number, turn in enumerate(chat.turns, start=1)
        ]
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


async def _store_facts(script: Script, scope: Scope, store: MemoryStore, indexing: Indexing) -> dict[str, MemoryId]:
    """Commit each step; the ids of the memories by their texts, past ones too."""
    texts = [text for step in script.steps for text in (*step.facts, *step.changes.values())]
    made = await indexing.entries([fact_passage(text) for text in texts])
    entries, known = dict(zip(texts, made, strict=True)), dict[str, MemoryId]()
    for step in script.steps:
        changes = _changes_of(step, scope, entries, known)
        reason = _REASONS[step.origin]
        told = Provenance(reason=reason, turns=step.turns, session=step.session, at=to_text(step.at))
        await store.commit(scope, changes, told)
    return known


def _changes_of(step: Step, scope: Scope, entries: dict[str, IndexEntry], known: dict[str, MemoryId]) -> list[Change]:
    at, reason = to_text(step.at), _REASONS[step.origin]
    changes: list[Change] = []
    for text in step.facts:
        known[text] = new_memory_id()
        memory = Memory(
            id=known[text],
            text=text,
            user=scope.user,
            created_at=at,
            updated_at=at,
            metadata=None if step.session is None else {"session_id": step.session},
            app=step.app,
            given_origin=step.origin,
        )
        changes.append(Add(memory=memory, entry=entries[text], reason=reason))
    for old, new in step.changes.items():
        known[new] = known[old]
        changes.append(
            Update(target=known[old], expected=old, text=new, entry=entries[new], reason="reconciled", at=at)
        )
    for old, new in step.closes.items():
        changes.append(Remove(target=known[old], expected=old, successor=known[new], reason="superseded", at=at))
    return changes


def _proposal(waiting: Waiting, known: dict[str, MemoryId], scope: Scope) -> Proposal:
    at = to_text(waiting.at)
    memory = Memory(
        id=new_memory_id() if waiting.fact is None else known[waiting.fact],
        text=waiting.text,
        user=scope.user,
        created_at=at,
        updated_at=at,
        metadata={"session_id": waiting.session},
        given_origin="assistant",
    )
    return Proposal(
        id=new_proposal_id(),
        event=waiting.event,
        memory=memory,
        reason=waiting.reason,
        proposed_at=at,
        at=at,
        previous_text=waiting.fact,
        session=waiting.session,
    )


async def _note_recalled(
    chats: Sequence[Step], known: dict[str, MemoryId], scope: Scope, store: MemoryStore, own: OwnConversations
) -> None:
    """Note what the first answer of each chat was given, as far as it still holds."""
    ids = list({known[text] for chat in chats for text in chat.recalls})
    wordings = {worded.memory.id: worded for worded in await store.current(scope, ALL_CURRENT, ids)}
    references = {
        chat.turns[0].message_uid or "": references_as_json(
            [
                Reference("memory", each, wordings[each].wording, chat.at.date().isoformat())
                for each in dict.fromkeys(known[text] for text in chat.recalls)
                if each in wordings
            ]
        )
        for chat in chats
        if chat.recalls
    }
    await in_thread(own.log.put_recalled, references)
