"""Makes the index entries (terms, vectors, tokens) of texts before these are stored.

Sentence vectors are stored as float16, token vectors at one bit per dimension, the sign. On the development
conversations late interaction over signs ranks as well as over float16 token vectors, at 48 bytes a token instead of
768. The sentence vector of a text is the mean of its own token vectors, embedded with what was said before it; there
that ranks better than the model's pooled vector of the text alone (66.2 / 74.0 / 46.3 against 63.4 / 71.2 / 43.6).
Models without token vectors give their own vector.

A failed call is repeated in halves, to isolate the texts that a model cannot embed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput
from mnemoir.core.memories import IndexEntry
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage
from mnemoir.search.terms import TERMS_VERSION, beginning_of, terms_and_forms_of

Asks = Callable[[str, bool], bool]  # whether a text needs a vector, and whether it is a message
Item = TypeVar("Item")
Made = TypeVar("Made")
_LEAD_IN = "I. This person"  # of sixteen that were tried: hit@1 among 50 short facts is 65 without, 70 with it
_CONTEXT_VERSION = 1  # to be raised with any change of the context of facts or messages
_AT_ONCE = 256  # passages
_MOST_TOKENS = 4096  # of passages at once: the vectors of so many take 6 MiB before they are packed
_LONGEST_OF_ONE = 256  # tokens of a passage; larger windows are cut by few models, and take as much memory
_IN_TURN = 4  # passages after which those of another request have their turn
_LITTLE = 2000  # characters: about a millisecond; one text of five million would hold the loop for 0.7 s
# one thread, in which the texts of all requests take turns: several would hold the interpreter, and with it the loop
_long_texts = ThreadPoolExecutor(1, thread_name_prefix="mnemoir-terms")


def pack_vector(vector: FloatArray) -> bytes:
    """Little-endian float16."""
    return vector.astype("<f2").tobytes()


def unpack_vector(stored: bytes) -> FloatArray:
    """The vector that `pack_vector` encoded."""
    return np.frombuffer(stored, dtype="<f2").astype(np.float32)


def sentence_vector(embedding: Embedding) -> FloatArray:
    """The sentence vector with unit length, or all zero for a text without tokens."""
    tokens = embedding.token_vectors
    if tokens is None or not len(tokens):
        return embedding.vector
    mean = tokens.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)


def pack_ids(token_ids: NDArray[np.uint16]) -> bytes:
    """Little-endian uint16."""
    return token_ids.astype("<u2").tobytes()


def unpack_ids(stored: bytes) -> NDArray[np.uint16]:
    """The ids that `pack_ids` encoded."""
    return np.frombuffer(stored, dtype="<u2")


def pack_codes(token_vectors: FloatArray) -> bytes:
    """Signs only: rows of dimension / 8 bytes, the last byte filled up with zeros."""
    return np.packbits(token_vectors > 0, axis=1).tobytes()


def unpack_bits(stored: Sequence[bytes], dimension: int) -> NDArray[np.uint8]:
    """The rows of all of `stored` in one array, a 0 or 1 per dimension."""
    rows = np.frombuffer(b"".join(stored), np.uint8).reshape(-1, code_bytes(dimension))
    return np.unpackbits(rows, axis=1, count=dimension)


def code_bytes(dimension: int) -> int:
    """The bytes per token."""
    return (dimension + 7) // 8


def may_be_the_text(exc: ProviderError) -> bool:
    """True when another text may succeed: some models refuse long texts or answer them with NaN."""
    return isinstance(exc, ProviderInvalidOutput) or exc.code == "llm_bad_request"


async def embedded_in_halves(
    items: Sequence[Item],
    embed: Callable[[Sequence[Item]], Awaitable[Sequence[Made]]],
    is_worth_halving: Callable[[Sequence[Item], Exception], bool],
) -> list[tuple[Item, Made]]:
    """Each item with its result of `embed`, in order, without items for which it failed.

    `is_worth_halving` is called for each failed call, also for a single item, and may raise to stop.
    """
    try:
        return list(zip(items, await embed(items), strict=True)) if items else []
    except Exception as exc:  # noqa: BLE001  # a client is foreign code; the caller judges
        if not is_worth_halving(items, exc) or len(items) == 1:
            return []
    middle = len(items) // 2
    first = await embedded_in_halves(items[:middle], embed, is_worth_halving)
    return first + await embedded_in_halves(items[middle:], embed, is_worth_halving)


def fact_passage(text: str) -> Passage:
    """A fact as it is embedded: behind the word its user would begin with. "Has two cats" alone says of nobody."""
    return Passage(text=text, context=_LEAD_IN)


class FactEmbedding:
    """An embedding model, under the name of the space that it makes of facts and of messages with their context."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name, with the version of the context if the model reads it."""
        return f"{self._model.name}+{_CONTEXT_VERSION}" if self._model.reads_context else self._model.name

    @property
    def dimension(self) -> int | None:
        """See the port."""
        return self._model.dimension

    @property
    def reads_context(self) -> bool:
        """See the port."""
        return self._model.reads_context

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """See the port."""
        return await self._model.embed(passages)

    async def warm(self) -> None:
        """See the port."""
        await self._model.warm()

    async def aclose(self) -> None:
        """See the port."""
        await self._model.aclose()


