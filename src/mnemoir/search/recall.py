"""Recall: finds the memories relevant to a question.

Two steps. The question is embedded, on the embedding model's own thread; then one hop into a reader thread of the
store does all the rest over one snapshot: bring the user's index up to date, rank, fetch the winners. An index that
is not in memory is built first, in separate snapshots; a search that would wait too long uses the part that is ready.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import structlog

from mnemoir.core.errors import NotSupported, ProviderError, places_of
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Hit, Memory, Space
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.memory_store import ListFilter, Visible
from mnemoir.ports.search_rows import SearchRows, SearchSnapshot
from mnemoir.search.candidates import Ranked
from mnemoir.search.cues import Addressed, address, as_own
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.indexing import fact_passage
from mnemoir.search.linked import LINKS, Linked, NameReader, linked_rows
from mnemoir.search.maps import Maps, MemoryMap, Selection, select_rows
from mnemoir.search.questions import NOT_MULTILINGUAL, EmbeddedQuestions, Multilingual, MultilingualQuery
from mnemoir.search.ranking import Query, Ranking, StageReport, Stages, nearest_facts, newest, ranking_of
from mnemoir.search.residents import MOST_BYTES, Budget, Residents
from mnemoir.search.scores import Pair, alike_pairs
from mnemoir.search.spaces import MULTILINGUAL
from mnemoir.search.weights import Weights

VECTORS_PENDING = "vectors_pending"
_log = structlog.get_logger(__name__)
_PATIENCE_S = 1.0
_PLACES = {1: "agent", 2: "app", 3: "conversation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A search request. `limit` is at least 1; hits below `threshold` (0 to 1) are left out.

    `before` is what was said just before it, as far as known. With `among`, only memories that this filter lists are
    found, including decayed or expired ones if it lists them. With `shows_unlikely`, few facts are all found.
    """

    text: str
    limit: int = 5
    threshold: float = 0.0
    asked_at: datetime
    before: Sequence[str] = ()
    among: ListFilter | None = None
    shows_unlikely: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first; ties by newer effective time, then id.

    `degraded` names what was missing: `vectors` (the embedding model gave no answer), `vectors_pending` (some
    memories have none yet), `index_building` (not all memories are in the index yet), `language` (no model for the
    question's language), `links` (trouble with these). `stages` has the duration of each stage, or the reason why it
    did not run.

    `linked` are what may take the last places (`search.linked.with_linked_hits`), the best first. `no_room` counts
    the hits that were left out since they have too many tokens.
    """

    hits: list[Hit]
    no_room: int = 0
    linked: Sequence[Hit] = ()
    degraded: tuple[str, ...] = ()
    stages: Mapping[str, StageReport] = field(default_factory=dict)


class Recall:
    """Searches one store. `most_bytes` bounds the indexes kept in memory; `aclose` ends it."""

    def __init__(
        self,
        rows: SearchRows,
        embedding: EmbeddingModel,
        *,
        weights: Weights | None = None,
        most_bytes: int = MOST_BYTES,
        packs: IndexPacks | None = None,
        patience_s: float = _PATIENCE_S,
        note_pending: Callable[[], None] = lambda: None,
        multilingual: Multilingual | None = None,
        spaces: Sequence[Space] = (),
        of_all_times: SearchRows | None = None,
        names: NameReader | None = None,
    ) -> None:
        """`packs` keep large indexes between two runs; a search waits `patience_s` for one that is not there.

        `note_pending` is called when a search finds memories without a vector. Without `multilingual`, questions and
        memories are treated as English. `spaces` are the further ones that indexes hold. Searches of the past read
        the rows `of_all_times` and have indexes of their own, so that closed memories change no rank among the
        current ones. Without `names` no memory is found by its links.
        """
        self._names = names
        self._rows = rows
        self._embedding = embedding
        self._weights = weights or Weights()
        self._patience_s = patience_s
        self._note_pending = note_pending
        self._multilingual = multilingual
        budget = Budget(most_bytes)

        def residents(packs: IndexPacks | None) -> Residents:
            return Residents(embedding.name, embedding.dimension, spaces=spaces, packs=packs, budget=budget)

        self._residents = residents(packs)
        self._past = None if of_all_times is None else (of_all_times, residents(None))
        self._questions = EmbeddedQuestions(embedding)
        self._maps = Maps()

    def forget(self, scope: Scope) -> None:
        """Drop the indexes and maps of the scope's user, whose rows were all deleted."""
        self._maps.forget(scope)
        self._residents.forget(scope)
        if self._past is not None:
            self._past[1].forget(scope)

    async def search(self, scope: Scope, question: Question, visible: Visible) -> SearchResult:
        """The memories relevant to the question; no hits when there are none.

        Without vectors and without a word in common, the newest memories with score 0, so that a store without an
        embedding model still serves. An embedding model that fails degrades the result. Raises StorageUnavailable,
        and NotSupported for a `visible.at` where no past is kept.
        """
        rows, residents = self._rows_of(visible)
        is_built = await residents.build(rows, scope, self._patience_s)
        patience_s = self._patience_s if is_built else 0.0
        addressed = address(question.text, residents.speaker_names(scope))
        is_multilingual = residents.has_vectors_in(scope, MULTILINGUAL)
        look = await self._look(scope, question, visible, addressed, is_multilingual=is_multilingual)
        result = await residents.reading(rows, scope, look.unless_misread, patience_s)
        if not isinstance(result, SearchResult):
            look = await self._look(scope, question, visible, result, is_multilingual=is_multilingual)
            result = await residents.reading(rows, scope, look.result, patience_s)
        if VECTORS_PENDING in result.degraded:
            self._note_pending()
            if self._multilingual is not None:
                self._multilingual.note_pending()
        return result

    async def nearest(self, scope: Scope, texts: Sequence[str], visible: Visible, *, k: int) -> list[list[Hit]]:
        """For each text the `k` facts most like it, best first; `signals` has `cosine` and `words` when known.

        Facts that share neither meaning nor a word with it are left out. When the embedding model fails, words
        decide.
        """
        _refuse_past(visible)
        if not texts:
            return []
        try:
            embeddings: Sequence[Embedding | None] = await self._embedding.embed(
                [fact_passage(text) for text in texts]
            )
        except ProviderError:
            embeddings = [None] * len(texts)

        def rank_facts(view: SearchSnapshot, index: ScopeIndex, _: bool) -> list[list[Hit]]:
            shown = _visible_rows(index, scope, visible) & index.is_fact
            ranked = [
                nearest_facts(index, text, embedding, shown, k, self._weights)
                for text, embedding in zip(texts, embeddings, strict=True)
            ]
            memories = view.memories(scope.owner, [row.seq for rows in ranked for row in rows])
            return [_hits(memories, rows, k) for rows in ranked]

        return await self._residents.reading(self._rows, scope, rank_facts)

    async def alike(
        self, scope: Scope, visible: Visible, *, floor: float, most: int
    ) -> tuple[list[Memory], list[Pair]]:
        """The scope's facts, the newest `most` of them, newest first, and the pairs whose vectors are near."""
        _refuse_past(visible)

        def select_vectors(
            view: SearchSnapshot, index: ScopeIndex, _: bool
        ) -> tuple[list[Memory], list[int], FloatArray | None]:
            slots = np.flatnonzero(_visible_rows(index, scope, visible) & index.is_fact)[::-1][:most]
            seqs = [int(seq) for seq in index.seqs[slots]]
            has_vector = index.has_vector[slots]
            vectors = None if index.vectors is None else index.vectors[slots[has_vector]]
            memories = view.memories(scope.owner, seqs)
            with_vector = [place for place, has in enumerate(has_vector) if has]
            return [memories[seq] for seq in seqs], with_vector, vectors

        memories, places, vectors = await self._residents.reading(self._rows, scope, select_vectors)
        if vectors is None or not len(places):
            return memories, []
        near = await asyncio.to_thread(alike_pairs, vectors, floor)
        return memories, [Pair(places[pair.first], places[pair.second], pair.cosine) for pair in near]

    async def map(self, scope: Scope, among: ListFilter, recalled: Sequence[MemoryId]) -> MemoryMap:
        """A map of the memories that `among` lists; of too many the newest, and before them those `recalled`.

        Their places are those of a map of all that is visible then. Raises StorageUnavailable and NotSupported.
        """
        rows, residents = self._rows_of(among.visible)

        def select(view: SearchSnapshot, index: ScopeIndex, _: bool) -> Selection:
            is_visible = among.hidden == "without"
            shown = _visible_rows(index, scope, among.visible) if is_visible else _scope_rows(index, scope)
            return select_rows(view, index, scope.owner, shown, among, replace(among, hidden="with", ids=recalled))

        return await self._maps.draw(
            scope, among.visible.at is not None, lambda: residents.reading(rows, scope, select)
        )

    async def aclose(self) -> None:
        """Cancel index builds and finish writing packs."""
        await self._residents.aclose()
        if self._past is not None:
            await self._past[1].aclose()

    def _rows_of(self, visible: Visible) -> tuple[SearchRows, Residents]:
        """The rows to search, with their indexes."""
        if visible.at is None:
            return self._rows, self._residents
        if self._past is None:
            raise NotSupported(
                "This storage holds only what is current, so no earlier state can be searched. "
                "Set STORAGE_BACKEND=sqlite to keep superseded memories."
            )
        return self._past

    async def likeness(self, pairs: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], float]:
        """The cosines of pairs of texts by the multilingual model; empty where it is off or fails."""
        return {} if self._multilingual is None else await self._multilingual.likeness(pairs)

    async def _look(
        self, scope: Scope, question: Question, visible: Visible, addressed: Addressed, *, is_multilingual: bool
    ) -> "_Look":
        own = as_own(question.text, question.before)
        phrasings = [addressed.spoken, own] if own else [addressed.spoken]
        embeddings, multilingual = await asyncio.gather(
            self._questions.embeddings_of(phrasings),
            self._multilingual_query(scope, question, phrasings, is_in_use=is_multilingual),
        )
        embedding = embeddings[0] if embeddings else None
        own_embedding = embeddings[1] if embeddings and own else None
        return _Look(
            self._weights, scope, question, visible, addressed, embedding, own_embedding, multilingual, self._names
        )

    async def _multilingual_query(
        self, scope: Scope, question: Question, phrasings: Sequence[str], *, is_in_use: bool
    ) -> MultilingualQuery:
        if self._multilingual is None:
            return NOT_MULTILINGUAL
        share = self._weights.multilingual_share
        return await self._multilingual.query(
            scope, question.text, phrasings, is_in_use=is_in_use, english_share=share
        )


