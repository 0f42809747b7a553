"""Important older messages that a hybrid window keeps, each with its whole tool round, and their scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.conversations.windows.importance import MESSAGES_AHEAD, ImportanceContext, score_importance
from mnemoir.conversations.windows.strategies.tail import with_closed_calls
from mnemoir.conversations.windows.validity import match_results
from mnemoir.core.conversations import Message, StoredMessage, calls_of, messages_of
from mnemoir.ports.log import WindowRows

Score = Callable[[Message, ImportanceContext], float]

_PAGE = 500
_ROUND_REACH = 64  # messages on each side that are searched for the rest of a tool round


def score_new(rows: WindowRows, session_id: str, *, score: Score = score_importance, most: int = 1_000) -> int:
    """Score unscored messages except the newest few, whose questions may still be answered; the number scored.

    Reads at most about `most` messages; the next call continues with the rest of a very long session.
    """
    read = scored = 0
    while read < most and (waiting := rows.unscored_messages(session_id, 1)):
        stretch = [waiting[0], *rows.messages_between(session_id, waiting[0].id, None, _PAGE)]
        scores = _scores([one for one in stretch if one.importance is None], stretch, score)
        if not scores:
            break
        rows.set_importance(scores)
        read += len(stretch)
        scored += len(scores)
    return scored


def rescore(rows: WindowRows, session_id: str, *, score: Score = score_importance) -> int:
    """Score all messages again, even those scored by a program; the number scored. For changed scoring rules."""
    after, scored = None, 0
    while stretch := rows.messages_between(session_id, after, None, _PAGE + MESSAGES_AHEAD):
        page = stretch[:_PAGE]
        rows.set_importance(dict.fromkeys((one.id for one in page), None) | _scores(page, stretch, score))
        after = page[-1].id
        scored += len(page)
    return scored


def _scores(wanted: Sequence[StoredMessage], stretch: Sequence[StoredMessage], score: Score) -> dict[int, float]:
    """The scores by message id, for wanted messages with enough following messages in the stretch."""
    place = {one.id: at for at, one in enumerate(stretch)}
    messages = messages_of(stretch)
    settled = len(stretch) - MESSAGES_AHEAD
    return {
        one.id: score(one.message, ImportanceContext(after=messages[at + 1 : at + 1 + MESSAGES_AHEAD]))
        for one in wanted
        if (at := place[one.id]) < settled
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedRound:
    """An important message, or a tool round that contains one; its messages are kept or dropped together."""

    stored: Sequence[StoredMessage]
    score: float
    pinned: bool

    @property
    def id(self) -> int:
        """The id of its first message."""
        return self.stored[0].id

    @property
    def messages(self) -> list[Message]:
        """The messages in their order."""
        return messages_of(self.stored)


def retained_rounds(rows: WindowRows, session_id: str, important: Iterable[StoredMessage]) -> list[RetainedRound]:
    """The important messages in their order, each tool round once; results whose call is missing are left out."""
    found: dict[int, RetainedRound] = {}
    for one in important:
        stored = _round(rows, session_id, one)
        if not stored:
            continue
        other = found.get(stored[0].id)
        found[stored[0].id] = RetainedRound(
            stored=stored,
            score=max(one.importance or 0.0, other.score if other else 0.0),
            pinned=one.pinned or (other is not None and other.pinned),
        )
    return list(found.values())


def question_before(rows: WindowRows, session_id: str, answer: RetainedRound) -> RetainedRound | None:
    """The round with the user's message that it answers in front; None when there is none after the mark."""
    before = answer.id
    while page := rows.newest_messages(session_id, _ROUND_REACH, before=before):
        asked = next((one for one in page if one.message.role == "user"), None)
        if asked is not None:
            return replace(answer, stored=[asked, *answer.stored])
        before = page[-1].id
    return None


def best_of(candidates: Sequence[RetainedRound], share: int, counter: TokenCounter) -> list[RetainedRound]:
    """The candidates to keep, in their order: all pinned ones, and the best others, within `share` tokens in all.

    The lowest score is dropped first, of equal scores the oldest; a candidate over the share alone is ignored.
    """
    cost = {one.id: counter.count(one.messages) for one in candidates}
    kept = {one.id for one in candidates if one.pinned}
    others = [one for one in candidates if not one.pinned and cost[one.id] <= share]
    left = share - sum(cost[at] for at in kept)
    for one in sorted(others, key=lambda one: (one.score, one.id), reverse=True):
        left -= cost[one.id]
        if left < 0:
            break
        kept.add(one.id)
    return [one for one in candidates if one.id in kept]


def _round(rows: WindowRows, session_id: str, one: StoredMessage) -> list[StoredMessage]:
    if one.message.role != "tool" and not calls_of(one.message):
        return [one]
    older = rows.newest_messages(session_id, _ROUND_REACH, before=one.id)[::-1]
    newer = rows.messages_between(session_id, one.id, None, _ROUND_REACH)
    stretch = with_closed_calls([*older, one, *newer])
    callers = {at: answered.caller for at, answered in match_results(messages_of(stretch)).items()}
    at = next((place for place, stored in enumerate(stretch) if stored.id == one.id), None)
    if at is None:
        return []
    caller = callers.get(at, at)
    return [stored for place, stored in enumerate(stretch) if place == caller or callers.get(place) == caller]
