"""Upkeep of a vector store that may be able to do no more than `add` and `search`.

What a store cannot do is done by the ids of vectors, which are made of those of messages: a vector is replaced under
its id, and one that cannot be deleted stays until the store can.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from mnemoir.conversations.search.vectors import AnyVectorStore, IndexedVectors, NamedModel
from mnemoir.ports.embedding import FloatArray


class StoreUpkeep:
    """The methods of one vector store that it may lack. They block, and raise what the store raises."""

    def __init__(self, store: AnyVectorStore) -> None:
        self._store = store

    @property
    def can_delete(self) -> bool:
        """True when the text of a deleted message does not stay in the store."""
        return self._method("delete") is not None

    def delete(self, names: Sequence[str]) -> bool:
        """Delete vectors; False for a store that cannot."""
        delete = self._method("delete")
        if delete is not None:
            delete(names)
        return delete is not None

    def clear(self) -> bool:
        """Delete all vectors; False for a store that cannot do so at once."""
        clear = self._method("clear")
        if clear is not None:
            clear()
        return clear is not None

    def lacks_some(self, noted: int, probe: FloatArray | None) -> bool:
        """True when the store has fewer than the `noted` vectors.

        A store that does not count them lacks some when the search for a `probe` finds none.
        """
        count = self._method("count")
        if count is not None:
            held = count()
            return isinstance(held, int) and held < noted
        if probe is None:
            return False
        return not self._store.search(query_embedding=probe.tolist(), top_k=1)[0]

    @property
    def counts(self) -> bool:
        """True when `lacks_some` needs no probe."""
        return self._method("count") is not None

    def known_names(self, names: Sequence[str]) -> Collection[str]:
        """Those of the vectors that are there; none where the store cannot say."""
        get = self._method("get")
        return set() if get is None else set(get(ids=names)[0])

    def _method(self, name: str) -> Callable[..., Any] | None:
        found = getattr(self._store, name, None)
        return found if callable(found) else None


def knows_operators(store: AnyVectorStore) -> bool:
    """True for a store that is made for Mnemoir; another may know no condition but one key with its value."""
    return isinstance(store, NamedModel | IndexedVectors)
