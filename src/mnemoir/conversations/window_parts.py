"""A window told apart: which messages of a thread it holds, which a summary stands for, and which it leaves out.

A strategy gives plain messages. What it read them from is noted on the way, so that each is known again by its place
in the store, and no strategy has to tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mnemoir.conversations.counters import CHARS4
from mnemoir.conversations.importance import IMPORTANT
from mnemoir.conversations.messages import Message, Role
from mnemoir.conversations.session_storage import SessionStorage, WindowRows
from mnemoir.conversations.sessions import StoredMessage, Summary
from mnemoir.conversations.strategies.strategy import Strategy
from mnemoir.conversations.validity import SUMMARY_PREFIX

_PAGE = 512
_SHOWN = ("kept", "retained")

PartState = Literal["kept", "retained", "summary", "note", "summarised", "dropped", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
    """A message that the window holds, or a run of messages that it does not hold, oldest first.

    `kept` is of the recent part, `retained` older and held all the same. `summary` and `note` stand for no message of
    the store and have a text. `summarised` are in the summary alone, `dropped` in nothing; `cleared` stand in front
    of the mark where the context was begun anew.
    """

    state: PartState
    tokens: int
    message_ids: Sequence[int] = ()
    role: Role | None = None  # of a single message
    text: str | None = None


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
    thread = _Thread(
        held=held,
        summary=summary,
        mark=session.context_after if session else None,
        keeps_important=keeps_important,
    )
    told = list(thread.newest_first(_thread(rows, session_id)))[::-1]
    return ToldWindow(
        messages=messages, parts=[*(_made(one, summary) for one in made), *_runs(told)], summary=summary
    )


@dataclass(slots=True, kw_only=True)
class _Thread:
    """A walk through the thread from its newest message, which tells the state of each."""

    held: Mapping[int, Message]
    summary: Summary | None
    mark: int | None
    keeps_important: bool
    is_recent: bool = field(default=True, init=False)
    is_covered: bool = field(default=False, init=False)
    is_cleared: bool = field(default=False, init=False)

    def newest_first(self, thread: Iterator[StoredMessage]) -> Iterator[WindowPart]:
        for stored in thread:
            self.is_cleared = self.is_cleared or stored.id == self.mark
            self.is_covered = self.is_covered or (
                self.summary is not None and stored.id == self.summary.upto_message_id
            )
            state = self._state(stored)
            message = self.held.get(stored.id, stored.message)
            yield WindowPart(
                state=state,
                tokens=CHARS4.count_one(message),
                message_ids=(stored.id,),
                role=message.role,
            )

    def _state(self, stored: StoredMessage) -> PartState:
        if self.is_cleared:
            return "cleared"
        if stored.id in self.held:
            return "kept" if self.is_recent else "retained"
        self.is_recent = False
        is_apart = self.keeps_important and _is_apart(stored)
        return "summarised" if self.is_covered and not is_apart else "dropped"


def _is_apart(stored: StoredMessage) -> bool:
    """Whether it counts as important, and so stands word for word or not at all."""
    is_important = stored.importance is not None and stored.importance >= IMPORTANT
    return stored.message.role == "system" or stored.pinned or is_important


def _thread(rows: SessionStorage, session_id: str) -> Iterator[StoredMessage]:
    before = None
    while page := rows.thread_messages(session_id, _PAGE, before=before):
        yield from page
        before = page[-1].id


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


def _runs(told: Sequence[WindowPart]) -> Iterator[WindowPart]:
    """What the window holds one by one, the rest in runs of one state."""
    run: list[WindowPart] = []
    for part in told:
        if run and (part.state in _SHOWN or part.state != run[0].state):
            yield _joined(run)
            run = []
        if part.state in _SHOWN:
            yield part
        else:
            run.append(part)
    if run:
        yield _joined(run)


def _joined(run: Sequence[WindowPart]) -> WindowPart:
    return WindowPart(
        state=run[0].state,
        tokens=sum(part.tokens for part in run),
        message_ids=[id for part in run for id in part.message_ids],
        role=run[0].role if len(run) == 1 else None,
    )
