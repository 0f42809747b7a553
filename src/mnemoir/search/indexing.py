"""Makes the index entries (terms, vectors, tokens) of texts before these are stored."""

import asyncio
from collections.abc import Callable, Sequence

from mnemoir.core.errors import ProviderError
from mnemoir.core.memories import IndexEntry
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage
from mnemoir.search.codes import pack_codes, pack_ids, pack_vector
from mnemoir.search.terms import terms_of
from mnemoir.search.vectors import sentence_vector

_AT_ONCE = 256  # passages: the vectors of a passage's tokens take 20 KiB before they are packed
_LITTLE = 2000  # characters: about a millisecond; one text of five million would hold the loop for 0.7 s


class Indexing:
    """Makes index entries with one embedding model."""

    def __init__(self, embedding: EmbeddingModel) -> None:
        self._embedding = embedding

    @property
    def model(self) -> str:
        """The vector space of the entries."""
        return self._embedding.name

    async def entries(self, passages: Sequence[Passage]) -> list[IndexEntry]:
        """One entry per passage; with words only, and no model, when the embedding model fails."""
        try:
            return await self.with_vectors(passages)
        except ProviderError:
            return await _off_the_loop(passages, lambda: [IndexEntry(terms=terms_of(p.text)) for p in passages])

    async def with_vectors(self, passages: Sequence[Passage]) -> list[IndexEntry]:
        """One entry per passage. Raises ProviderError when the embedding model fails."""
        entries: list[IndexEntry] = []
        for start in range(0, len(passages), _AT_ONCE):
            entries += await self._with_vectors(passages[start : start + _AT_ONCE])
        return entries

    async def _with_vectors(self, passages: Sequence[Passage]) -> list[IndexEntry]:
        pairs, model = list(zip(passages, await self._embedding.embed(passages), strict=True)), self._embedding.name
        return await _off_the_loop(passages, lambda: [_entry(p.text, made, model) for p, made in pairs])


async def _off_the_loop(passages: Sequence[Passage], make: Callable[[], list[IndexEntry]]) -> list[IndexEntry]:
    """Run `make` in a thread, unless there is too little work for a thread to pay off."""
    is_little = sum(len(passage.text) for passage in passages) <= _LITTLE
    return make() if is_little else await asyncio.to_thread(make)


def _entry(text: str, embedding: Embedding, model: str) -> IndexEntry:
    ids, tokens = embedding.token_ids, embedding.token_vectors
    return IndexEntry(
        terms=terms_of(text),
        model=model,
        vector=pack_vector(sentence_vector(embedding)),
        token_ids=None if ids is None else pack_ids(ids),
        token_codes=None if tokens is None else pack_codes(tokens),
    )
