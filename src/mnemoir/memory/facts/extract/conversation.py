"""Prepares the turns of an add: for a model in windows of one call, or as messages that are stored word for word.

A model sees user and assistant turns only. Recalled text is removed from prompts first, so that a memory is never
derived from a memory; so are the documents that an app put around a question, and the prompts of side tasks.

A message that is stored word for word is embedded with the two messages before it, so that "yes, every morning" is
found as the answer it is; a message said more than an hour earlier belongs to another conversation.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.ids import MemoryId, new_memory_id
from mnemoir.core.memories import Memory, Origin
from mnemoir.core.scope import Scope
from mnemoir.core.text import CONTEXT_MESSAGES, LONGEST_CONTEXT, content_hash, context_of, estimate_tokens, take_down
from mnemoir.memory.facts.extract.acknowledging import without_acknowledgement
from mnemoir.memory.facts.extract.requests import AddRequest, Turn
from mnemoir.memory.facts.reading.blocks import learnable
from mnemoir.ports.embedding import Passage

_READ_ROLES = frozenset({"user", "assistant"})
_ONE_SPELL = timedelta(hours=24)
_MOST_AHEAD = timedelta(hours=24)  # of the clock: what a wrong time zone makes
_MOST_BEFORE = 20  # turns among which the last two that can be read are looked for
_NAMING = (
    r"(?:my name is|i am called|ich heiße|mein name ist|je m'appelle|mon nom est|me llamo|mi nombre es|mi chiamo|"
    r"il mio nome è|o meu nome é|chamo-me|me chamo|ik heet|mijn naam is) (?:\w+ )?"
)
_TURN_TOKENS = 12  # role, quotes and braces around a turn in the prompt


def turns_without_recall(turns: Sequence[Turn]) -> list[Turn]:
    """All turns without recalled text; empty turns and instructions are left out."""
    cleaned = (replace(turn, text=_clean(turn.text)) for turn in turns if turn.may_be_kept)
    return [turn for turn in cleaned if turn.text.strip()]


def turns_for_extraction(turns: Sequence[Turn]) -> list[Turn]:
    """The user and assistant turns, from which facts are drawn or understood."""
    said = (_with_typed_text(turn) for turn in turns_without_recall(turns) if turn.role in _READ_ROLES)
    return [turn for turn in said if turn.text.strip()]


def turns_of_user(turns: Sequence[Turn], user: str) -> list[Turn]:
    """The turns without what other people say in the user's role.

    One name among the user turns is the user. Of several it is the one that equals the user's id, else the one who
    says "my name is" itself; else nobody is, and turns without a name are the user's alone.
    """
    named = {turn.speaker.casefold() for turn in turns if turn.role == "user" and turn.speaker}
    if len(named) < 2:
        return list(turns)
    own = {name for name in named if name == user.casefold()} or {
        turn.speaker.casefold() for turn in turns if turn.role == "user" and turn.speaker and _names_itself(turn)
    }
    is_own = {*own, None} if len(own) == 1 else {None}
    return [
        turn for turn in turns if turn.role != "user" or (turn.speaker or "").casefold() in is_own or not turn.speaker
    ]


def _names_itself(turn: Turn) -> bool:
    return bool(re.search(rf"{_NAMING}{re.escape(turn.speaker or '')}(?!\w)", turn.text, re.IGNORECASE))


def turns_before(turns: Sequence[Turn]) -> list[Turn]:
    """Of what was said before the turns that are learned from, the last two turns, and of each the end."""
    said = turns_for_extraction(turns[-_MOST_BEFORE:])[-CONTEXT_MESSAGES:]
    return [replace(turn, text=turn.text[-LONGEST_CONTEXT:]) for turn in said]


def outside(turns: Sequence[Turn], origins: Collection[Origin]) -> list[Turn]:
    """The turns in which a tool or a document of these origins speaks, without recalled text."""
    return [turn for turn in turns_without_recall(turns) if turn.origin in origins]


def spells(turns: Sequence[Turn], said_at: datetime | None, now: datetime) -> list[list[Turn]]:
    """The turns in order of time, those said on one day together; each with its time, None for now.

    A turn without a time was said with the turn before it, the first ones at `said_at`. Times that lie too far ahead
    count as now.
    """
    at = _credible(said_at, now)
    dated: list[Turn] = []
    for turn in turns:
        at = at if turn.said_at is None else _credible(turn.said_at, now)
        dated.append(replace(turn, said_at=at))
    runs: list[list[Turn]] = []
    for turn in sorted(dated, key=lambda turn: turn.said_at or now):
        if not runs or (turn.said_at or now) - (runs[-1][0].said_at or now) > _ONE_SPELL:
            runs.append([])
        runs[-1].append(turn)
    return runs


def _credible(said_at: datetime | None, now: datetime) -> datetime | None:
    """The time, None for one that is more than a day ahead."""
    return None if said_at is None or said_at > now + _MOST_AHEAD else said_at


def windows(turns: Sequence[Turn], most_tokens: int) -> list[list[Turn]]:
    """The turns cut into runs of at most `most_tokens`, each beginning with the last turn of the one before.

    A turn over the limit is cut into pieces that overlap, so that each sentence is whole in one of them. The repeated
    turn is left out where it would not fit.
    """
    runs: list[list[Turn]] = []
    room = 0
    for turn in (piece for whole in turns for piece in _pieces(whole, most_tokens)):
        size = _size(turn)
        if not runs or size > room:
            overlap = runs[-1][-1:] if runs else []
            overlap = overlap if sum(map(_size, overlap)) + size <= most_tokens else []
            runs.append(overlap)
            room = most_tokens - sum(map(_size, overlap))
        runs[-1].append(turn)
        room -= size
    return runs


def digest(turns: Sequence[Turn]) -> str:
    """Eight hex digits that identify a conversation in the log without revealing its text."""
    return content_hash("\n".join(turn.text for turn in turns)).hex()[:8]


def _with_typed_text(turn: Turn) -> Turn:
    """A user's turn reduced to text typed by a person: without document frames, side tasks and repeated memories.

    An assistant's turn loses what it says of facts that are to be remembered.
    """
    clean = learnable if turn.role == "user" else without_acknowledgement
    return replace(turn, text=clean(turn.text))


def _clean(text: str) -> str:
    """`text` without fences and without lone surrogates, which no JSON can carry."""
    return take_down(text).encode("utf-8", "replace").decode("utf-8")


def _size(turn: Turn) -> int:
    return estimate_tokens(turn.text) + _TURN_TOKENS


def _pieces(turn: Turn, most_tokens: int) -> Iterator[Turn]:
    """The turn itself, or its text in pieces that fit; each repeats the last characters of the one before."""
    rest = turn.text
    room = max(1, most_tokens - _TURN_TOKENS)
    while estimate_tokens(rest) > room:
        cut = _cut(rest, room)
        yield replace(turn, text=rest[:cut])
        rest = rest[_next_start(rest, cut) :]
    if rest.strip():
        yield replace(turn, text=rest)


def _cut(text: str, room: int) -> int:
    """The index at which to cut so that the front fits into `room` tokens; at least 1."""
    end = min(len(text), room * 4)
    while estimate_tokens(text[:end]) > room:
        end = max(1, end // 2)
        if end == 1:
            return 1
    return _break_after(text, end // 2, end) or end


def _next_start(text: str, cut: int) -> int:
    """The index at which the piece after a cut begins: at a sentence, or a word, up to `_OVERLAP` before it."""
    earliest = max(cut - _OVERLAP, cut // 2 + 1)
    ends = [at + len(mark) for mark in _BREAKS if (at := text.find(mark, earliest, cut)) >= 0]
    return min(ends, default=text.find(" ", earliest, cut) + 1 or cut)


def _break_after(text: str, begin: int, end: int) -> int:
    """The index behind the last end of a sentence between the two, else behind the last space; 0 without one."""
    last = max(text.rfind(mark, begin, end) + len(mark) if mark in text[begin:end] else 0 for mark in _BREAKS)
    return last or text.rfind(" ", begin, end) + 1


_BREAKS = ("\n", ". ", "! ", "? ", "。")
_OVERLAP = 800  # characters; longer than the longest clause that the offline model reads


def messages(scope: Scope, request: AddRequest, now: datetime) -> list[Memory]:
    """The request's turns as memories, in order; instructions and empty turns are left out.

    Lists order memories of one time by their ids, so those of one request ascend.
    """
    turns = turns_without_recall(request.turns)
    ids = sorted(new_memory_id() for _ in turns)
    return [_message(id, scope, request, turn, now) for id, turn in zip(ids, turns, strict=True)]


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


def _message(id: MemoryId, scope: Scope, request: AddRequest, turn: Turn, now: datetime) -> Memory:
    said_at = to_text(past(turn.said_at or request.said_at, now))
    return Memory(
        id=id,
        text=turn.text,
        user=scope.user,
        created_at=said_at,
        updated_at=said_at,
        metadata=request.metadata_of(turn),
        kind="message",
        agent=scope.agent,
        app=scope.app,
        conversation=scope.conversation,
        role=turn.role,
        given_origin="person" if request.is_by_hand and turn.origin == "api" else None,
        speaker=turn.speaker,
        expires_on=request.expires_on,
    )


def _said_at(memory: Memory) -> float | None:
    said_at = from_text(memory.created_at)
    return None if said_at is None else said_at.timestamp()
