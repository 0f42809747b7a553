"""Second vectors in a file of vectors: which texts a second model has looked at, and what goes with a text."""

import numpy as np
import pytest

from mnemoir.search.indexing import unpack_vector
from mnemoir.storage.conversations.vector_file import VectorFileStore

ONE, OTHER = np.eye(2, 4, dtype=np.float32)


@pytest.fixture
def store(tmp_path):
    store = VectorFileStore("messages", tmp_path)
    yield store
    store.close()


def add(store, *ids):
    store.add(list(ids), np.ones((len(ids), 3), np.float32), [f"text of {id}" for id in ids], [None] * len(ids))


def unseen(store, model="second", limit=10):
    return [text.id for text in store.unseen(model, limit).texts]


def look(store, vectors, model="second", limit=10):
    store.store_second_vectors(store.unseen(model, limit), vectors)


def second(store, *ids):
    """The second vectors by id, of those that have one."""
    found = store.vectors_of(list(ids)).items()
    return {id: unpack_vector(stored.second).tolist() for id, stored in found if stored.second}


def test_each_text_is_looked_at_once(store):
    add(store, "a", "b", "c")
    assert unseen(store, limit=2) == ["a", "b"]
    look(store, {"b": ONE}, limit=2)
    assert unseen(store) == ["c"]
    look(store, {})
    assert unseen(store) == []
    assert second(store, "a", "b", "c") == {"b": ONE.tolist()}


def test_a_vector_stored_counts_as_a_write_for_indexes_and_not_as_a_new_text(store):
    add(store, "a", "b")
    before = store.standing().changes
    look(store, {"a": ONE})
    assert store.ids_since(before) == ["a"]
    assert unseen(store) == []


def test_a_text_that_changes_while_it_is_embedded_is_looked_at_again(store):
    add(store, "a", "b")
    page = store.unseen("second", 10)
    store.update(["a"], documents=["another text"])
    store.store_second_vectors(page, {"a": ONE, "b": OTHER})
    assert second(store, "a", "b") == {"b": OTHER.tolist()}
    assert unseen(store) == ["a"]


def test_a_vector_goes_with_its_text(store):
    add(store, "a", "b", "c")
    look(store, {"a": ONE, "b": ONE, "c": OTHER})
    store.delete(["a"])
    store.update(["b"], documents=["another text"])
    assert second(store, "a", "b", "c") == {"c": OTHER.tolist()}
    assert unseen(store) == ["b"]


def test_a_store_that_was_cleared_meanwhile_keeps_none(store):
    add(store, "a")
    page = store.unseen("second", 10)
    store.clear()
    add(store, "a")
    store.store_second_vectors(page, {"a": ONE})
    assert second(store, "a") == {}
    assert unseen(store) == ["a"]


def test_another_model_looks_at_all_texts_and_replaces_the_vectors(store):
    add(store, "a", "b")
    look(store, {"a": ONE, "b": ONE})
    assert unseen(store, "newer") == ["a", "b"]
    look(store, {"b": OTHER}, "newer")
    assert second(store, "a", "b") == {"b": OTHER.tolist()}
    assert unseen(store, "newer") == []