@dataclass(frozen=True, slots=True)
class _Look:
    """One search, run inside a reader thread."""

    weights: Weights
    scope: Scope
    question: Question
    visible: Visible
    addressed: Addressed
    embedding: Embedding | None
    as_own: Embedding | None
    multilingual: MultilingualQuery
    names: NameReader | None

    def unless_misread(self, view: SearchSnapshot, index: ScopeIndex, is_whole: bool) -> SearchResult | Addressed:
        """The result; or the question reworded with the speakers now known, to be embedded again."""
        now = address(self.question.text, index.speaker_names())
        return now if now != self.addressed else self.result(view, index, is_whole)

    def result(self, view: SearchSnapshot, index: ScopeIndex, is_whole: bool) -> SearchResult:
        """The result, even if new speakers have appeared."""
        question, owner = self.question, self.scope.owner
        shown, among = self._shown_rows(index), self._among(view, index)
        query = Query(
            text=question.text,
            addressed=self.addressed,
            embedding=self.embedding,
            multilingual=self.multilingual,
            asked_at=question.asked_at,
            limit=question.limit,
            threshold=question.threshold,
            codes=lambda seqs: view.token_codes(owner, seqs),
            as_own=self.as_own,
            shows_unlikely=question.shows_unlikely,
            among=among,
        )
        stages = Stages()
        ranking = ranking_of(index, query, shown, self.weights, stages)
        ranked = ranking.best()
        found = shown if among is None else shown & among
        if not ranked and stages.reports["vectors"].skipped and not question.threshold:
            ranked = newest(index, found, question.limit)
        linked, are_links_missing = self._linked_rows(ranking, found, stages)
        seqs = dict.fromkeys(row.seq for row in (*ranked, *(one.row for one in linked)))
        memories = view.memories(owner, list(seqs))
        parts = (*self._degraded_parts(index, found), *(() if is_whole else ("index_building",)))
        return SearchResult(
            hits=_hits(memories, ranked, question.limit),
            linked=[_hit_of(memories[one.row.seq], one.row, one.by) for one in linked if one.row.seq in memories],
            degraded=(*parts, LINKS) if are_links_missing else parts,
            stages=stages.reports,
        )

    def _linked_rows(self, ranking: Ranking, found: Mask, stages: Stages) -> tuple[Sequence[Linked], bool]:
        """The rows that are linked with the question, and whether looking for them failed."""
        if self.names is None:
            return (), False
        question = self.question
        try:
            asked = self.names.possible_names(question.text)
            return linked_rows(ranking, asked, found, question.limit, question.threshold, stages), False
        except Exception as exc:  # noqa: BLE001  # an answer without links is better than none
            error, where = type(exc).__name__, places_of(exc)
            _log.error("memories cannot be found by their links now", error=error, where=where)
            stages.skip(LINKS, "it failed")
            return (), True

    def _degraded_parts(self, index: ScopeIndex, shown: Mask) -> tuple[str, ...]:
        if self.embedding is None:
            return ("vectors", *self.multilingual.degraded)
        lacks = shown & ~index.has_vector
        if self.multilingual.vector is not None:
            lacks |= shown & index.is_fact & ~index.vectors_in(MULTILINGUAL).has_vector
        return (*((VECTORS_PENDING,) if bool(lacks.any()) else ()), *self.multilingual.degraded)

    def _shown_rows(self, index: ScopeIndex) -> Mask:
        among = self.question.among
        if among is None or among.hidden == "without":
            return _visible_rows(index, self.scope, self.visible)
        return _scope_rows(index, self.scope)

    def _among(self, view: SearchSnapshot, index: ScopeIndex) -> Mask | None:
        among = self.question.among
        if among is None or among.is_all:
            return None
        return np.isin(index.seqs, view.matching_seqs(self.scope.owner, among))


