"""The way from a question along names: which statements hang together with it, and by which name.

"Where does my sister work?" names the sister; "Sister is called Anna" has that name and another one; "Anna works at
Norlin" has that one. Each step is worth .8 of the one before, a name in many statements less than one in few. The
names of the best statements found without links count for a fiftieth: they open a way where the question has none.

Measured on fresh users of about 45 facts, share of questions with all facts that they need among the first ten,
without and with links, English / German: two facts 61 -> 100 / 32 -> 100 %, three facts 10 -> 98 / 10 -> 95 %. Where
a name that the question leads to is not followed because one of the best results has it, too: 93 / 95 and 75 / 90. As
a signal in the fusion links cost (hit@1 of single facts 40.0 -> 30.7), so they have places behind the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemoir.search.links.name_keys import Keys
from mnemoir.search.links.name_rows import COMMON_SHARE, FEWEST_COMMON, NameRows

STEPS = 3
FADE = 0.8  # of a step
_FOLLOWED = 0.7  # of a statement's worth that its other names have
_OF_BEST = 0.02  # the weight of a name of the best statement; 1 is that of a name in the question
BEST = 5
RANK = 30  # what is added to a statement's rank without links before its worth is divided by it
FEWEST = 4  # results: of fewer, none is given away
_NO_NAME = "neither the question nor the best results have a name"
_TOO_COMMON = "the names are in too many memories"
# what bounds the time of a walk: the statements whose names are followed, and the names
_MOST_ROWS, _MOST_NAMES = 128, 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """Statements that were reached, by slot: what each is worth, and the key of the name that led there.

    With `skipped` it was no way, and this is why.
    """

    slots: NDArray[np.int64]
    worth: NDArray[np.float64]
    by: Keys
    skipped: str = ""


def places_of(limit: int) -> int:
    """How many of so many results may be linked ones: the last three tenths."""
    return (3 * limit + 5) // 10 if limit >= FEWEST else 0


def walk(names: NameRows, shown: NDArray[np.bool_], asked: Sequence[int], best: Sequence[int]) -> Walk:
    """Go from the names that are asked for, and those of the best rows, best first, over the rows that are shown."""
    most = max(FEWEST_COMMON, int(COMMON_SHARE * np.count_nonzero(shown)))
    seeds, weights = _seeds(names, asked, best[:BEST])
    worth, gains, by = np.zeros(len(shown)), np.zeros(len(shown)), np.zeros(len(shown), np.uint64)
    keys, skipped = seeds, ""
    for step in range(STEPS):
        found = names.mentions(keys, shown, most)
        if not len(found.slots):
            if not step:
                skipped = _TOO_COMMON if found.has_common else _NO_NAME
            break
        gain = (weights * FADE**step / np.sqrt(np.maximum(found.degrees, 1)))[found.which]
        worth += np.bincount(found.slots, gain, len(shown))
        better = np.flatnonzero(gain > gains[found.slots])
        better = better[np.argsort(gain[better], kind="stable")]  # of one row's gains the greatest comes last
        gains[found.slots[better]], by[found.slots[better]] = gain[better], keys[found.which[better]]
        if step < STEPS - 1:
            reached = np.flatnonzero(worth)
            keys, weights = _following_names(names, np.array(asked, np.uint64), reached, worth)
    reached = np.flatnonzero(worth)
    return Walk(slots=reached, worth=worth[reached], by=by[reached], skipped=skipped)


def _seeds(names: NameRows, asked: Sequence[int], best: Sequence[int]) -> tuple[Keys, NDArray[np.float64]]:
    """The names to begin with, ascending, and their weights."""
    weights = dict.fromkeys(asked, 1.0)
    keys, place = names.of(np.array(best, np.int64))
    for key, at in zip(keys.tolist(), place.tolist(), strict=True):
        if weights.get(key) != 1.0:
            weights[key] = weights.get(key, 0.0) + _OF_BEST / (1 + at)
    seeds = np.array(sorted(weights), np.uint64)
    return seeds, np.array([weights[key] for key in seeds.tolist()])


def _following_names(
    names: NameRows, asked: Keys, reached: NDArray[np.int64], worth: NDArray[np.float64]
) -> tuple[Keys, NDArray[np.float64]]:
    """The names of the rows that were reached, without those asked for; each has the weight of its best row."""
    rows = _best_of(reached, worth[reached], _MOST_ROWS)
    keys, place = names.of(rows)
    weights = _FOLLOWED * worth[rows][place]
    order = np.lexsort((-weights, keys))
    keys, weights = keys[order], weights[order]
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    first &= (keys[:, np.newaxis] != asked).all(axis=1)
    chosen = _best_of(np.flatnonzero(first), weights[first], _MOST_NAMES)
    return keys[chosen], weights[chosen]


def _best_of(those: NDArray[np.int64], worth: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The `most` of the greatest worth, in their order; of equal ones the first."""
    if len(those) <= most:
        return those
    return those[np.sort(np.argsort(-worth, kind="stable")[:most])]
