"""One query against one index: the stages in order, each optional and each reported.

Rows the reader may not see are masked out before anything is ranked. Then words and vectors each select rows relevant
to the query, so that either finds what the other missed; a first fusion orders these; late interaction scores the
best of them again; a last fusion decides.

Without relevant rows the result is empty: a row needs a word of the query, in itself or its window, or a significant
cosine. Speaker and date select no rows, they only reorder those selected.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.clock import from_epoch
from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.search.cues import Addressed, Calendar, named_spans
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.indexing import sentence_vector
from mnemoir.search.questions import NOT_MULTILINGUAL, MultilingualQuery
from mnemoir.search.scores import (
    Closeness,
    Signal,
    WordScores,
    above_rest,
    closeness,
    cosines_of,
    fuse,
    has_tokens,
    late_scores,
    mixed_closeness,
    token_weights,
    with_far_ones,
    word_scores,
)
from mnemoir.search.spaces import MULTILINGUAL
from mnemoir.search.terms import query_terms
from mnemoir.search.vector_rows import VectorRows
from mnemoir.search.weights import Weights

_DAY_S = 86400.0
_MOST_TIES = 100
_SAMPLED = 8  # one row of so many
_LONGEST_DATED = 2000  # a longer text is pasted, and its dates are not those of the question

Codes = Callable[[Sequence[int]], Mapping[int, bytes]]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search query. No `embedding` means no vectors now; `codes` fetches token codes by `seq`.

    `as_own` is the embedding of the query as its user would ask it, for facts; None if the query says it so already.
    `multilingual` is the query for the multilingual model. With `shows_unlikely`, few facts are all found, however
    far from the query. `among` are the rows, by slot, that may be found; the others still count for windows and
    statistics, so that a row's score does not depend on this filter. With `related`, a row itself must share a word
    with the query or have a near vector.
    """

    text: str
    addressed: Addressed
    embedding: Embedding | None
    multilingual: MultilingualQuery = NOT_MULTILINGUAL
    asked_at: datetime
    limit: int
    threshold: float
    codes: Codes
    as_own: Embedding | None = None
    shows_unlikely: bool = False
    among: Mask | None = None
    related: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """The report of a stage: the reason why it was skipped, "" when it ran."""

    took_ms: float = 0.0
    skipped: str = ""


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


class Stages:
    """Times each stage of one search."""

    def __init__(self) -> None:
        self.reports: dict[str, StageReport] = {}

    @contextmanager
    def run(self, name: str) -> Iterator[None]:
        """Record the duration of the block."""
        started = time.perf_counter()
        yield
        self.reports[name] = StageReport(took_ms=(time.perf_counter() - started) * 1e3)

    def skip(self, name: str, why: str) -> None:
        """Record that the stage did not run."""
        self.reports[name] = StageReport(skipped=why)


def rank(index: ScopeIndex, query: Query, shown: Mask, weights: Weights, stages: Stages) -> list[Ranked]:
    """Best first, at most `limit` and those that tie with the last; ties by newer effective time."""
    with stages.run("words"):
        words = word_scores(index, query_terms(query.addressed.bare, query.multilingual.language), shown)
    close = _closeness(index, query, shown, weights, stages)
    cosine = None if close is None else close.cosine
    related = _related_rows(words, close)
    likely = related if query.related else _evident(index, words, cosine, shown, weights, query.limit)
    marks = Marks(likely=likely, related=related)
    wanted = shown & (likely | _few_facts(index, query, cosine, shown, weights))
    rows = np.flatnonzero(wanted if query.among is None else wanted & query.among)
    found = _Found(rows)
    found.take("words", words.item[rows])
    found.take("window", words.window[rows])
    _speaker(index, query, found, stages)
    _date(index, query, found, stages)
    if close is None:
        stages.skip("late", "no vectors")
        return _best(index, query, marks, [(found, weights.lexical)])
    found.take("vector", close.cosine[rows], close.rested[rows])
    is_fact, is_foreign = index.is_fact[rows], index.vectors_in(MULTILINGUAL).has_vector[rows]
    facts = found.only(np.flatnonzero(is_fact))
    foreign = found.only(np.flatnonzero(~is_fact & is_foreign))
    messages = found.only(np.flatnonzero(~is_fact & ~is_foreign))
    facts.take("words", words.known * facts.raw["words"])
    facts.take("vector", facts.raw["vector"], with_far_ones(facts.raw["vector"], facts.scaled["vector"]))
    compared = _late(index, query, messages, weights, stages)
    return _best(index, query, marks, [(facts, weights.facts), (foreign, weights.first), compared])


