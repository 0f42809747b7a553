"""Importance scores, stored once with each message as soon as enough messages follow it."""

from collections.abc import Callable, Sequence

from mnemoir.conversations.windows.importance import MESSAGES_AHEAD, ImportanceContext, score_importance
from mnemoir.core.conversations import Message, StoredMessage, messages_of
from mnemoir.ports.log import WindowRows

Score = Callable[[Message, ImportanceContext], float]

_PAGE = 500


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
