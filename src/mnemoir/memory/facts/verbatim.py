"""Messages stored word for word, for callers that want no model to select facts.

Each is embedded with the two messages before it, so that "yes, every morning" is found as the answer it is; a
message said more than an hour earlier belongs to another conversation.
"""

from collections.abc import Sequence
from datetime import datetime

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.conversation import spoken
from mnemoir.memory.facts.requests import AddRequest, Turn
from mnemoir.ports.embedding import Passage
from mnemoir.search.context import CONTEXT_MESSAGES, context_of


def messages(scope: Scope, request: AddRequest, now: datetime) -> list[Memory]:
    """The request's turns as memories, in order; instructions and empty turns are left out."""
    return [_message(scope, request, turn, now) for turn in spoken(request.turns)]


def passages(kept: Sequence[Memory], before: Sequence[Memory]) -> list[Passage]:
    """The messages as passages to embed; `before` are the messages stored last, oldest first."""
    said = [(memory.text, _said_at(memory)) for memory in (*before, *kept)]
    return [
        Passage(text=text, context=context_of(at, said[max(0, place - CONTEXT_MESSAGES) : place]))
        for place, (text, at) in enumerate(said)
    ][len(before) :]


def past(said_at: datetime | None, now: datetime) -> datetime:
    """The time `said_at`, limited to the past; `now` when it is unknown or later."""
    return min(said_at, now) if said_at else now


def _message(scope: Scope, request: AddRequest, turn: Turn, now: datetime) -> Memory:
    said_at = to_text(past(turn.said_at or request.said_at, now))
    own = {**(request.metadata or {}), **(turn.metadata or {})}
    unset = request.metadata is None and turn.metadata is None
    return Memory(
        id=new_memory_id(),
        text=turn.text,
        user=scope.user,
        created_at=said_at,
        updated_at=said_at,
        metadata=None if unset else own,
        kind="message",
        agent=scope.agent,
        app=scope.app,
        conversation=scope.conversation,
        role=turn.role,
        speaker=turn.speaker,
        expires_on=request.expires_on,
    )


def _said_at(memory: Memory) -> float | None:
    said_at = from_text(memory.created_at)
    return None if said_at is None else said_at.timestamp()
