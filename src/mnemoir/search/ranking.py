"""One query against one index: the stages in order, each optional and each reported.

Rows the reader may not see are masked out before anything is ranked. Then words and vectors each select rows relevant
to the query, so that either finds what the other missed; a first fusion orders these; late interaction scores the
best of them again; a last fusion decides. Last, what a message asks or answers moves it (`search.asking`).

Without relevant rows the result is empty: a row needs a word of the query, in itself or its window, or a significant
cosine. Speaker and date select no rows, they only reorder those selected.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

import numpy as np

from mnemoir.core.clock import from_epoch
from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.search.asking import with_answers, with_askers
from mnemoir.search.candidates import (
    Candidates,
    Marks,
    Ranked,
    Rows,
    Scored,
    best_order,
    fused_scores,
    joined_scores,
    ranked_rows,
    strongest,
)
from mnemoir.search.columns import NONE
from mnemoir.search.cues import Addressed, Calendar, named_spans
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.indexing import sentence_vector
from mnemoir.search.questions import NOT_MULTILINGUAL, MultilingualQuery
from mnemoir.search.scores import (
    Closeness,
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
_LONGEST_DATED = 2000  # a longer text is pasted, and its dates are not those of the question

Codes = Callable[[Sequence[int]], Mapping[int, bytes]]


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
    return ranking_of(index, query, shown, weights, stages).best()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """All candidates of a query with their scores, and how any other row would be scored.

    `order` are the positions of the best, as `rank` returns them.
    """

    index: ScopeIndex
    marks: Marks
    scored: Scored
    order: Rows
    measures: "_Measures"

    def best(self) -> list[Ranked]:
        """The results of `rank`."""
        return ranked_rows(self.index, self.scored, self.order, self.marks)

    def results_of(self, rows: Rows) -> list[Ranked]:
        """Any rows as results, in their order. Those that are no candidates have no score of late interaction."""
        place = np.full(len(self.index), NONE)
        place[self.scored.rows] = np.arange(len(self.scored.rows))
        at = place[rows]
        others = np.flatnonzero(at == NONE)
        if not len(others):
            return ranked_rows(self.index, self.scored, at, self.marks)
        known = np.flatnonzero(at != NONE)
        both = joined_scores([self.scored.at(at[known]), self.measures.scores_of(rows[others])])
        return ranked_rows(self.index, both, np.argsort(np.concatenate([known, others])), self.marks)


def ranking_of(index: ScopeIndex, query: Query, shown: Mask, weights: Weights, stages: Stages) -> Ranking:
    """The candidates of a query and their scores."""
    with stages.run("words"):
        words = word_scores(index, query_terms(query.addressed.bare, query.multilingual.language), shown)
    close = _closeness(index, query, shown, weights, stages)
    cosine = None if close is None else close.cosine
    related = _related_rows(words, close)
    likely = related if query.related else _evident(index, words, cosine, shown, weights, query.limit)
    wanted = shown & (likely | _few_facts(index, query, cosine, shown, weights))
    rows = np.flatnonzero(wanted if query.among is None else wanted & with_askers(index, query.among))
    speaker, dates = _speaker(index, query, stages), _dates(index, query, stages)
    measures = _Measures(index, words, close, speaker, dates, weights)
    kinds = measures.weighed_candidates(rows)
    if close is None:
        stages.skip("late", "no vectors")
    else:
        *others, (messages, _) = kinds
        kinds = [*others, _late(index, query, messages, weights, stages)]
    scored = with_answers(index, fused_scores(kinds), weights)
    if query.among is not None:
        scored = scored.where(query.among)
    return Ranking(
        index=index,
        marks=Marks(likely=likely, related=related),
        scored=scored,
        order=best_order(index, scored, query.limit, query.threshold),
        measures=measures,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Measures:
    """What rows are scored by, but for late interaction, which is for some of the candidates only.

    `speaker` is the code of the one that the query names, `dates` are the first and the last second of each date.
    """

    index: ScopeIndex
    words: WordScores
    close: Closeness | None
    speaker: tuple[int | None] | None
    dates: Sequence[tuple[float, float]]
    weights: Weights

    def weighed_candidates(self, rows: Rows) -> list[tuple[Candidates, Mapping[str, float]]]:
        """Rows with their scores, by kind, each with its weights; messages of the main model come last."""
        found, index = self._candidates(rows), self.index
        if self.close is None:
            return [(found, self.weights.lexical)]
        found.take("vector", self.close.cosine[rows], self.close.rested[rows])
        is_fact, is_foreign = index.is_fact[rows], index.vectors_in(MULTILINGUAL).has_vector[rows]
        facts = found.only(np.flatnonzero(is_fact))
        foreign = found.only(np.flatnonzero(~is_fact & is_foreign))
        messages = found.only(np.flatnonzero(~is_fact & ~is_foreign))
        facts.take("words", self.words.known * facts.raw["words"])
        facts.take("vector", facts.raw["vector"], with_far_ones(facts.raw["vector"], facts.scaled["vector"]))
        return [(facts, self.weights.facts), (foreign, self.weights.first), (messages, self.weights.first)]

    def scores_of(self, rows: Rows) -> Scored:
        """Rows with their fused scores."""
        return with_answers(self.index, fused_scores(self.weighed_candidates(rows)), self.weights)

    def _candidates(self, rows: Rows) -> Candidates:
        found = Candidates(rows)
        found.take("words", self.words.item[rows])
        found.take("window", self.words.window[rows])
        if self.speaker is not None:
            (code,) = self.speaker
            found.take("speaker", (self.index.speakers[rows] == code).astype(np.float32))
        if self.dates:
            said_at = self.index.said_at[rows]
            within = np.zeros(len(rows), bool)
            for first, last in self.dates:
                within |= (said_at >= first) & (said_at < last)
            found.take("date", within.astype(np.float32))
        return found


def newest(index: ScopeIndex, shown: Mask, limit: int) -> list[Ranked]:
    """The most recently changed rows, without a score: for queries without anything to compare."""
    rows = np.flatnonzero(shown)
    scored = Scored(rows, np.zeros(len(rows)), {})
    return ranked_rows(index, scored, best_order(index, scored, limit))


def nearest_facts(
    index: ScopeIndex, text: str, embedding: Embedding | None, shown: Mask, k: int, weights: Weights
) -> list[Ranked]:
    """The `k` rows most similar to `text`, by words and cosine alone."""
    words = word_scores(index, query_terms(text), shown)
    cosine = index.main.cosines(sentence_vector(embedding)) if embedding else None
    if cosine is not None and np.isnan(cosine[shown]).all():
        cosine = None
    alone = replace(words, window=np.zeros_like(words.window))
    found = Candidates(np.flatnonzero(_evident(index, alone, cosine, shown, weights)))
    found.take("words", words.item[found.rows])
    if cosine is not None:
        rested = above_rest(cosine, weights.resting_cosine, weights.resting_rows)
        found.take("cosine", cosine[found.rows], rested[found.rows])
    score = fuse(found.scaled, {"words": weights.first["words"], "cosine": weights.first["vector"]})
    scored = Scored(found.rows, score, found.raw)
    return ranked_rows(index, scored, best_order(index, scored, k))


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


def _speaker(index: ScopeIndex, query: Query, stages: Stages) -> tuple[int | None] | None:
    """The code of the speaker that the query names, whose rows count more; of two named speakers both count."""
    names = query.addressed.names
    if len(names) != 1:
        stages.skip("speaker", f"{len(names)} participants named")
        return None
    with stages.run("speaker"):
        return (index.codes.code_or_none(names[0]),)


def _dates(index: ScopeIndex, query: Query, stages: Stages) -> Sequence[tuple[float, float]]:
    """The query's dates, each a day wider on either side, since time zones may differ."""
    with stages.run("date"):
        spans = named_spans(query.text[:_LONGEST_DATED], _calendar(index, query.asked_at))
    if not spans:
        stages.skip("date", "no date named")
    return [(_midnight(span.first) - _DAY_S, _midnight(span.last) + 2 * _DAY_S) for span in spans]


