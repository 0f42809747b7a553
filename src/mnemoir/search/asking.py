"""Questions and answers among messages: one that asks counts less, the message behind it, which answers, more.

A message that only asks has the words of the query and not what the query asks for. So it loses up to a quarter of
its score, by the share of it that asks, and the next message of its stretch gains up to an eighth of what the
question scored.

Measured on the development conversations of LoCoMo (786 questions, and 232 that name the wrong speaker), in percent;
brackets are 95 % of a paired bootstrap:

    recall@10 86.5 -> 87.5 [+.2, +1.8], nDCG@10 70.9 -> 72.2 [+.6, +2.2], hit@10 93.0 -> 93.5
    151 questions over several messages: recall@10 63.5 -> 66.3 [+.4, +5.4]
    the wrong speaker named: recall@10 86.2 -> 90.9

Losses of .15 to .3 and gains of .1 to .15 do as well. What was tried and dropped, by the recall@10 of questions over
several messages: the loss alone (+1.7 [-.4, +4.2]); the gain alone (+.9 [-1.1, +3.0]); the same loss for all messages
that end with a question (+.7 [-1.8, +3.4]). A second round with those words of the best three that are in at most
1 % of the messages (weights .03 to .2, scaled by five rules) gains at most 2.9 [-.1, +6.0] beside the loss alone.
Beside both it gains nothing: -.6 to +.2, every interval around 0. The same with the mean vector of the best three
costs .7 to 2.
"""

import numpy as np
from numpy.typing import NDArray

from mnemoir.search.candidates import Scored
from mnemoir.search.columns import NONE
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.weights import Weights


def with_askers(index: ScopeIndex, among: Mask) -> Mask:
    """The rows, and those that stand just before one of them: what a row gains does not depend on a filter."""
    before = index.before(np.flatnonzero(among))
    both = among.copy()
    both[before[before != NONE]] = True
    return both


def with_answers(index: ScopeIndex, scored: Scored, weights: Weights) -> Scored:
    """The same rows with scores that tell questions from answers. A row gains by the one before if that is there."""
    asks = index.asking_shares()[scored.rows]
    if not asks.any():
        return scored
    place = np.full(len(index) + 1, NONE)  # the last entry belongs to NONE, which is no row
    place[scored.rows] = np.arange(len(scored.rows))
    before = place[index.before(scored.rows)]
    answers = np.where(before != NONE, asks[before] * scored.score[before], 0.0)
    score = (1 - weights.asking_loss * asks) * scored.score + weights.answering_gain * answers
    raw = {**scored.raw, "asks": _where_any(asks), "answers": _where_any(answers)}
    return Scored(scored.rows, np.round(np.minimum(score, 1.0), 6).astype(np.float64), raw)


def _where_any(values: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.where(values > 0, values, np.nan)
