"""The built-in store's own promises: exactness, plans of its queries, and several holders of one file."""

from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.search.where import read_where
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.resident_vectors import ResidentVectors
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.sql.engine import queries

_VALUES = st.one_of(st.integers(-2, 2), st.sampled_from(["x", "y"]), st.booleans(), st.just(0.5))
_METADATA = st.dictionaries(st.sampled_from("ab"), _VALUES)
_EQUAL = st.builds(
    lambda key, op, value: {key: {op: value}}, st.sampled_from("abc"), st.sampled_from(["$eq", "$ne"]), _VALUES
)
_AMONG = st.builds(
    lambda key, op, values: {key: {op: values}},
    st.sampled_from("abc"),
    st.sampled_from(["$in", "$nin"]),
    st.lists(_VALUES, max_size=3),
)
_ORDERED = st.builds(
    lambda key, op, value: {key: {op: value}},
    st.sampled_from("abc"),
    st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
    st.integers(-2, 2),
)
_WHERE = st.recursive(
    st.one_of(_EQUAL, _AMONG, _ORDERED),
    lambda inner: st.builds(
        lambda op, parts: {op: parts}, st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=5,
)


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _holds(where: dict, metadata: dict) -> bool:
    """The plain reading of a condition, one row at a time."""
    [(key, value)] = where.items()
    if key == "$and":
        return all(_holds(part, metadata) for part in value)
    if key == "$or":
        return any(_holds(part, metadata) for part in value)
    [(operator, wanted)] = value.items()
    if operator in ("$eq", "$ne", "$in", "$nin"):
        values = wanted if operator in ("$in", "$nin") else [wanted]
        is_there = key in metadata and any(_same(metadata[key], each) for each in values)
        return is_there == (operator in ("$eq", "$in"))
    number = metadata.get(key)
    if isinstance(number, str | bool | None):
        return False
    compared = {"$gt": number > wanted, "$gte": number >= wanted, "$lt": number < wanted, "$lte": number <= wanted}
    return bool(compared[operator])


@given(st.lists(_METADATA, min_size=1, max_size=6), st.lists(_METADATA, max_size=6), _WHERE)
def test_columns_and_the_plain_reading_of_a_condition_agree(first: list, rewritten: list, where: dict) -> None:
    resident = ResidentVectors(2)
    rows = first
    for version in (first, rewritten):
        if version:
            resident.put(range(len(version)), np.ones((len(version), 2), np.float32), version)
        rows = [*version, *rows[len(version) :]]
    expected = [row for row, metadata in enumerate(rows) if _holds(where, metadata)]
    assert resident.matching(read_where(where)) == expected


def test_search_is_exact_under_any_filter() -> None:
    store, generator = VectorFileStore(), np.random.default_rng(7)
    vectors = generator.normal(size=(500, 16)).astype(np.float32)
    groups = generator.integers(0, 12, 500)
    ids = [f"v{number}" for number in range(500)]
    store.add(ids, vectors, ids, [{"group": int(group)} for group in groups])
    query = generator.normal(size=16)
    cosines = (vectors @ query) / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))
    for where, mask in ((None, groups >= 0), ({"group": 3}, groups == 3), ({"group": {"$gt": 4}}, groups > 4)):
        best = [f"v{slot}" for slot in np.argsort(-cosines) if mask[slot]][:10]
        assert store.search(query.tolist(), 10, where)[0] == best
    store.close()


def test_most_rows_may_die_and_the_rest_are_still_found() -> None:
    store = VectorFileStore()
    ids = [f"v{number}" for number in range(3000)]
    store.add(ids, [[1.0, number / 3000] for number in range(3000)], ids, [None] * 3000)
    assert store.search([1.0, 0.0], 1)[0] == ["v0"]
    store.delete(ids[:2990])
    assert store.search([1.0, 0.0], 1)[0] == ["v2990"]
    assert store.search([1.0, 0.0], 100)[0] == ids[2990:]
    store.close()


def test_equal_distances_come_in_the_order_of_adding() -> None:
    store = VectorFileStore()
    ids = list("edcba")
    store.add(ids, [[1.0, 0.0]] * 5, ids, [None] * 5)
    assert store.search([1.0, 0.0], 3)[0] == ["e", "d", "c"]
    store.close()


def test_two_holders_of_one_file_see_what_the_other_does(tmp_path: Path) -> None:
    one, other = VectorFileStore("v", tmp_path), VectorFileStore("v", tmp_path)
    one.add(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], ["x", "y"], [None, None])
    assert other.search([1.0, 0.0])[0] == ["a", "b"]
    one.update(["a"], metadata=[{"n": 1}])
    one.delete(["b"])
    assert other.search([1.0, 0.0])[:3] == (["a"], ["x"], [{"n": 1}])
    other.clear()
    other.add(["c"], [[1.0, 0.0, 0.0]], ["z"], [None])
    assert one.search([1.0, 0.0, 0.0])[0] == ["c"]
    one.close()
    other.close()


@pytest.mark.parametrize("collection", ["x", "../up", "a/b", "наблюдения", ".hidden", "a b"])
def test_any_name_stays_in_its_directory(tmp_path: Path, collection: str) -> None:
    folder = tmp_path / "vectors"
    store = VectorFileStore(collection, folder)
    store.add(["a"], [[1.0]], ["x"], [None])
    assert store.path is not None
    assert store.path.parent == folder
    assert [entry.name for entry in tmp_path.iterdir()] == ["vectors"]
    assert store.path.stat().st_mode & 0o777 == 0o600
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = VectorFileStore("v", tmp_path)
    store.close()
    store.close()
    with pytest.raises(StorageUnavailable, match="closed"):
        store.count()


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.vectors.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StorageUnavailable, match="another program"):
        VectorFileStore("v", tmp_path)


@pytest.mark.parametrize(
    "name", ["metadata", "since", "ids_since", "vectors_of", "drop", "of_rows", "rows_of", "token_codes", "change"]
)
def test_no_query_reads_the_whole_table(tmp_path: Path, name: str) -> None:
    store = VectorFileStore("v", tmp_path)
    store.close()
    connection = apsw.Connection(str(store.path))
    query = queries("vectors/vectors")[name]
    bound = dict.fromkeys(("id", "change", "until", "vector", "document", "metadata", "rows", "ids"), "[]")
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", bound)]
    connection.close()
    assert not [step for step in plan if step.startswith("SCAN vectors")]


def test_half_a_surrogate_pair_is_kept_as_a_question_mark() -> None:
    store = VectorFileStore()
    store.add(["a"], [[1.0]], ["half \ud83d"], [None])
    assert store.get()[1] == ["half ?"]
    store.close()