def _calendar(index: ScopeIndex, asked_at: datetime) -> Calendar:
    years = [end.year for end in map(from_epoch, index.said_between()) if end is not None] or [asked_at.year]
    return Calendar(today=asked_at.astimezone(UTC).date(), years=range(years[0], years[-1] + 1))


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _late(
    index: ScopeIndex, query: Query, found: Candidates, weights: Weights, stages: Stages
) -> tuple[Candidates, Mapping[str, float]]:
    """The candidates with the late score of the strongest, and the weights that fit what is known of them."""
    if query.embedding is None or not has_tokens(query.embedding) or not len(found.rows):
        stages.skip("late", "no token vectors, or no message to look at")
        return found, weights.first
    if query.multilingual.share == 1.0:
        stages.skip("late", "the model of the tokens does not know the language")
        return found, weights.first
    with stages.run("late"):
        head = found.only(strongest(fuse(found.scaled, weights.first), max(weights.late_candidates, query.limit)))
        seqs = index.seqs[head.rows].tolist()
        late = late_scores(query.embedding, token_weights(index, query.embedding), query.codes(seqs), seqs)
    if np.isnan(late).all():
        stages.skip("late", "no row has token codes")
        return found, weights.first
    head.take("late", late, late / weights.late_high)
    return head, weights.final
