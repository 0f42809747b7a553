"""Which answers may be learned from: whole ones that a model gave, and nothing that was refused or broke off."""

from collections.abc import Collection

from mnemoir.core.events import FinishReason
from mnemoir.workflows.run import Turn

COMPLETE_REASONS: Collection[FinishReason] = (
    "stop",
    "length",
)  # what a filter withheld is no answer, a call of tools no last one


def answer_to_learn(turn: Turn) -> str | None:
    """The answer of a turn; None where nothing of the turn may be learned.

    "" for an answer that was cut: it is no source of memories, what the user said is one.
    """
    reason = turn.finished.reason if turn.finished else None
    answer = "".join(turn.answer).strip()
    if turn.is_refused or reason not in COMPLETE_REASONS or not (answer or turn.is_overlong):
        return None
    is_whole = reason == "stop" and not turn.is_overlong
    return answer if is_whole else ""
