"""A window described as parts of its thread: messages in the window, messages in a summary, messages left out.

Only messages in the window are listed singly. All others are listed as stretches, which the store sums up, so that
no text of them is read, however long the thread is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.importance import IMPORTANT
from mnemoir.conversations.windows.strategies.tail import Strategy, stored_window
from mnemoir.conversations.windows.validity import SUMMARY_PREFIX
from mnemoir.core.branches import Stretch
from mnemoir.core.conversations import Message, Role, StoredMessage, Summary, messages_of
from mnemoir.ports.log import Log

PartState = Literal["kept", "retained", "summary", "note", "summarised", "dropped", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
    """A message in the window, or a stretch of messages that are not in it.

    `kept` is a message of the recent part, `retained` an older one. `summary` and `note` are texts that are not
    stored messages. `summarised` messages are in the summary only, `dropped` ones in neither; `cleared` ones are
    before the mark of a cleared context. When summaries leave out important messages, a `summarised` and a `dropped`
    part may cover the same stretch: its important messages are dropped.
    """

    state: PartState
    tokens: int  # an estimate for stretches
    messages: int = 0
    first: int | None = None  # the id of the first message of the stretch
    last: int | None = None
    role: Role | None = None  # of a single message
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowParts:
    """A window and its parts: first the texts made by a strategy, then the thread, oldest first."""

    messages: Sequence[Message]
    parts: Sequence[WindowPart]
    summary: Summary | None = None  # the one that the window shows


def window_parts(
    rows: Log,
    session_id: str,
    strategy: Strategy,
    budget: int,
    *,
    keeps_important: bool = False,
    summarises: bool = True,
) -> WindowParts:
    """The window and the parts of its thread. Without `summarises` no model is called.

    `keeps_important` is for strategies that leave important messages out of their summaries. Blocks; raises as
    `Strategy.window` does.
    """
    window = stored_window(strategy, rows, session_id, budget, summarises=summarises)
    held = {one.id: one for one in window if not one.made}
    made = [one for one in window if one.made]
    known = rows.get_summary(session_id) if made else None
    summary = known if known and any(_shows(one, known) for one in made) else None
    session = rows.get_session(session_id)
    covered = summary.upto_message_id if summary else None
    cleared = session.context_after if session else None
    borders = [one for one in (covered, cleared) if one is not None]
    parts: list[WindowPart] = []  # newest first
    is_recent, is_covered, is_cleared = True, False, False
    for stretch in reversed(rows.thread_stretches(session_id, list(held), borders, IMPORTANT)):
        is_cleared = is_cleared or stretch.last == cleared
        is_covered = is_covered or stretch.last == covered
        one = held.get(stretch.first)
        if one is not None and not is_cleared:
            parts.append(_part_of_message(one, "kept" if is_recent else "retained"))
        elif is_covered and not is_cleared:
            parts += _parts_under_summary(stretch, keeps_important)
        else:
            parts.append(_part_of_stretch("cleared" if is_cleared else "dropped", stretch))
        is_recent = is_recent and one is not None
    in_front = [_part_in_front(one, summary) for one in made]
    return WindowParts(messages=messages_of(window), parts=[*in_front, *reversed(parts)], summary=summary)


def _shows(one: StoredMessage, summary: Summary) -> bool:
    """True when the message shows this summary, perhaps shortened."""
    text = one.message.text.removeprefix(SUMMARY_PREFIX)
    return one.message.role == "system" and bool(text) and summary.text.strip().startswith(text)


def _part_in_front(one: StoredMessage, summary: Summary | None) -> WindowPart:
    return WindowPart(
        state="summary" if summary and _shows(one, summary) else "note",
        tokens=CHARS4.count_one(one.message),
        role=one.message.role,
        text=one.message.text.removeprefix(SUMMARY_PREFIX),
    )


def _part_of_message(one: StoredMessage, state: PartState) -> WindowPart:
    tokens = CHARS4.count_one(one.message)
    return WindowPart(state=state, tokens=tokens, messages=1, first=one.id, last=one.id, role=one.message.role)


def _parts_under_summary(stretch: Stretch, keeps_important: bool) -> Iterator[WindowPart]:
    """The parts of a summarised stretch: the important messages as dropped, if left out, and the rest as summarised.

    The caller collects parts newest first, so the summarised part comes first in the end.
    """
    messages, tokens = (stretch.apart_messages, stretch.apart_tokens) if keeps_important else (0, 0)
    if messages:
        yield replace(_part_of_stretch("dropped", stretch), messages=messages, tokens=tokens)
    if stretch.messages > messages:
        rest = _part_of_stretch("summarised", stretch)
        yield replace(rest, messages=rest.messages - messages, tokens=rest.tokens - tokens)


def _part_of_stretch(state: PartState, stretch: Stretch) -> WindowPart:
    return WindowPart(
        state=state, tokens=stretch.tokens, messages=stretch.messages, first=stretch.first, last=stretch.last
    )
