"""Another order for what was found: off by default, of the candidates alone, and the same each time."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.reranking import reranked_hits
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.semantic import SemanticSearch
from mnemoir.conversations.search.session_search import Rerank, SearchHit
from mnemoir.core.conversations import Message
from mnemoir.core.errors import InvalidRequest
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.search_kit import manager
from tests.conversations.session_kit import said
from tests.narrowing import instance
from tests.search.hashed_words import HashedWords

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ANY = SearchFilter()


def _hit(number: int, text: str, score: float, days: float | None = 0.0) -> SearchHit:
    at = None if days is None else (NOW - timedelta(days=days)).replace(tzinfo=None)
    message = Message("user", text)
    return SearchHit(message=message, message_id=number, session_id="s", similarity=score, created_at=at, score=score)


def _no_vectors(hits: Sequence[SearchHit]) -> None:
    return None


def _ids(hits: Sequence[SearchHit]) -> list[int]:
    return [hit.message_id for hit in hits]


def _order(hits: Sequence[SearchHit], asked: Rerank) -> list[int]:
    return _ids(reranked_hits("cat", hits, asked, NOW, _no_vectors))


def test_age_lowers_a_score_day_by_day() -> None:
    hits = [_hit(1, "a", 0.9, days=10), _hit(2, "b", 0.8, days=0), _hit(3, "c", 0.7, days=None)]
    found = reranked_hits("cat", hits, Rerank(temporal_decay=0.9), NOW, _no_vectors)
    assert _ids(found) == [2, 3, 1]
    assert found[-1].score == pytest.approx(0.9 * 0.9**10)
    assert _order(hits, Rerank(temporal_decay=1.0)) == [1, 2, 3]


def test_a_clock_that_was_set_back_makes_nothing_younger_than_now() -> None:
    assert _order([_hit(1, "a", 0.9), _hit(2, "b", 0.8, days=-9)], Rerank(temporal_decay=0.5)) == [1, 2]


def test_what_repeats_a_better_hit_goes_behind_what_does_not() -> None:
    hits = [_hit(1, "the cat sat", 0.9), _hit(2, "the cat sat", 0.89), _hit(3, "trains leave", 0.5)]
    assert _order(hits, Rerank(mmr_lambda=0.5)) == [1, 3, 2]
    assert _order(hits, Rerank(mmr_lambda=1.0)) == [1, 2, 3]


def test_likeness_is_that_of_vectors_where_all_have_one() -> None:
    hits = [_hit(1, "one", 0.9), _hit(2, "uno", 0.89), _hit(3, "three", 0.5)]
    rows = np.array([[1, 0], [1, 0.01], [0, 1]], np.float32)
    asked = Rerank(mmr_lambda=0.5)
    assert _ids(
        reranked_hits("cat", hits, asked, NOW, lambda found: rows[[hit.message_id - 1 for hit in found]])
    ) == [
        1,
        3,
        2,
    ]


def test_a_rerankers_scores_decide_whatever_their_size() -> None:
    hits = [_hit(1, "short", 0.9), _hit(2, "a longer text", 0.8), _hit(3, "long text", 0.7)]
    by_length = Rerank(reranker=lambda query, texts: [len(text) - 1000 for text in texts])
    found = reranked_hits("cat", hits, by_length, NOW, _no_vectors)
    assert [(hit.message_id, hit.score) for hit in found] == [(2, 1.0), (3, 0.5), (1, 0.0)]


@pytest.mark.parametrize("given", [[1.0], [1.0, float("nan")], ["x", "y"], None, [[1.0], [2.0]]])
def test_a_reranker_that_gives_no_number_for_each_text_is_told(given: Any) -> None:
    hits = [_hit(1, "a", 0.9), _hit(2, "b", 0.8)]
    with pytest.raises(InvalidRequest, match="each of 2 texts"):
        _order(hits, Rerank(reranker=lambda query, texts: given))


@pytest.mark.parametrize(
    "wrong", [{"temporal_decay": 0.0}, {"temporal_decay": 1.1}, {"mmr_lambda": -0.1}, {"mmr_lambda": float("nan")}]
)
def test_a_number_outside_its_limits_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidRequest, match=next(iter(wrong))):
        replace(Rerank(), **cast(Any, wrong))


_HITS = st.lists(
    st.builds(
        lambda text, score, days: (text, score, days),
        st.sampled_from(["", "cat", "cat mat", "mat", "a b c"]),
        st.sampled_from([-0.5, 0.0, 0.1, 0.1 + 1e-12, 0.5, 1.0]),
        st.sampled_from([None, 0.0, 1.0, 400.0]),
    ),
    max_size=8,
)
_ASKED = st.builds(
    Rerank,
    temporal_decay=st.sampled_from([None, 0.5, 1.0]),
    mmr_lambda=st.sampled_from([None, 0.0, 0.3, 1.0]),
    reranker=st.sampled_from([None, lambda query, texts: [len(text) for text in texts]]),
)


@given(_HITS, _ASKED)
def test_only_the_order_changes_and_always_in_the_same_way(made: list, asked: Rerank) -> None:
    hits = [_hit(number, *each) for number, each in enumerate(made)]
    order = _order(hits, asked)
    assert sorted(order) == _ids(hits)
    assert order == _order(hits, asked)


@given(_HITS)
def test_equal_hits_keep_the_order_they_had(made: list) -> None:
    hits = [_hit(number, text, 0.5) for number, (text, _, _) in enumerate(made)]
    assert _order(hits, Rerank(temporal_decay=0.5)) == _ids(hits)


@pytest.fixture
async def search(tmp_path: Path) -> AsyncIterator[SemanticSearch]:
    """Thirty messages, the older the nearer to the question."""
    with manager(tmp_path, ModelEmbeddingClient(HashedWords())) as memory:
        _say(memory)
        await memory.abackfill_embeddings()
        made = SemanticSearch(
            instance(MemoryStorage, memory.storage), memory.embedding_client, memory.vector_store, clock=lambda: NOW
        )
        yield made
        made.close()


def _say(memory: MemoryManager) -> None:
    began = NOW.replace(tzinfo=None) - timedelta(days=30)
    memory.storage.save_messages(
        [said("cat" + " mat" * number, created_at=began + timedelta(days=number)) for number in range(30)]
    )


async def test_a_search_is_ordered_anew_among_its_candidates_alone(search: SemanticSearch) -> None:
    plain = _ids(await search.search("cat", 30, filters=ANY))
    assert plain[:3] == [1, 2, 3]
    newest_first = Rerank(temporal_decay=0.01, candidates=5)
    for hits in (
        await search.search("cat", 3, filters=ANY, rerank=newest_first),
        await search.search_hybrid("cat", 3, filters=ANY, rerank=newest_first),
        await search.search_hybrid("cat", 3, filters=ANY, alpha=1.0, rerank=newest_first),
    ):
        assert _ids(hits) == [5, 4, 3]
    whole = await search.search("cat", 30, filters=ANY, rerank=newest_first)
    assert sorted(_ids(whole)) == sorted(plain)


async def test_the_least_similarity_holds_for_candidates(search: SemanticSearch) -> None:
    least = (await search.search("cat", 3, filters=ANY))[-1].similarity
    hits = await search.search("cat", 9, filters=ANY, min_similarity=least, rerank=Rerank(temporal_decay=0.01))
    assert _ids(hits) == [3, 2, 1]


async def test_near_repeats_stand_apart_by_their_vectors(search: SemanticSearch) -> None:
    """The best hit says what the question says: at half and half, likeness to it would undo every score."""
    hits = await search.search("cat", 3, filters=ANY, rerank=Rerank(mmr_lambda=0.4, candidates=30))
    assert _ids(hits)[0] == 1
    assert _ids(hits)[1] > 9


async def test_what_a_reranker_raises_is_the_callers_to_see(search: SemanticSearch) -> None:
    def broken(query: str, texts: Sequence[str]) -> list[float]:
        raise ConnectionError("the reranker is down")

    with pytest.raises(ConnectionError, match="reranker is down"):
        await search.search_hybrid("cat", 3, filters=ANY, rerank=Rerank(reranker=broken))
