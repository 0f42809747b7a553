"""The resident index and what happens to the file behind it: deletions, damage, other processes, changed metadata."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.message_index import Asked, MessageIndex
from mnemoir.conversations.search.search_filter import SearchFilter, Wanted
from mnemoir.conversations.search.vectors import DimensionMismatchError
from mnemoir.search.residents import Budget
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.sql.engine import queries
from tests.conversations.search_kit import WordsClient, manager, say
from tests.conversations.session_kit import behind_the_back, said
from tests.narrowing import instance, present
from tests.search.hashed_words import HashedWords


def _found(memory: MemoryManager, query: str, limit: int = 5, **filters) -> list[str]:
    hits = asyncio.run(memory.search_hybrid(query, limit, SearchFilter(**filters)))
    return [hit.message.text for hit in hits]


def _saved(memory: MemoryManager, session: str, *texts: str) -> list[int]:
    return memory.storage.save_messages([said(text, session) for text in texts])


@pytest.mark.parametrize("is_own", [True, False])
def test_a_large_session_that_is_gone_hides_nothing_of_the_rest(tmp_path: Path, is_own: bool) -> None:
    with MemoryManager(tmp_path / "m.db") as memory, MemoryManager(tmp_path / "m.db") as other:
        _saved(memory, "kept", "a cat on a mat")
        _saved(memory, "gone", *(f"cat cat cat {number}" for number in range(2000)))
        assert len(_found(memory, "cat", 9)) == 9
        (memory if is_own else other).delete_session("gone")
        assert _found(memory, "cat", 9) == ["a cat on a mat"]
        _saved(other, "late", "another cat")
        assert sorted(_found(memory, "cat", 9)) == ["a cat on a mat", "another cat"]


def test_what_was_deleted_weighs_nothing_any_more(tmp_path: Path) -> None:
    """A word that few rows hold counts much; rows that are gone must not make it common."""
    with manager(tmp_path, ModelEmbeddingClient(HashedWords())) as memory:
        say(memory, "tea", "rum and tea and gin and ale")
        say(memory, *["rum"] * 20, session="gone")
        assert _found(memory, "rum", 1) == ["rum"]
        memory.delete_session("gone")
        with MemoryManager(instance(MemoryStorage, memory.storage).db_path) as fresh:
            assert _found(memory, "rum") == _found(fresh, "rum")


def test_a_row_that_was_damaged_since_is_passed_over(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "m.db") as memory:
        first, _ = _saved(memory, "s", "a cat", "the cat")
        assert len(_found(memory, "cat")) == 2
        with behind_the_back(tmp_path / "m.db") as connection:
            connection.execute("UPDATE messages SET role = 'nobody' WHERE id = ?", (first,))
        assert _found(memory, "cat") == ["the cat"]


def test_vectors_that_come_later_take_part(tmp_path: Path) -> None:
    client = WordsClient()
    client.is_down = True
    with manager(tmp_path, client) as memory:
        say(memory, "the cat sat", "a train")
        assert _found(memory, "cat") == ["the cat sat", "a train"]
        client.is_down = False
        assert memory.backfill_embeddings() == 2
        [hit, _] = asyncio.run(memory.search_hybrid("cat", 5))
        assert hit.similarity is not None
        assert hit.score > 0


class _Unsearched(VectorFileStore):
    """Holds vectors, and refuses to look through them itself."""

    def search(self, *asked: object, **more: object) -> NoReturn:
        raise AssertionError("the store was searched")


def _similar(memory: MemoryManager, query: str, limit: int = 5) -> list[str]:
    return [hit.message.text for hit in asyncio.run(memory.search(query, limit))]


def test_one_index_answers_by_meaning_and_by_words(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient(), _Unsearched("v", tmp_path)) as memory:
        say(memory, "the cat sat", "a train", "the cat")
        assert _similar(memory, "the cat", 2) == ["the cat", "the cat sat"]
        assert asyncio.run(memory.search_hybrid("cat", 2, alpha=0.5))[0].message.text == "the cat"
        say(memory, "cat")
        assert _similar(memory, "cat", 1) == ["cat"]


def test_what_another_process_deleted_leaves_the_rest_in_the_one_index(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient(), _Unsearched("v", tmp_path)) as memory:
        say(memory, "the cat")
        say(memory, "a cat", session="gone")
        assert len(_similar(memory, "cat")) == 2
        with manager(tmp_path, WordsClient(), VectorFileStore("v", tmp_path)) as other:
            other.delete_session("gone")
        assert _similar(memory, "cat") == ["the cat"]


def test_two_stores_that_do_not_fit_together_are_both_searched_and_one_is_kept(tmp_path: Path) -> None:
    budget, asked = Budget(1), Asked(text="cat", embedding=None, limit=5, at=datetime.now(UTC))
    with MemoryManager(tmp_path / "a.db") as one, MemoryManager(tmp_path / "b.db") as other:
        indexes = [
            MessageIndex(instance(MemoryStorage, memory.storage), None, budget=budget) for memory in (one, other)
        ]
        for number, memory in enumerate((one, other)):
            _saved(memory, "s", f"cat {number}")
        for _ in range(2):
            found = [index.ranked_messages(asked, Wanted(filter=SearchFilter())) for index in indexes]
            assert [message.message.text for [(_, message)] in found] == ["cat 0", "cat 1"]
            assert [index.messages_in_memory for index in indexes] == [0, 1]


def test_equal_meanings_come_in_the_order_of_their_messages(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient(), _Unsearched("v", tmp_path)) as memory:
        say(memory, "cat", "dog", "cat", "cat")
        hits = asyncio.run(memory.search("cat", 2))
        assert [hit.message_id for hit in hits] == [1, 3]


def test_a_question_of_another_length_is_refused_by_name(tmp_path: Path) -> None:
    class Short(WordsClient):
        async def embed_single(self, text: str) -> list[float]:
            return [1.0, 0.0]

    with manager(tmp_path, Short()) as memory:
        say(memory, "the cat")
        with pytest.raises(DimensionMismatchError, match=r"2 dimensions.*1024"):
            asyncio.run(memory.search("cat"))


def test_a_session_belongs_to_whom_its_metadata_name_now(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "m.db") as memory:
        for number in range(50):
            memory.create_session("", {"user": f"u{number % 5}", "tags": [f"t{number % 3}"]}, f"s{number}")
            _saved(memory, f"s{number}", f"cat {number}")
        mine = [f"cat {number}" for number in range(0, 50, 5)]
        assert sorted(_found(memory, "cat", 50, user="u0")) == sorted(mine)
        assert len(_found(memory, "cat", 50, user="u0", tags_any=["t0"])) == 4
        memory.update_metadata("s0", {"user": "u1"})
        assert "cat 0" not in _found(memory, "cat", 50, user="u0")
        assert "cat 0" in _found(memory, "cat", 50, user="u1")


@pytest.mark.parametrize("user", ['"; DROP TABLE sessions; --', "a\\u0062", "é", "%", "", "\ud800"])
def test_a_users_name_is_compared_as_it_is(tmp_path: Path, user: str) -> None:
    with MemoryManager(tmp_path / "m.db") as memory:
        memory.create_session("", {"user": user}, "s")
        memory.create_session("", {"user": f"{user}x"}, "t")
        memory.create_session("", None, "u")
        for session in "stu":
            _saved(memory, session, f"cat of {session}")
        stored = present(memory.get_session("s")).metadata.user
        assert _found(memory, "cat", user=stored) == ["cat of s"]


def test_damaged_metadata_belong_to_nobody(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "m.db") as memory:
        for name, raw in {
            "text": '{"user": "ann"',
            "list": '["ann"]',
            "wrong": '{"user": "ann", "tags": 5}',
            "number": '{"user": 7}',
        }.items():
            _saved(memory, name, f"cat {name}")
            with behind_the_back(tmp_path / "m.db") as connection:
                connection.execute("UPDATE sessions SET metadata = ? WHERE id = ?", (raw, name))
        assert _found(memory, "cat", user="ann") == []
        assert len(_found(memory, "cat")) == 4
        assert len(_found(memory, "cat", visibility="shared")) == 4


def test_words_of_a_script_without_spaces_are_found_by_their_bigrams(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "m.db") as memory:
        _saved(memory, "a", "明天我们去北京开会")
        _saved(memory, "b", "京都的北边很安静")
        _saved(memory, "c", "東京タワーに行きました")
        assert _found(memory, "北京", 1) == ["明天我们去北京开会"]
        assert _found(memory, "东京 東京", 1) == ["東京タワーに行きました"]


def test_all_ids_come_from_an_index_and_not_from_the_texts(tmp_path: Path) -> None:
    storage = MemoryStorage(tmp_path / "m.db")
    storage.close()
    with behind_the_back(tmp_path / "m.db") as connection:
        query = queries("sessions/searching")["living"]
        [(*_, plan)] = connection.execute(f"EXPLAIN QUERY PLAN {query}", {"scope_id": 1})
    assert "COVERING INDEX" in plan
