"""How far a summary reaches: far enough that about ten turns can follow before the next one is needed.

With room to spare it ends where the recent part begins. In a tight budget, where each further turn would push an
older one out of the window and cost a model call, it reaches into the recent part, which is still shown word for word.
"""

from mnemoir.conversations.counters import TokenCounter
from mnemoir.conversations.fitting import borders
from mnemoir.conversations.strategies.tail import Tail

_TURNS = 10


def fold_border(tail: Tail, start: int, room: int, counter: TokenCounter) -> int:
    """The index of the turn in front of which a summary ends, for a recent part from `start` on.

    `room` is what the recent part may take, in tokens. The newest turn is never folded in: it may not be finished.
    """
    turns = [at for at in borders(tail.from_(0), "turn") if at >= start]
    if not turns:
        return start
    to_come = _TURNS * counter.count(tail.from_(start)) / len(turns)
    ample = (at for at in turns if counter.count(tail.from_(at)) + to_come <= room)
    return next(ample, turns[-1])