def newest(index: ScopeIndex, shown: Mask, limit: int) -> list[Ranked]:
    """The most recently changed rows, without a score: for queries without anything to compare."""
    rows = np.flatnonzero(shown)
    return _first(index, rows, np.zeros(len(rows)), limit)


def nearest_facts(
    index: ScopeIndex, text: str, embedding: Embedding | None, shown: Mask, k: int, weights: Weights
) -> list[Ranked]:
    """The `k` rows most similar to `text`, by words and cosine alone."""
    words = word_scores(index, query_terms(text), shown)
    cosine = index.main.cosines(sentence_vector(embedding)) if embedding else None
    if cosine is not None and np.isnan(cosine[shown]).all():
        cosine = None
    alone = replace(words, window=np.zeros_like(words.window))
    found = _Found(np.flatnonzero(_evident(index, alone, cosine, shown, weights)))
    found.take("words", words.item[found.rows])
    if cosine is not None:
        rested = above_rest(cosine, weights.resting_cosine, weights.resting_rows)
        found.take("cosine", cosine[found.rows], rested[found.rows])
    score = fuse(found.scaled, {"words": weights.first["words"], "cosine": weights.first["vector"]})
    return _first(index, found.rows, score, k, found.raw)


def nearest_rows(index: ScopeIndex, vector: FloatArray, shown: Mask, limit: int) -> list[Ranked]:
    """The rows whose vectors are nearest to a unit `vector` of their dimension, by exact cosine alone, -1 to 1.

    At most `limit`, best first; ties in order of `seq`. Rows without a vector are left out.
    """
    rows = np.flatnonzero(shown & index.has_vector)
    cosine = np.clip(cosines_of(index, vector, rows), -1.0, 1.0)
    if len(rows) > limit:
        kept = cosine >= np.partition(cosine, -limit)[-limit]
        rows, cosine = rows[kept], cosine[kept]
    order = np.lexsort((index.seqs[rows], -cosine))[:limit]
    return [
        Ranked(
            seq=int(index.seqs[rows[at]]),
            score=float(cosine[at]),
            effective_at=float(index.effective_at[rows[at]]),
            signals={"vector": float(cosine[at])},
        )
        for at in order.tolist()
    ]


class _Found:
    """The candidates and their scores in each stage: `raw`, and scaled to [0, 1]."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.raw: dict[str, Signal] = {}
        self.scaled: dict[str, Signal] = {}

    def take(self, stage: str, raw: Signal, scaled: Signal | None = None) -> None:
        """Record the scores of `stage`, in the order of `rows`."""
        self.raw[stage], self.scaled[stage] = raw, np.clip(raw if scaled is None else scaled, 0.0, 1.0)

    def only(self, order: Rows) -> "_Found":
        """The part with some of the rows, in this order; shares the arrays if that is all of them as they are."""
        kept = _Found(self.rows[order])
        if len(order) == len(self.rows):
            kept.raw, kept.scaled = dict(self.raw), dict(self.scaled)
            return kept
        for stage, values in self.raw.items():
            kept.raw[stage], kept.scaled[stage] = values[order], self.scaled[stage][order]
        return kept


def _closeness(index: ScopeIndex, query: Query, shown: Mask, weights: Weights, stages: Stages) -> Closeness | None:
    """How near the rows are, by slot; None when there is nothing to compare."""
    if query.embedding is None and query.multilingual.vector is None:
        stages.skip("vectors", "the embedding model gave no answer")
        return None
    with stages.run("vectors"):
        main, foreign = np.full(len(index), np.nan, np.float32), None
        if query.embedding is not None:
            own = None if query.as_own is None else sentence_vector(query.as_own)
            main = _cosines(index, index.main, sentence_vector(query.embedding), own)
        if (vector := query.multilingual.vector) is not None:
            foreign = _cosines(index, index.vectors_in(MULTILINGUAL), vector, query.multilingual.as_own)
    if foreign is not None and np.isfinite(foreign[shown]).any():
        return mixed_closeness(index, main, foreign, query.multilingual.share, weights)
    if np.isnan(main[shown]).all():
        stages.skip("vectors", "no row has a vector of this model yet")
        return None
    return closeness(main, weights)


def _cosines(index: ScopeIndex, rows: VectorRows, asked: FloatArray, as_own: FloatArray | None) -> FloatArray:
    """The cosines of a model by slot. A fact is compared with the middle of the query's two phrasings."""
    if as_own is None or not index.is_fact.any():
        return rows.cosines(asked)
    middle = asked + as_own
    middle /= float(np.linalg.norm(middle)) or 1.0
    of_facts = rows.cosines(middle)
    return of_facts if index.is_fact.all() else np.where(index.is_fact, of_facts, rows.cosines(asked))


