"""What a window does with a thread: which messages it holds, which a summary stands for, and which it leaves out.

However long the thread is, only what the window holds is told message by message. The rest is told in stretches,
which the store adds up, so that no text is read for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.conversations.counters import CHARS4
from mnemoir.conversations.messages import Message, Role
from mnemoir.conversations.ways import Stretch

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
class Borders:
    """How far a summary reaches and where the context was begun anew, by the ids of messages."""

    summarised_upto: int | None = None
    cleared_upto: int | None = None
    keeps_important: bool = False  # whether summaries leave important messages out

    @property
    def ids(self) -> list[int]:
        """Those that there are."""
        return [one for one in (self.summarised_upto, self.cleared_upto) if one is not None]


def thread_parts(stretches: Sequence[Stretch], held: Mapping[int, Message], borders: Borders) -> list[WindowPart]:
    """What became of a thread that is cut at its borders and around what the window holds, oldest first."""
    return list(_newest_first(stretches, held, borders))[::-1]


def _newest_first(
    stretches: Sequence[Stretch], held: Mapping[int, Message], borders: Borders
) -> Iterator[WindowPart]:
    is_recent, is_covered, is_cleared = True, False, False
    for stretch in reversed(stretches):
        is_cleared = is_cleared or stretch.last == borders.cleared_upto
        is_covered = is_covered or stretch.last == borders.summarised_upto
        message = held.get(stretch.first)
        if is_cleared:
            yield _left("cleared", stretch)
        elif message is not None:
            yield _held(message, stretch.first, "kept" if is_recent else "retained")
        elif is_covered:
            yield from _covered(stretch, borders)
        else:
            yield _left("dropped", stretch)
        is_recent = is_recent and message is not None


def _held(message: Message, id: int, state: PartState) -> WindowPart:
    tokens = CHARS4.count_one(message)
    return WindowPart(state=state, tokens=tokens, messages=1, first=id, last=id, role=message.role)


def _covered(stretch: Stretch, borders: Borders) -> Iterator[WindowPart]:
    """What the summary stands for comes out as the first of the two."""
    apart = (stretch.apart_messages, stretch.apart_tokens) if borders.keeps_important else (0, 0)
    if apart[0]:
        yield replace(_left("dropped", stretch), messages=apart[0], tokens=apart[1])
    if stretch.messages > apart[0]:
        told = _left("summarised", stretch)
        yield replace(told, messages=told.messages - apart[0], tokens=told.tokens - apart[1])


def _left(state: PartState, stretch: Stretch) -> WindowPart:
    return WindowPart(
        state=state, tokens=stretch.tokens, messages=stretch.messages, first=stretch.first, last=stretch.last
    )
