"""How far a summary reaches: over more than ten turns beyond the last one.

When that many have left the window, it ends where the recent part begins. In a tight budget each further turn would
push out an older one and cost a model call of its own; there the summary reaches into the recent part, which is still
shown in full, so that the next ten or so turns cost none, and no turn is ever in neither of the two.
"""

from mnemoir.conversations.windows.fitting import borders
from mnemoir.conversations.windows.strategies.tail import Tail
from mnemoir.core.conversation_messages import calls_of

_TURNS = 11


def fold_before(tail: Tail, start: int, uncovered: int) -> int | None:
    """The id of the message in front of which a summary ends; None when it is to cover everything.

    `start` is where the recent part begins, `uncovered` where the part that is in no summary yet does. A newest turn
    that is still going on is not folded in while it is recent.
    """
    messages = tail.messages
    ends = [at for at in borders(messages, "turn") if at > uncovered]
    if messages and messages[-1].role == "assistant" and not calls_of(messages[-1]):
        ends.append(len(messages))
    border = max(start, ends[min(_TURNS, len(ends)) - 1]) if ends else start
    return tail.stored[border].id if border < len(messages) else None