def _evident(
    index: ScopeIndex, words: WordScores, cosine: FloatArray | None, shown: Mask, weights: Weights, few: int = 0
) -> Mask:
    """The rows relevant to the query.

    All of them are fused, not the best of each stage: a row that is middling by every stage, but said by the right
    person on the right day, would else be lost (half a point of recall). Where no word says which and all rows
    together are `few`, one that is near brings in all messages: leaving out the far ones makes no room for anything.
    """
    evident: Mask = shown & ((words.item > 0) | (words.window > 0))
    if cosine is not None and bool((shown & (cosine >= weights.anchor_cosine)).any()):
        takes_all = np.count_nonzero(shown) <= few and not evident.any()
        evident |= cosine >= weights.least_cosine
        if takes_all:
            evident |= np.isfinite(cosine) & ~index.is_fact  # facts have a rule of their own
    return evident & shown


def _related_rows(words: WordScores, close: Closeness | None) -> Mask:
    """The rows relevant by themselves, without their window; those without a vector by words alone."""
    related: Mask = words.item > 0
    return related if close is None else related | close.related


def _few_facts(index: ScopeIndex, query: Query, cosine: FloatArray | None, shown: Mask, weights: Weights) -> Mask:
    """All facts that are shown where they are few: leaving out the far ones makes no room for anything.

    And a small model is often wrong about them: "which sports?" is 0.04 from "Rows every morning".
    """
    facts: Mask = shown & index.is_fact
    if not query.shows_unlikely or cosine is None or np.count_nonzero(facts) > weights.few_facts:
        return np.zeros_like(facts)
    return facts & np.isfinite(cosine)


def _speaker(index: ScopeIndex, query: Query, found: _Found, stages: Stages) -> None:
    """Score the rows of the speaker that the query names; of two named speakers both count."""
    names = query.addressed.names
    if len(names) != 1:
        stages.skip("speaker", f"{len(names)} participants named")
        return
    with stages.run("speaker"):
        said = (index.speakers[found.rows] == index.codes.code_or_none(names[0])).astype(np.float32)
        found.take("speaker", said)


def _date(index: ScopeIndex, query: Query, found: _Found, stages: Stages) -> None:
    """Score the rows within the query's dates, a day wider on either side, since time zones may differ."""
    with stages.run("date"):
        spans = named_spans(query.text[:_LONGEST_DATED], _calendar(index, query.asked_at))
        said_at = index.said_at[found.rows]
        within = np.zeros(len(said_at), bool)
        for span in spans:
            first, last = _midnight(span.first), _midnight(span.last)
            within |= (said_at >= first - _DAY_S) & (said_at < last + 2 * _DAY_S)
    if not spans:
        stages.skip("date", "no date named")
        return
    found.take("date", within.astype(np.float32))


