"""One contract over every vector store."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mnemoir.conversations.search.vectors import DimensionMismatchError, VectorStore
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import OpenVectorStore

Make = Callable[[Path | None], OpenVectorStore]
X, Y, XY, NOT_X = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]


def _built_in(directory: Path | None) -> VectorFileStore:
    return VectorFileStore("notes", directory)


def _chroma(directory: Path | None) -> OpenVectorStore:
    pytest.importorskip("chromadb")
    from mnemoir.storage.conversations.chroma_store import ChromaDBVectorStore

    return ChromaDBVectorStore("notes", directory)


STORES = {"built-in": _built_in, "chromadb": _chroma}


@pytest.fixture(params=STORES.values(), ids=list(STORES))
def make(request: pytest.FixtureRequest) -> Make:
    found: Make = request.param
    return found


@pytest.fixture(params=[True, False], ids=["file", "memory"])
def store(make: Make, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenVectorStore]:
    made = make(tmp_path if request.param else None)
    yield made
    made.close()


@pytest.fixture
def filled(store: OpenVectorStore) -> OpenVectorStore:
    store.add(
        ["a", "b", "c"],
        [X, Y, XY],
        ["first", "second", "third"],
        [{"n": 1, "kind": "x", "ok": True}, {"n": 2, "kind": "y", "ok": False}, {"n": 3.5}],
    )
    return store


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except InvalidRequest:
        return True
    return False


def test_nearest_come_first_with_cosine_distances(filled: VectorStore) -> None:
    ids, documents, metadata, distances = filled.search([2.0, 0.0], top_k=10)
    assert ids == ["a", "c", "b"]
    assert documents == ["first", "third", "second"]
    assert metadata[0] == {"n": 1, "kind": "x", "ok": True}
    assert distances == pytest.approx([0.0, 1 - 2**-0.5, 1.0], abs=1e-5)


def test_opposite_vectors_are_at_distance_two(filled: VectorStore) -> None:
    assert filled.search(NOT_X, 3)[3][-1] == pytest.approx(2.0, abs=1e-5)


def test_only_so_many_are_given(filled: VectorStore) -> None:
    assert filled.search(X, top_k=1)[0] == ["a"]


def test_a_limit_below_one_gives_nothing(filled: VectorStore) -> None:
    assert [filled.search(X, top_k=top_k) for top_k in (0, -3)] == [([], [], [], [])] * 2


def test_an_empty_store_finds_nothing(store: VectorStore) -> None:
    assert store.search(X) == ([], [], [], [])
    assert store.get() == ([], [], [])
    assert store.count() == 0


def test_an_id_that_is_there_is_replaced_whole(filled: VectorStore) -> None:
    filled.add(["a"], [Y], ["anew"], [{"other": "z"}])
    assert filled.get(ids=["a"]) == (["a"], ["anew"], [{"other": "z"}])
    assert filled.search(X, 1)[0] == ["c"]
    assert filled.count() == 3


def test_of_two_equal_ids_the_last_counts(store: VectorStore) -> None:
    store.add(["a", "a"], [X, Y], ["one", "two"], [None, {"n": 2}])
    assert store.get() == (["a"], ["two"], [{"n": 2}])


def test_empty_lists_change_nothing(filled: VectorStore) -> None:
    filled.add([], [], [], [])
    filled.delete([])
    filled.update([])
    assert filled.get(ids=[]) == ([], [], [])
    assert filled.count() == 3


def test_metadata_may_be_empty_and_none_in_them_is_dropped(store: VectorStore) -> None:
    store.add(["a", "b", "c"], [X, X, X], ["", "", ""], [{}, None, {"n": None, "m": 1}])
    ids, _, metadata = store.get()
    assert dict(zip(ids, metadata, strict=True)) == {"a": {}, "b": {}, "c": {"m": 1}}


CONDITIONS: list[tuple[dict[str, Any] | None, str]] = [
    (None, "abc"),
    ({}, "abc"),
    ({"kind": "x"}, "a"),
    ({"kind": {"$eq": "y"}}, "b"),
    ({"kind": {"$ne": "x"}}, "bc"),
    ({"ok": True}, "a"),
    ({"n": {"$gt": 1}}, "bc"),
    ({"n": {"$gte": 1, "$lt": 2}}, "a"),
    ({"n": {"$lte": 2}}, "ab"),
    ({"n": {"$in": [1, 2]}}, "ab"),
    ({"n": {"$in": []}}, ""),
    ({"n": {"$nin": []}}, "abc"),
    ({"kind": {"$nin": ["x"]}}, "bc"),
    ({"kind": "x", "n": 1}, "a"),
    ({"kind": "x", "n": 2}, ""),
    ({"$and": [{"kind": "x"}, {"n": 1}]}, "a"),
    ({"$or": [{"kind": "x"}, {"n": 2}]}, "ab"),
    ({"$or": [{"kind": "x"}]}, "a"),
    ({"$or": [{"$and": [{"kind": "x"}, {"n": 1}]}, {"kind": "y"}]}, "ab"),
    ({"nowhere": "x"}, ""),
]


def test_conditions_on_metadata(filled: VectorStore) -> None:
    for where, found in CONDITIONS:
        assert sorted(filled.get(where=where)[0]) == list(found), where
        assert sorted(filled.search(X, 10, where)[0]) == list(found), where


NO_CONDITIONS: list[Any] = [
    {"n": {"$like": 1}},
    {"n": {}},
    {"n": None},
    {"n": [1]},
    {"$not": [{"n": 1}]},
    {"$or": []},
    {"$and": "x"},
    {"n": {"$gt": "x"}},
    {"n": {"$in": "x"}},
    {"n": float("nan")},
    ["n"],
]


def test_a_condition_that_is_none_is_refused_and_never_means_everything(filled: VectorStore) -> None:
    for where in NO_CONDITIONS:
        assert is_refused(partial(filled.search, X, 10, where)), where
        assert is_refused(partial(filled.get, where=where)), where


def test_another_dimension_is_refused_and_both_are_named(filled: VectorStore) -> None:
    for refused in (
        lambda: filled.add(["d"], [[1.0, 0.0, 0.0]], ["x"], [None]),
        lambda: filled.search([1.0, 0.0, 0.0]),
        lambda: filled.update(["a"], embeddings=[[1.0, 0.0, 0.0]]),
        lambda: filled.add(["d", "e"], [[1.0, 0.0], [1.0, 0.0, 0.0]], ["x", "y"], [None, None]),
    ):
        with pytest.raises(DimensionMismatchError, match=r"3.*2"):
            refused()
    assert filled.count() == 3


UNFIT: list[Any] = [
    (["a", "b"], [X], ["x"], [None]),
    (["a"], [[float("nan"), 1.0]], ["x"], [None]),
    (["a"], [["x", "y"]], ["x"], [None]),
    (["a"], [[]], ["x"], [None]),
    ([""], [X], ["x"], [None]),
    (["a"], [X], ["x"], [{"tags": ["p"]}]),
]


def test_what_cannot_be_kept_is_refused_whole(store: VectorStore) -> None:
    for unfit in UNFIT:
        assert is_refused(partial(store.add, *unfit)), unfit
        assert store.count() == 0, unfit


def test_a_zero_vector_is_at_distance_one_from_everything(filled: VectorStore) -> None:
    filled.add(["zero"], [[0.0, 0.0]], ["nothing"], [None])
    ids, _, _, distances = filled.search(NOT_X, 10)
    assert distances[ids.index("zero")] == pytest.approx(1.0)
    assert filled.search([0.0, 0.0], 10)[3] == pytest.approx([1.0] * 4)


def test_unknown_ids_are_passed_over(filled: VectorStore) -> None:
    filled.delete(["nobody", "a"])
    filled.update(["nobody"], documents=["x"])
    assert sorted(filled.get(ids=["nobody", "b"])[0]) == ["b"]
    assert sorted(filled.get()[0]) == ["b", "c"]


def test_ids_and_a_condition_must_both_hold(filled: VectorStore) -> None:
    assert filled.get(ids=["a", "b"], where={"n": {"$gt": 1}})[0] == ["b"]
    assert len(filled.get(limit=2)[0]) == 2
    assert filled.get(limit=0)[0] == []


def test_an_update_changes_what_is_given_and_keeps_the_rest(filled: VectorStore) -> None:
    filled.update(["a"], documents=["said otherwise"])
    assert filled.search(X, 1)[:2] == (["a"], ["said otherwise"])
    filled.update(["a"], metadata=[{"n": 9, "kind": None}])
    assert filled.get(ids=["a"])[2] == [{"n": 9, "ok": True}]
    filled.update(["a"], embeddings=[NOT_X])
    assert filled.search(NOT_X, 1)[:3] == (["a"], ["said otherwise"], [{"n": 9, "ok": True}])


def test_a_cleared_store_takes_another_dimension(filled: VectorStore) -> None:
    filled.clear()
    assert (filled.count(), filled.search(X)) == (0, ([], [], [], []))
    filled.add(["d"], [[1.0, 0.0, 0.0]], ["x"], [None])
    assert filled.search([1.0, 0.0, 0.0])[0] == ["d"]


def test_stores_in_memory_share_nothing(make: Make) -> None:
    one, other = make(None), make(None)
    one.add(["a"], [X], ["x"], [None])
    assert other.count() == 0
    one.close()
    other.close()


def test_a_store_on_disk_is_there_again(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    before = make(folder)
    before.add(["a", "b"], [X, Y], ["x", "y"], [{"n": 1}, None])
    before.note_model("m")
    before.delete(["b"])
    before.close()
    after = make(folder)
    assert after.search(X, 5)[:3] == (["a"], ["x"], [{"n": 1}])
    assert after.stored_model() == "m"
    after.close()


def test_the_model_of_the_vectors_is_remembered_until_they_are_gone(filled: OpenVectorStore) -> None:
    assert filled.stored_model() is None
    filled.note_model("one")
    filled.note_model("two")
    assert (filled.stored_model(), filled.search(X, 1)[0]) == ("two", ["a"])
    filled.clear()
    assert filled.stored_model() is None


def test_a_home_directory_is_found(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = make(Path("~/vectors"))
    store.add(["a"], [X], ["x"], [None])
    store.close()
    assert any((tmp_path / "vectors").iterdir())


def test_a_chromadb_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageUnavailable, match="taken"):
        _chroma(tmp_path / "taken")
