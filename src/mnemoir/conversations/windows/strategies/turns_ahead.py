"""The end of a new summary: more than ten turns after the end of the last one.

When that many turns have left the window, it ends where the recent part begins. In a tight budget each further turn
would push out an older one and cost a model call; there the summary extends into the recent part, which is still
shown in full, so that the next ten or so turns cost no call, and every turn is in the summary or the recent part.
"""

from mnemoir.conversations.windows.fitting import borders
from mnemoir.conversations.windows.strategies.tail import Tail
from mnemoir.core.conversations import calls_of

_TURNS = 11


def fold_before(tail: Tail, start: int, uncovered: int) -> int | None:
    """The id of the first message that the new summary does not cover; None when it covers all.

    `start` is the index where the recent part begins, `uncovered` the index of the first message in no summary. An
    unfinished newest turn is not summarised while it is recent.
    """
    messages = tail.messages
    ends = [at for at in borders(messages, "turn") if at > uncovered]
    if messages and messages[-1].role == "assistant" and not calls_of(messages[-1]):
        ends.append(len(messages))
    border = max(start, ends[min(_TURNS, len(ends)) - 1]) if ends else start
    return tail.stored[border].id if border < len(messages) else None