class NoVectors:
    """An embedding model that makes no vectors: entries made with it hold terms alone, in the name of their rules."""

    name = TERMS_VERSION
    dimension = 0
    reads_context = False

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """An empty vector for each."""
        return [Embedding(vector=np.zeros(0, np.float32))] * len(passages)

    async def warm(self) -> None:
        """Does nothing."""

    async def aclose(self) -> None:
        """Does nothing."""


class Indexing:
    """Makes index entries with one embedding model."""

    def __init__(self, embedding: EmbeddingModel, *, asks: Mapping[str, Asks] | None = None) -> None:
        """`asks` tell for each further space, by its name, which texts need a vector there."""
        self._embedding = embedding
        self._asks = asks or {}

    @property
    def model(self) -> str:
        """The vector space of the entries."""
        return self._embedding.name

    async def entries(self, passages: Sequence[Passage], *, are_messages: bool = False) -> list[IndexEntry]:
        """One entry per passage; with words only, and no model, when the embedding model fails.

        Of a long text the first words count.
        """
        try:
            entries = await self.with_vectors(passages)
        except ProviderError:
            entries = await _off_the_loop(
                passages, lambda one: IndexEntry(terms=terms_and_forms_of(beginning_of(one.text)))
            )
        if not self._asks:
            return entries
        waits = await _off_the_loop(passages, lambda one: self._waits(one.text, are_messages))
        return [replace(entry, waits=each) for entry, each in zip(entries, waits, strict=True)]

    async def with_vectors(self, passages: Sequence[Passage]) -> list[IndexEntry]:
        """One entry per passage. Raises ProviderError when the embedding model fails."""
        entries: list[IndexEntry] = []
        for some in _few_at_once(await _off_the_loop(passages, _cut)):
            entries += await self._with_vectors(some)
        return entries

    async def _with_vectors(self, passages: Sequence[Passage]) -> list[IndexEntry]:
        made, model = await self._embedding.embed(passages), self._embedding.name
        embeddings = iter(made)
        return await _off_the_loop(passages, lambda one: _entry(one, next(embeddings), model))

    def _waits(self, text: str, is_message: bool) -> frozenset[str]:
        """The further spaces in which a new text needs a vector."""
        return frozenset(name for name, asks in self._asks.items() if asks(text, is_message))


async def _off_the_loop(passages: Sequence[Passage], make: Callable[[Passage], Made]) -> list[Made]:
    """What is made of each passage, in order, in a thread unless there is too little work for one to pay off."""
    if sum(len(passage.text) for passage in passages) <= _LITTLE:
        return [make(passage) for passage in passages]
    made: list[Made] = []
    for start in range(0, len(passages), _IN_TURN):
        some = passages[start : start + _IN_TURN]
        made += await asyncio.get_running_loop().run_in_executor(_long_texts, lambda: [make(one) for one in some])  # noqa: B023  # awaited here
    return made


def _few_at_once(passages: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    """The passages in pieces that are embedded at once, in order."""
    some: list[Passage] = []
    tokens = 0
    for passage in passages:
        own = min(len(passage.text) // 3, _LONGEST_OF_ONE)
        if some and (len(some) == _AT_ONCE or tokens + own > _MOST_TOKENS):
            yield some
            some, tokens = [], 0
        some.append(passage)
        tokens += own
    if some:
        yield some


def _cut(passage: Passage) -> Passage:
    text = beginning_of(passage.text)
    return passage if text is passage.text else replace(passage, text=text)


def _entry(passage: Passage, embedding: Embedding, model: str) -> IndexEntry:
    ids, tokens = embedding.token_ids, embedding.token_vectors
    return IndexEntry(
        terms=terms_and_forms_of(passage.text),
        model=model,
        vector=pack_vector(sentence_vector(embedding)),
        token_ids=None if ids is None else pack_ids(ids),
        token_codes=None if tokens is None else pack_codes(tokens),
    )
