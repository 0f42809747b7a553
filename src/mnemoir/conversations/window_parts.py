"""A window told apart: which messages of a thread it holds, which a summary stands for, and which it leaves out.

A strategy gives plain messages. What it read them from is noted on the way, so that each is known again by its place
in the store, and no strategy has to tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemoir.conversations.counters import CHARS4
from mnemoir.conversations.importance import IMPORTANT
from mnemoir.conversations.messages import Message
from mnemoir.conversations.session_storage import SessionStorage, WindowRows
from mnemoir.conversations.sessions import StoredMessage, Summary
from mnemoir.conversations.strategies.strategy import Strategy
from mnemoir.conversations.validity import SUMMARY_PREFIX
from mnemoir.conversations.window_states import Borders, WindowPart, thread_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldWindow:
    """A window and its parts: what no message stands for first, then the thread, oldest first."""

    messages: Sequence[Message]
    parts: Sequence[WindowPart]
    summary: Summary | None = None  # the one that the window shows


class RowsRead(WindowRows):
    """Rows that note what was read of them. With `only_looks` nobody gets the right to summarise."""

    def __init__(self, rows: WindowRows, *, only_looks: bool = False) -> None:
        self._rows = rows
        self._only_looks = only_looks
        self._read: dict[int, StoredMessage] = {}  # by the identity of the message, which is held as long

    def id_of(self, message: Message) -> int | None:
        """The id of a message that was read here; None for one that was made."""
        stored = self._read.get(id(message))
        return stored.id if stored is not None else None

    def mark_context(self, session_id: str) -> int | None:
        return self._rows.mark_context(session_id)

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        return self._noted(self._rows.newest_messages(session_id, limit, before=before))

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        return self._noted(self._rows.messages_between(session_id, after, before, limit))

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        return self._noted(self._rows.important_messages(session_id, threshold))

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        return self._rows.unscored_messages(session_id, limit)

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        self._rows.set_importance(scores)

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        return self._rows.set_pinned(message_id, pinned)

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        return self._rows.messages_by_id(message_ids)

    def get_summary(self, session_id: str) -> Summary | None:
        return self._rows.get_summary(session_id)

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        return None if self._only_looks else self._rows.claim_summary(session_id, lease_s)

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        return self._rows.put_summary(session_id, claim, summary)

    def release_summary(self, session_id: str, claim: str) -> None:
        self._rows.release_summary(session_id, claim)

    def _noted(self, stored: list[StoredMessage]) -> list[StoredMessage]:
        self._read |= {id(one.message): one for one in stored}
        return stored


def told_window(
    rows: SessionStorage,
    session_id: str,
    strategy: Strategy,
    budget: int,
    *,
    keeps_important: bool = False,
    only_looks: bool = False,
) -> ToldWindow:
    """The window and what became of every message of the thread. With `only_looks` no model is asked.

    `keeps_important` is of strategies that leave important messages out of their summaries. Blocks; raises as
    `Strategy.window` does.
    """
    read = RowsRead(rows, only_looks=only_looks)
    messages = strategy.window(read, session_id, budget)
    held = {id: message for message in messages if (id := read.id_of(message)) is not None}
    made = [message for message in messages if read.id_of(message) is None]
    known = rows.get_summary(session_id)
    summary = known if known and any(_shows(message, known) for message in made) else None
    session = rows.get_session(session_id)
    borders = Borders(
        summarised_upto=summary.upto_message_id if summary else None,
        cleared_upto=session.context_after if session else None,
        keeps_important=keeps_important,
    )
    stretches = rows.thread_stretches(session_id, list(held), borders.ids, IMPORTANT)
    parts = [*(_made(one, summary) for one in made), *thread_parts(stretches, held, borders)]
    return ToldWindow(messages=messages, parts=parts, summary=summary)


def _shows(message: Message, summary: Summary) -> bool:
    """Whether it is this summary, which may have been shortened."""
    text = message.text.removeprefix(SUMMARY_PREFIX)
    return message.role == "system" and bool(text) and summary.text.strip().startswith(text)


def _made(message: Message, summary: Summary | None) -> WindowPart:
    is_summary = summary is not None and _shows(message, summary)
    return WindowPart(
        state="summary" if is_summary else "note",
        tokens=CHARS4.count_one(message),
        role=message.role,
        text=message.text.removeprefix(SUMMARY_PREFIX),
    )
