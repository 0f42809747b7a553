"""Division of a hybrid window's budget among the summary, the retained messages and the recent part.

Retained messages get up to 30 % of the budget and the summary up to 20 %; the recent part gets the rest. When the
window is over the budget, retained messages are dropped first, then the summary is shortened, then the oldest turns
of the recent part are dropped. Pinned messages stay as long as the newest turn fits beside them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.conversations.windows.fitting import borders, fitting_cut
from mnemoir.conversations.windows.strategies.retained import RetainedRound, best_of
from mnemoir.conversations.windows.strategies.tail import Tail
from mnemoir.conversations.windows.strategies.transcript import made_message, shortened_summary, summary_message
from mnemoir.core.conversations import Message, StoredMessage, messages_of

_RETAINED_SHARE = 0.3
_SUMMARY_SHARE = 0.2
_SUMMARY_LEAST = 24  # tokens; a shorter part of a summary is useless

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDraft:
    """An unfinished window, without system messages. The recent part is the tail from `start` on."""

    tail: Tail
    start: int
    candidates: Sequence[RetainedRound]
    retained: Sequence[RetainedRound]
    summary: str

    @property
    def stored_messages(self) -> list[StoredMessage]:
        """The messages of the window, in order."""
        lead = [made_message(self.summary)] if self.summary else []
        kept = [message for one in self.retained for message in one.stored]
        return [*lead, *kept, *self.tail.stored[self.start :]]

    @property
    def messages(self) -> list[Message]:
        """The messages without their storage rows."""
        return messages_of(self.stored_messages)


def summary_share(room: int, most: int) -> int:
    """The maximal tokens of a summary within a budget."""
    return min(most, int(room * _SUMMARY_SHARE))


def fullest_draft(
    tail: Tail, candidates: Sequence[RetainedRound], summary: str, room: int, most_summary: int, counter: TokenCounter
) -> WindowDraft:
    """The fullest window within `room` tokens; all retained messages are before the recent part."""
    summary = shortened_summary(summary, summary_share(room, most_summary), counter)
    start = _least_start(tail, room, counter)
    draft = WindowDraft(tail=tail, start=start, candidates=candidates, retained=(), summary=summary)
    while True:
        draft = replace(draft, retained=best_of(_in_front(draft), int(room * _RETAINED_SHARE), counter))
        longer = _longest_start(draft, room, counter)
        if longer >= draft.start:
            return _reduced_draft(draft, room, counter)
        draft = replace(draft, start=longer)  # it only grows, so the loop ends


def behind_question(
    draft: WindowDraft, asked: Callable[[RetainedRound], RetainedRound | None], room: int, counter: TokenCounter
) -> WindowDraft:
    """The draft within `room` tokens that begins with a user's message behind the summary; without one it is empty.

    The first of the retained messages, when it is an answer, gets its question by `asked`; without one it is dropped.
    """
    while draft.retained and draft.retained[0].stored[0].message.role != "user":
        draft = _reduced_draft(_with_round(draft, draft.retained[0], asked(draft.retained[0])), room, counter)
    is_empty = not draft.retained and draft.start == len(draft.tail.stored)
    return replace(draft, summary="") if is_empty else draft


def _with_round(draft: WindowDraft, first: RetainedRound, whole: RetainedRound | None) -> WindowDraft:
    """The draft with its first round in another form, which holds the question that may be a candidate, too."""
    lead = [whole] if whole else []
    others = [one for one in draft.candidates if one is first or whole is None or one.id != whole.id]
    candidates = [same for one in others for same in (lead if one is first else [one])]
    return replace(draft, candidates=candidates, retained=[*lead, *draft.retained[1:]])


def _least_start(tail: Tail, room: int, counter: TokenCounter) -> int:
    """The start of a recent part of half the budget, at least one turn; the end when that is over the budget."""
    start = fitting_cut(tail.messages, room // 2, counter, "exchange", min_keep=1)
    return start if counter.count(messages_of(tail.stored[start:])) <= room else len(tail.stored)


def _longest_start(draft: WindowDraft, room: int, counter: TokenCounter) -> int:
    rest = replace(draft, start=len(draft.tail.stored)).messages
    return fitting_cut(draft.tail.messages, room - counter.count(rest), counter, "exchange")


def _in_front(draft: WindowDraft) -> list[RetainedRound]:
    recent = {one.id for one in draft.tail.stored[draft.start :]}
    return [one for one in draft.candidates if one.id not in recent]


def _reduced_draft(draft: WindowDraft, room: int, counter: TokenCounter) -> WindowDraft:
    for reduce in (_without_lowest, _with_shorter_summary, _without_oldest_turn, _without_oldest_pin):
        while (over := counter.count(draft.messages) - room) > 0:
            less = reduce(draft, over, counter)
            if less is draft:
                break
            draft = less
    return draft


def _without_lowest(draft: WindowDraft, over: int, counter: TokenCounter) -> WindowDraft:
    loose = [one for one in draft.retained if not one.pinned]
    if not loose:
        return draft
    lowest = min(loose, key=lambda one: (one.score, one.id))
    return replace(draft, retained=[one for one in draft.retained if one is not lowest])


def _with_shorter_summary(draft: WindowDraft, over: int, counter: TokenCounter) -> WindowDraft:
    if not draft.summary:
        return draft
    left = counter.count([summary_message(draft.summary)]) - over
    shorter = shortened_summary(draft.summary, left, counter) if left >= _SUMMARY_LEAST else ""
    return replace(draft, summary="" if shorter == draft.summary else shorter)


def _without_oldest_turn(draft: WindowDraft, over: int, counter: TokenCounter) -> WindowDraft:
    """The draft without its oldest turn, if another is left. Pinned messages of the turn become retained."""
    later = [at for at in borders(draft.tail.messages, "exchange") if at > draft.start]
    if not later:
        return draft
    kept = {one.id for one in draft.retained}
    moved = replace(draft, start=later[0])
    return replace(moved, retained=[one for one in _in_front(moved) if one.pinned or one.id in kept])


def _without_oldest_pin(draft: WindowDraft, over: int, counter: TokenCounter) -> WindowDraft:
    if not draft.retained:
        return draft
    _log.warning("pinned_message_left_out", message_id=draft.retained[0].id, cause="over the budget")
    return replace(draft, retained=draft.retained[1:])
