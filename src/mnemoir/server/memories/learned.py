"""`/api/conversations/{id}/messages/{message_id}/learned`: what was learned from the turn that ends with a message.

The words come from the history of memories, by the uid of the message, so they are there as long as the memory is.
The job of the turn tells that it is still being looked into, that nothing was found in it, or that it was given up;
jobs are kept for a week.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from mnemoir.chats.remembering import job_of_answer
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.conversations import ROOT, MessageNotFoundError
from mnemoir.core.ids import MemoryId, ProposalId
from mnemoir.core.memories import ChangedMemory, LoggedChange
from mnemoir.core.scope import Scope
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversations.messages import MessageId
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import project_in
from mnemoir.server.memories.answers import Event, KnownMemory, Proposed, proposed_json
from mnemoir.server.memories.forget_requests import asks_to_forget
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

LearnedState = Literal["none", "waiting", "running", "nothing", "known", "failed", "proposed", "learned", "undone"]

_UNDER_WAY: dict[str, LearnedState] = {"PENDING": "waiting", "RUNNING": "running", "FAILED": "failed"}


class LearnedMemory(JsonObject):
    """A memory that the turn added, changed or removed. `memory` is null when the memory is gone since."""

    id: str
    event: Event
    memory: str | None
    previous_memory: str | None


class LearnedFrom(JsonObject):
    """What was learned from a turn. `change_id` is what can be undone, `undone_by` the undo; null for none.

    `known` are memories that said it already, `proposed` what waits for a review. `error` is why it is to be tried
    again, or was given up. `asks_to_forget`: the person asked to have something forgotten, which no model can do.
    """

    state: Annotated[
        LearnedState,
        Field(
            description="`nothing` and `known`: there was nothing new in it; `proposed`: it waits for a review; "
            "`none`: nothing was looked for, or that is not known any more"
        ),
    ]
    error: str | None
    change_id: str | None
    undone_by: str | None
    memories: list[LearnedMemory]
    known: list[KnownMemory]
    proposed: list[Proposed]
    asks_to_forget: bool


@router.get("/messages/{message_id}/learned", summary="What was learned from the turn that ends with a message")
@says("read")
async def learned(site: SiteHere, scope: OwnerHere, id: str, message_id: MessageId) -> Answer[LearnedFrom]:
    async with holding(site, scope, id) as own:
        uids, asks = await asyncio.to_thread(_turn, own, id, message_id)
    told = await _learned_from(site, scope.owner, uids) if uids else _nothing("none")
    return Answer({**told, "asks_to_forget": asks})


def _turn(own: OwnConversations, id: str, message_id: int) -> tuple[list[str], bool]:
    """The uid of the message, and whether its question asks to forget something.

    Of an answer that was cut, also the uid of its question, from which alone was learned.
    """
    stored = own.manager.get_message(id, message_id)
    if stored is None:
        raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {message_id}.")
    question = own.manager.get_message(id, stored.parent_id) if stored.parent_id not in (None, ROOT) else None
    asks = question is not None and question.message.role == "user" and asks_to_forget(question.message.text)
    sources = (stored, question if stored.finish_reason == "length" else None)
    return [one.uid for one in sources if one is not None and one.uid is not None], asks


async def _learned_from(site: Site, scope: Scope, uids: Sequence[str]) -> LearnedFrom:
    store = site.parts.memory.store
    job = await site.parts.upkeep.jobs.get(
        job_of_answer(uids[0])
    )  # before the change, which is there when it has ended
    found = [change for uid in uids if (change := await store.change_from(scope, uid))]
    change = found[0] if found else None
    told = _nothing("none")
    if change is not None:
        told = await _learned_in_change(change, scope, store)
    elif job is not None:
        told = _without_change(job)
    known = (job.result or {}).get("known", ()) if job else ()
    told["known"] += [known_one for id in known if (known_one := await _known_memory(id, scope, store))]
    waiting = (job.result or {}).get("proposed", ()) if job else ()
    told["proposed"] += [one for each in waiting if (one := await _proposed_memory(each["memory_id"], scope, site))]
    if told["proposed"] and told["state"] in ("none", "nothing"):
        return {**told, "state": "proposed"}
    return {**told, "state": "known"} if told["known"] and told["state"] == "nothing" else told


def _without_change(job: Job) -> LearnedFrom:
    if job.state in _UNDER_WAY:
        return {**_nothing(_UNDER_WAY[job.state]), "error": job.error}
    result = job.result or {}
    was_learned = bool(result.get("learned") or result.get("proposed"))  # and forgotten or refused since
    return _nothing("none" if was_learned else "nothing")


async def _learned_in_change(change: LoggedChange, scope: Scope, store: MemoryStore) -> LearnedFrom:
    rows = [row for row in change.rows if row.event != "UPDATE" or row.old_text != row.new_text]
    is_undone = change.undone_by is not None
    return {
        "state": ("undone" if is_undone else "learned") if rows else "nothing",
        "error": None,
        "change_id": change.id if change.id and rows else None,
        "undone_by": change.undone_by,
        "memories": [await _memory(row, scope, store, is_undone=is_undone) for row in rows],
        "known": [],
        "proposed": [],
        "asks_to_forget": False,
    }


async def _memory(row: ChangedMemory, scope: Scope, store: MemoryStore, *, is_undone: bool) -> LearnedMemory:
    """The memory with its words: what the turn removed until that is forgotten, all else while it is there."""
    if row.event == "DELETE":
        text = row.old_text
    else:
        text = None if is_undone or await store.get(scope, row.memory_id) is None else row.new_text
    return {
        "id": row.memory_id,
        "event": row.event,
        "memory": text,
        "previous_memory": row.old_text if row.event == "UPDATE" and text is not None else None,
    }


async def _known_memory(id: str, scope: Scope, store: MemoryStore) -> KnownMemory | None:
    memory = await store.get(scope, MemoryId(id))
    return None if memory is None or memory.valid_to is not None else {"id": id, "memory": memory.text}


async def _proposed_memory(id: str, scope: Scope, site: Site) -> Proposed | None:
    project = project_in(scope)
    found = await site.parts.memory.proposals.find(project, ProposalId(id))
    return proposed_json(found[1]) if found is not None and found[0].user == scope.user else None


def _nothing(state: LearnedState) -> LearnedFrom:
    return {
        "state": state,
        "error": None,
        "change_id": None,
        "undone_by": None,
        "memories": [],
        "known": [],
        "proposed": [],
        "asks_to_forget": False,
    }
