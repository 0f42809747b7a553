"""The turns of imported conversations from which is learned: what the user said on each thread, oldest first.

A thread that a user edited is read as it stands: what an edit replaced was taken back. All functions block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

from mnemoir.core.conversations import ROOT, StoredMessage
from mnemoir.core.text import CONTEXT_MESSAGES, LONGEST_CONTEXT, estimate_tokens
from mnemoir.memory.facts import Turn
from mnemoir.memory.facts.extract.conversation import turns_for_extraction
from mnemoir.ports.log import Log
from mnemoir.storage.sql.imports import ImportedConversation

_PAGE = 200
_MOST_BEFORE = 20  # messages among which the last two that can be read are looked for
_SPOKEN = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that waits: the row of its conversation, the conversation and the message, in order of time.

    A turn is not earlier than one before it on its thread, whatever its file says.
    """

    at: datetime
    row: str
    message_id: int
    conversation: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """What a turn says, when, and what was said just before it."""

    uid: str
    turn: Turn
    context: Sequence[Turn]


def waiting_turns(log: Log, conversations: Sequence[ImportedConversation]) -> list[PastTurn]:
    """The turns behind the trackers, oldest first."""
    found = [turn for one in conversations for turn in _turns_of(log, one)]
    return sorted(found, key=attrgetter("at", "row", "message_id"))


def _turns_of(log: Log, one: ImportedConversation) -> Iterator[PastTurn]:
    latest = datetime.min.replace(tzinfo=UTC)
    for message in _thread(log, one.conversation):
        latest = max(latest, _time_of(message) or latest)
        is_waiting = one.holds(message.id) and message.id > one.learned_to and message.message.role == "user"
        if is_waiting and (text := readable_text(message)):
            yield PastTurn(latest, one.id, message.id, one.conversation, estimate_tokens(text))


def _thread(log: Log, conversation: str) -> Iterator[StoredMessage]:
    """The messages of a thread, oldest first, a page at a time."""
    after = ROOT
    while page := [one for one in log.way_behind(conversation, after, _PAGE) if one.is_on_thread]:
        yield from page
        after = page[-1].id


def readable_text(message: StoredMessage) -> str:
    """What a message says for itself, without what an app put around it; "" for nothing to learn from."""
    return "".join(turn.text for turn in turns_for_extraction([Turn(role="user", text=message.message.text)]))


def said_turn(log: Log, turn: PastTurn) -> SaidTurn | None:
    """What a turn says; None where its message is gone."""
    found = log.messages_by_id([turn.message_id]).get(turn.message_id)
    if found is None or found.session_id != turn.conversation or not found.uid:
        return None
    before = log.way_before(turn.conversation, turn.message_id, _MOST_BEFORE)
    spoken = [one for one in before if one.message.role in _SPOKEN and one.message.text.strip()][:CONTEXT_MESSAGES]
    context = [Turn(role=one.message.role, text=one.message.text[-LONGEST_CONTEXT:]) for one in reversed(spoken)]
    told = Turn(role="user", text=found.message.text, metadata={"message_uid": found.uid}, said_at=_time_of(found))
    return SaidTurn(uid=found.uid, turn=told, context=context)


def learned_uids(log: Log, one: ImportedConversation) -> list[str]:
    """The uids of what the user said on all branches of a conversation, as far as it was looked into."""
    found: list[str] = []
    after = one.first_message - 1
    while page := log.message_tree(one.conversation, _PAGE, after=after):
        for message in page:
            if message.id > one.learned_to:
                return found
            if message.message.role == "user" and message.uid:
                found.append(message.uid)
        after = page[-1].id
    return found


def _time_of(message: StoredMessage) -> datetime | None:
    return None if message.created_at is None else message.created_at.replace(tzinfo=UTC)