def _calendar(index: ScopeIndex, asked_at: datetime) -> Calendar:
    years = [end.year for end in map(from_epoch, index.said_between()) if end is not None] or [asked_at.year]
    return Calendar(today=asked_at.astimezone(UTC).date(), years=range(years[0], years[-1] + 1))


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _late(
    index: ScopeIndex, query: Query, found: "_Found", weights: Weights, stages: Stages
) -> tuple["_Found", Mapping[str, float]]:
    """The candidates with the late score of the strongest, and the weights that fit what is known of them."""
    if query.embedding is None or not has_tokens(query.embedding) or not len(found.rows):
        stages.skip("late", "no token vectors, or no message to look at")
        return found, weights.first
    if query.multilingual.share == 1.0:
        stages.skip("late", "the model of the tokens does not know the language")
        return found, weights.first
    with stages.run("late"):
        head = found.only(_strongest(fuse(found.scaled, weights.first), max(weights.late_candidates, query.limit)))
        seqs = index.seqs[head.rows].tolist()
        late = late_scores(query.embedding, token_weights(index, query.embedding), query.codes(seqs), seqs)
    if np.isnan(late).all():
        stages.skip("late", "no row has token codes")
        return found, weights.first
    head.take("late", late, late / weights.late_high)
    return head, weights.final


def _strongest(score: NDArray[np.float64], count: int) -> Rows:
    """Positions of the `count` best, ascending.

    Of very many, those below the `count` best of a sample are left out first: that takes a tenth of the time.
    """
    rows = np.arange(len(score))
    if len(score) > count * _SAMPLED * _SAMPLED:
        rows = np.flatnonzero(score >= np.partition(score[::_SAMPLED], -count)[-count])
    if len(rows) <= count:
        return rows
    return rows[np.sort(np.argpartition(-score[rows], count)[:count])]


def _best(
    index: ScopeIndex, query: Query, marks: Marks, kinds: Sequence[tuple["_Found", Mapping[str, float]]]
) -> list[Ranked]:
    """The best of all candidates at or over the threshold; each kind of rows comes with its weights."""
    kinds = [(found, weights) for found, weights in kinds if len(found.rows)] or kinds[:1]
    rows = np.concatenate([found.rows for found, _ in kinds])
    score = np.concatenate([fuse(found.scaled, weights) for found, weights in kinds])
    raw = {
        stage: np.concatenate([found.raw.get(stage, np.full(len(found.rows), np.nan)) for found, _ in kinds])
        for stage in dict.fromkeys(stage for found, _ in kinds for stage in found.raw)
    }
    return _first(index, rows, score, query.limit, raw, marks, threshold=query.threshold)


def _first(
    index: ScopeIndex,
    rows: Rows,
    score: NDArray[np.float64],
    limit: int,
    raw: Mapping[str, Signal] | None = None,
    marks: Marks | None = None,
    threshold: float = 0.0,
) -> list[Ranked]:
    """The `limit` best, and those that tie with the last of them: the caller, who knows their ids, cuts."""
    # Sorting all rows of a large store takes longer than ranking them.
    least = max(threshold, np.partition(score, -limit)[-limit]) if len(rows) > limit else threshold
    order = np.flatnonzero(score >= least)
    effective_at = np.nan_to_num(index.effective_at[rows[order]], posinf=0.0)
    sorting = np.lexsort((-index.seqs[rows[order]], -effective_at, -score[order]))
    order, effective_at = order[sorting], effective_at[sorting]
    if len(order) > limit:
        ties = (score[order] == score[order[limit - 1]]) & (effective_at == effective_at[limit - 1])
        order = order[: max(limit, int(np.flatnonzero(ties)[-1]) + 1)][: limit + _MOST_TIES]
    return [
        Ranked(
            seq=int(index.seqs[rows[at]]),
            score=float(score[at]),
            effective_at=float(when),
            signals={
                stage: round(float(values[at]), 4)
                for stage, values in (raw or {}).items()
                if values[at] == values[at]
            },
            is_likely=marks is None or bool(marks.likely[rows[at]]),
            fits=marks is not None and bool(marks.related[rows[at]]),
        )
        for at, when in zip(order.tolist(), effective_at.tolist(), strict=False)  # `order` may be cut
    ]
