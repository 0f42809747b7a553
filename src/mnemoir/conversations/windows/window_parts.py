"""A window and what became of its thread: which messages it holds, which a summary covers, which it leaves out.

However long the thread is, only what the window holds is told message by message. The rest is told in stretches,
which the store adds up, so that no text is read for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.importance import IMPORTANT
from mnemoir.conversations.windows.strategies.strategy import Strategy, stored_window
from mnemoir.conversations.windows.validity import SUMMARY_PREFIX
from mnemoir.core.branches import Stretch
from mnemoir.core.conversation_messages import Message, Role
from mnemoir.core.conversations import StoredMessage, Summary, messages_of
from mnemoir.ports.log import Log

PartState = Literal["kept", "retained", "summary", "note", "summarised", "dropped", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
    """A message that the window holds, or messages between such ones that it does not hold.

    `kept` is of the recent part, `retained` older and held all the same. `summary` and `note` stand for no message of
    the store and have a text. `summarised` are in the summary alone, `dropped` in nothing; `cleared` stand in front
    of the mark where the context was begun anew. Where important messages are left out of summaries, a part that is
    `summarised` and one that is `dropped` may reach over the same stretch: the important ones of it are dropped.
    """

    state: PartState
    tokens: int  # of what is not held an estimate
    messages: int = 0
    first: int | None = None  # the id of the first message of the stretch
    last: int | None = None
    role: Role | None = None  # of a single message
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowParts:
    """A window and its parts: first what a strategy made, then the thread, oldest first."""

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
    """The window and what became of every message of the thread. Without `summarises` no model is asked.

    `keeps_important` is of strategies that leave important messages out of their summaries. Blocks; raises as
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
            parts.append(_held(one, "kept" if is_recent else "retained"))
        elif is_covered and not is_cleared:
            parts += _covered(stretch, keeps_important)
        else:
            parts.append(_left("cleared" if is_cleared else "dropped", stretch))
        is_recent = is_recent and one is not None
    in_front = [_made(one, summary) for one in made]
    return WindowParts(messages=messages_of(window), parts=[*in_front, *reversed(parts)], summary=summary)


def _shows(one: StoredMessage, summary: Summary) -> bool:
    """Whether it is this summary, which may have been shortened."""
    text = one.message.text.removeprefix(SUMMARY_PREFIX)
    return one.message.role == "system" and bool(text) and summary.text.strip().startswith(text)


def _made(one: StoredMessage, summary: Summary | None) -> WindowPart:
    return WindowPart(
        state="summary" if summary and _shows(one, summary) else "note",
        tokens=CHARS4.count_one(one.message),
        role=one.message.role,
        text=one.message.text.removeprefix(SUMMARY_PREFIX),
    )


def _held(one: StoredMessage, state: PartState) -> WindowPart:
    tokens = CHARS4.count_one(one.message)
    return WindowPart(state=state, tokens=tokens, messages=1, first=one.id, last=one.id, role=one.message.role)


def _covered(stretch: Stretch, keeps_important: bool) -> Iterator[WindowPart]:
    """What the summary stands for comes out as the first of the two."""
    messages, tokens = (stretch.apart_messages, stretch.apart_tokens) if keeps_important else (0, 0)
    if messages:
        yield replace(_left("dropped", stretch), messages=messages, tokens=tokens)
    if stretch.messages > messages:
        rest = _left("summarised", stretch)
        yield replace(rest, messages=rest.messages - messages, tokens=rest.tokens - tokens)


def _left(state: PartState, stretch: Stretch) -> WindowPart:
    return WindowPart(
        state=state, tokens=stretch.tokens, messages=stretch.messages, first=stretch.first, last=stretch.last
    )
