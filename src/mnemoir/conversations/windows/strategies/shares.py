"""How a hybrid window shares its budget among the summary, the retained messages and the recent part.

Retained messages get up to 30 % of it and the summary up to 20 %; what they leave goes to the recent part. When all
that is wanted is over the budget, retained messages are dropped first, then the summary is shortened, then the oldest
turns of the recent part go. Pinned messages stay as long as the newest turn fits beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.conversations.windows.fitting import borders, fitting_cut
from mnemoir.conversations.windows.strategies.retained import Retained, best_of
from mnemoir.conversations.windows.strategies.tail import Tail
from mnemoir.conversations.windows.strategies.transcript import made_message, shortened_summary, summary_message
from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import StoredMessage, messages_of

_RETAINED_SHARE = 0.3
_SUMMARY_SHARE = 0.2
_SUMMARY_LEAST = 24  # tokens; a shorter piece of a summary says nothing

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A window in the making, without system messages. The recent part is the tail from `start` on."""

    tail: Tail
    start: int
    candidates: Sequence[Retained]
    retained: Sequence[Retained]
    summary: str

    @property
    def stored(self) -> list[StoredMessage]:
        """What is sent, in order."""
        lead = [made_message(self.summary)] if self.summary else []
        kept = [message for one in self.retained for message in one.stored]
        return [*lead, *kept, *self.tail.stored[self.start :]]

    @property
    def messages(self) -> list[Message]:
        """The same without their places."""
        return messages_of(self.stored)


def summary_share(room: int, most: int) -> int:
    """The tokens that a summary may take of a budget."""
    return min(most, int(room * _SUMMARY_SHARE))


def shared(
    tail: Tail, candidates: Sequence[Retained], summary: str, room: int, most_summary: int, counter: TokenCounter
) -> Draft:
    """The fullest window within `room` tokens; its retained messages all stand in front of its recent part."""
    summary = shortened_summary(summary, summary_share(room, most_summary), counter)
    start = _least_start(tail, room, counter)
    draft = Draft(tail=tail, start=start, candidates=candidates, retained=(), summary=summary)
    while True:
        draft = replace(draft, retained=best_of(_in_front(draft), int(room * _RETAINED_SHARE), counter))
        longer = _longest_start(draft, room, counter)
        if longer >= draft.start:
            return _reduced(draft, room, counter)
        draft = replace(draft, start=longer)  # it can only grow, so this ends


def _least_start(tail: Tail, room: int, counter: TokenCounter) -> int:
    """Half of the budget, and the newest turn even if it takes more; nothing when that is over all of it."""
    start = fitting_cut(tail.messages, room // 2, counter, "turn", min_keep=1)
    return start if counter.count(messages_of(tail.stored[start:])) <= room else len(tail.stored)


def _longest_start(draft: Draft, room: int, counter: TokenCounter) -> int:
    rest = replace(draft, start=len(draft.tail.stored)).messages
    return fitting_cut(draft.tail.messages, room - counter.count(rest), counter, "turn")


def _in_front(draft: Draft) -> list[Retained]:
    recent = {one.id for one in draft.tail.stored[draft.start :]}
    return [one for one in draft.candidates if one.id not in recent]


def _reduced(draft: Draft, room: int, counter: TokenCounter) -> Draft:
    for reduce in (_without_lowest, _with_shorter_summary, _without_oldest_turn, _without_oldest_pinned):
        while (over := counter.count(draft.messages) - room) > 0:
            less = reduce(draft, over, counter)
            if less is draft:
                break
            draft = less
    return draft


def _without_lowest(draft: Draft, over: int, counter: TokenCounter) -> Draft:
    loose = [one for one in draft.retained if not one.pinned]
    if not loose:
        return draft
    lowest = min(loose, key=lambda one: (one.score, one.id))
    return replace(draft, retained=[one for one in draft.retained if one is not lowest])


def _with_shorter_summary(draft: Draft, over: int, counter: TokenCounter) -> Draft:
    if not draft.summary:
        return draft
    left = counter.count([summary_message(draft.summary)]) - over
    shorter = shortened_summary(draft.summary, left, counter) if left >= _SUMMARY_LEAST else ""
    return replace(draft, summary="" if shorter == draft.summary else shorter)


def _without_oldest_turn(draft: Draft, over: int, counter: TokenCounter) -> Draft:
    """As long as another is left. What is pinned in it joins the retained."""
    later = [at for at in borders(draft.tail.messages, "turn") if at > draft.start]
    if not later:
        return draft
    kept = {one.id for one in draft.retained}
    moved = replace(draft, start=later[0])
    return replace(moved, retained=[one for one in _in_front(moved) if one.pinned or one.id in kept])


def _without_oldest_pinned(draft: Draft, over: int, counter: TokenCounter) -> Draft:
    if not draft.retained:
        return draft
    _log.warning("pinned_message_left_out", message_id=draft.retained[0].id, cause="over the budget")
    return replace(draft, retained=draft.retained[1:])
