"""The answer of a turn as a source of memories: only complete answers, none that were refused or broke off."""

from collections.abc import Collection

from mnemoir.core.events import FinishReason
from mnemoir.workflows.run import Turn

COMPLETE_REASONS: Collection[FinishReason] = (
    "stop",
    "length",
)  # not "content_filter", which withholds the answer, nor "tool_calls", which is not the last one


def answer_to_learn(turn: Turn) -> str | None:
    """The answer of a turn; None when no memories may be derived from the turn.

    "" for an answer that was cut: only the user's message is then a source of memories.
    """
    reason = turn.finished.reason if turn.finished else None
    answer = "".join(turn.answer).strip()
    if turn.is_refused or reason not in COMPLETE_REASONS or not (answer or turn.is_overlong):
        return None
    is_whole = reason == "stop" and not turn.is_overlong
    return answer if is_whole else ""
