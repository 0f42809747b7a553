"""Candidates of a query with their scores in each stage, and the best of them as results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.scores import Signal, fuse

_MOST_TIES = 100
_SAMPLED = 8  # one row of so many
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A found row with the raw score of each stage. One that is not `likely` has nothing in common with the query.

    One that `fits` has something in common with it by itself: a word, or enough of its meaning.
    """

    seq: int
    score: float
    effective_at: float
    signals: Mapping[str, float] = field(default_factory=dict)
    is_likely: bool = True
    fits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is said of found rows, by slot: whether they are likely, and whether they fit by themselves."""

    likely: Mask
    related: Mask


class Candidates:
    """The candidates and their scores in each stage: `raw`, and scaled to [0, 1]."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.raw: dict[str, Signal] = {}
        self.scaled: dict[str, Signal] = {}

    def take(self, stage: str, raw: Signal, scaled: Signal | None = None) -> None:
        """Record the scores of `stage`, in the order of `rows`."""
        self.raw[stage], self.scaled[stage] = raw, np.clip(raw if scaled is None else scaled, 0.0, 1.0)

    def only(self, order: Rows) -> "Candidates":
        """The part with some of the rows, in this order; shares the arrays if that is all of them as they are."""
        kept = Candidates(self.rows[order])
        if len(order) == len(self.rows):
            kept.raw, kept.scaled = dict(self.raw), dict(self.scaled)
            return kept
        for stage, values in self.raw.items():
            kept.raw[stage], kept.scaled[stage] = values[order], self.scaled[stage][order]
        return kept


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Rows with their fused scores, and their raw ones by stage; NaN where a stage did not score a row."""

    rows: Rows
    score: NDArray[np.float64]
    raw: Mapping[str, Signal]

    def where(self, mask: Mask) -> "Scored":
        """The rows in a mask by slot; the same without one that leaves any out."""
        kept = np.flatnonzero(mask[self.rows])
        return self if len(kept) == len(self.rows) else self.at(kept)

    def at(self, places: Rows) -> "Scored":
        """The rows at some positions, in this order."""
        raw = {stage: values[places] for stage, values in self.raw.items()}
        return Scored(self.rows[places], self.score[places], raw)


def fused_scores(kinds: Sequence[tuple[Candidates, Mapping[str, float]]]) -> Scored:
    """The candidates of all kinds with the scores that the weights of each kind give."""
    kinds = [(found, weights) for found, weights in kinds if len(found.rows)] or kinds[:1]
    return joined_scores([Scored(found.rows, fuse(found.scaled, weights), found.raw) for found, weights in kinds])


def joined_scores(parts: Sequence[Scored]) -> Scored:
    """All rows, those of one part behind those of the other."""
    raw = {
        stage: np.concatenate([part.raw.get(stage, np.full(len(part.rows), np.nan)) for part in parts])
        for stage in dict.fromkeys(stage for part in parts for stage in part.raw)
    }
    return Scored(np.concatenate([part.rows for part in parts]), np.concatenate([part.score for part in parts]), raw)


def strongest(score: NDArray[np.float64], count: int) -> Rows:
    """Positions of the `count` best, ascending.

    Of very many, those below the `count` best of a sample are left out first: that takes a tenth of the time.
    """
    rows = np.arange(len(score))
    if len(score) > count * _SAMPLED * _SAMPLED:
        rows = np.flatnonzero(score >= np.partition(score[::_SAMPLED], -count)[-count])
    if len(rows) <= count:
        return rows
    return rows[np.sort(np.argpartition(-score[rows], count)[:count])]


def best_order(index: ScopeIndex, scored: Scored, limit: int, threshold: float = 0.0) -> Rows:
    """Positions of the `limit` best at or over the threshold, best first; ties by newer effective time.

    And those that tie with the last of them: the caller, who knows their ids, cuts.
    """
    rows, score = scored.rows, scored.score
    # Sorting all rows of a large store takes longer than ranking them.
    least = max(threshold, np.partition(score, -limit)[-limit]) if len(rows) > limit else threshold
    order = np.flatnonzero(score >= least)
    effective_at = _effective_at(index, rows[order])
    sorting = np.lexsort((-index.seqs[rows[order]], -effective_at, -score[order]))
    order, effective_at = order[sorting], effective_at[sorting]
    if len(order) > limit:
        ties = (score[order] == score[order[limit - 1]]) & (effective_at == effective_at[limit - 1])
        order = order[: max(limit, int(np.flatnonzero(ties)[-1]) + 1)][: limit + _MOST_TIES]
    return order


def ranked_rows(index: ScopeIndex, scored: Scored, order: Rows, marks: Marks | None = None) -> list[Ranked]:
    """The results at these positions."""
    rows = scored.rows[order]
    # lists, because single elements of arrays are slow to read
    stages = [(stage, values[order].tolist()) for stage, values in scored.raw.items()]
    likely, fits = (
        ([True] * len(rows), [False] * len(rows))
        if marks is None
        else (marks.likely[rows].tolist(), marks.related[rows].tolist())
    )
    columns = (index.seqs[rows].tolist(), scored.score[order].tolist(), _effective_at(index, rows).tolist())
    return [
        Ranked(
            seq=seq,
            score=score,
            effective_at=when,
            signals={stage: round(value, 4) for stage, values in stages if (value := values[at]) == value},
            is_likely=likely[at],
            fits=fits[at],
        )
        for at, (seq, score, when) in enumerate(zip(*columns, strict=True))
    ]


def _effective_at(index: ScopeIndex, rows: Rows) -> NDArray[np.float64]:
    return np.nan_to_num(index.effective_at[rows], posinf=0.0)