def _visible_rows(index: ScopeIndex, scope: Scope, visible: Visible) -> Mask:
    """The living rows of the scope that are neither decayed nor expired, and were valid at a time asked for."""
    shown = _scope_rows(index, scope) & (index.expires_at > visible.now.timestamp())
    if visible.horizon is not None:
        shown &= index.effective_at >= visible.horizon.timestamp()
    if visible.at is not None:
        shown &= index.valid_at(visible.at.timestamp())
    return shown


def _scope_rows(index: ScopeIndex, scope: Scope) -> Mask:
    """The living rows of the scope, including decayed and expired ones, by slot."""
    shown: Mask = index.alive.copy()
    for level, name in _PLACES.items():
        wanted = getattr(scope, name)
        if wanted is not None:
            shown &= index.place(level) == index.codes.code_or_none(wanted)
    return shown


def _hits(memories: Mapping[int, Memory], ranked: Sequence[Ranked], limit: int) -> list[Hit]:
    """Hits with ties ordered by id, cut to `limit`."""
    found = [(row, memories[row.seq]) for row in ranked if row.seq in memories]
    found.sort(key=lambda pair: (-pair[0].score, -pair[0].effective_at, pair[1].id))
    return [_hit_of(memory, row) for row, memory in found[:limit]]


def _hit_of(memory: Memory, row: Ranked, linked_by: int | None = None) -> Hit:
    return Hit(
        memory=memory,
        score=row.score,
        signals=row.signals,
        is_likely=row.is_likely,
        fits=row.fits,
        linked_by=linked_by,
    )


def _refuse_past(visible: Visible) -> None:
    if visible.at is not None:
        raise NotSupported(
            "Only what is current is compared. List or search the memories to see what was current earlier."
        )
