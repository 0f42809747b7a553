"""Embeds stored messages into the vector store in batches, and retries failed ones.

A message is marked as waiting before its vector is stored and as embedded afterwards, so after a crash either
back-filling finds the message again or its vector is overwritten under the same id. Vector ids derive from message
ids, so embedding twice stores once.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from mnemoir.conversations.search.client_model import ANY_MODEL, ClientModel
from mnemoir.conversations.search.embedding import (
    PROBE,
    AnyEmbeddingClient,
    ModelEmbeddingClient,
    embeddings_of,
    in_loop,
    query_embedding,
    vector_of,
)
from mnemoir.conversations.search.search_filter import seconds, vector_metadata
from mnemoir.conversations.search.store_upkeep import StoreUpkeep
from mnemoir.conversations.search.vectors import AnyVectorStore, IndexedVectors, NamedModel, TokenPart
from mnemoir.core.conversations import StoredMessage
from mnemoir.core.errors import Conflict, ProviderError, ProviderUnavailable
from mnemoir.core.text import CONTEXT_MESSAGES, context_of
from mnemoir.ports.embedding import Embedding, FloatArray, Passage
from mnemoir.ports.log import Log
from mnemoir.search.indexing import embedded_in_halves, may_be_the_text, pack_codes, pack_ids

_log = structlog.get_logger(__name__)

_SAVED_FAILURES = 8
MOST_FAILURES = 24  # calls in a row, as when a server is down; three adjacent unusable texts cause fewer
_PAGE = 500
_SAVED_BATCH = 32
_CATCH_UP_BATCH = 100
_DOWN = (OSError, TimeoutError, ProviderError)
_PREFIX = "msg_"


class EmbeddingModelChanged(Conflict):
    """Raised when the store's vectors are of another model than the client's; names both."""

    code = "embedding_model_changed"

    def __init__(self, stored: str, now: str) -> None:
        super().__init__(
            f"The vectors in the store were made by {stored}, and the embedding client now is {now}. Their vectors "
            "cannot be compared: use the old model, or have all messages embedded again (`reindex`)."
        )


def vector_id(message_id: int) -> str:
    """The id of a message's vector."""
    return f"{_PREFIX}{message_id}"


def message_id_of(name: str) -> int | None:
    """The message id of a vector; None for a vector that is not of a message."""
    number = name.removeprefix(_PREFIX)
    return int(number) if name.startswith(_PREFIX) and number.isascii() and number.isdigit() else None


@dataclass(slots=True)
class _Attempts:
    """The failures of the client during one job."""

    most_failures: int
    failures: int = 0  # in a row
    successes: int = 0
    is_down: bool = False  # a call failed, and no text is to blame

    @property
    def is_hopeless(self) -> bool:
        return self.failures >= self.most_failures

    @property
    def is_outage(self) -> bool:
        return self.is_down and not self.successes

    def note_success(self) -> None:
        self.failures, self.successes = 0, self.successes + 1

    def note_failure(self, cause: Exception) -> None:
        is_down = isinstance(cause, _DOWN)
        self.failures = self.failures + 1 if is_down else 0
        self.is_down |= is_down and not (isinstance(cause, ProviderError) and may_be_the_text(cause))


@dataclass(frozen=True, slots=True)
class _InContext:
    """A message and the messages before it."""

    stored: StoredMessage
    before: Sequence[StoredMessage]

    @property
    def passage(self) -> Passage:
        """Its text with the text of the messages just before it."""
        said = [(one.message.text, seconds(one.created_at)) for one in self.before if _is_said(one)]
        return Passage(text=self.stored.message.text, context=context_of(seconds(self.stored.created_at), said))


class EmbeddingJobs:
    """The passes over one store of sessions, with one client and one vector store. They block on both stores."""

    def __init__(
        self,
        rows: Log,
        client: AnyEmbeddingClient,
        store: AnyVectorStore,
        *,
        model: ClientModel,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """`model` is the client's; the client is called in `loop`, else in that of the pass."""
        self._rows = rows
        self._client = client
        self._store = store
        self._upkeep = StoreUpkeep(store)
        self.model = model
        self._loop = loop
        self._lock = threading.Lock()
        self._filling = threading.Lock()
        self._behind: int | None = None  # the id after which messages may lack a vector
        self._saved: tuple[int, int] | None = None  # the first and last saved message not yet processed

    def refuse_other_model(self) -> None:
        """Raise EmbeddingModelChanged when the store's vectors are of another model than the client's."""
        if isinstance(self._store, NamedModel):
            _refuse_other(self._store.stored_model(), self.model.noted_name)

    def note_saved(self, message_ids: Sequence[int]) -> None:
        """Note messages just saved and marked as waiting; `embed_saved_messages` covers the range of their ids."""
        with self._lock:
            known = (*message_ids, *(self._saved or ()))
            self._saved = min(known), max(known)

    def look_back(self) -> None:
        """Have `fill` embed all messages without a vector."""
        self._behind = 0

    async def fill(self) -> bool:
        """Embed the messages just saved, and a page of those behind; True when more are left.

        When the stored vectors are of another model than the client's, all are made again. After an error, the next
        call looks at all messages. Raises ProviderUnavailable when the client fails and no text is to blame, and
        StorageUnavailable. Threads wait for each other.
        """
        with self._filling:
            attempts = _Attempts(most_failures=_SAVED_FAILURES)
            try:
                await self._known_model()
                await self._embed_span(attempts)
                if self._behind is not None and not attempts.is_outage:
                    attempts = _Attempts(most_failures=MOST_FAILURES)
                    await self._embed_page_behind(self._behind, attempts)
            except Exception:
                self._behind = 0
                raise
            if attempts.is_outage:
                self._behind = 0
                raise ProviderUnavailable("The embedding client fails every time.")
            return self._behind is not None

    async def embed_saved_messages(self) -> None:
        """Embed the messages saved since the last call. Never raises; failures are left to back-filling."""
        try:
            await self._known_model()
            await self._embed_span(_Attempts(most_failures=_SAVED_FAILURES))
        except Exception as exc:  # noqa: BLE001  # search errors never fail saving; back-filling finds the messages
            _log.warning("embedding_failed", error=type(exc).__name__)

    async def catch_up(self) -> None:
        """Embed all messages without a vector in the background. Never raises."""
        self.look_back()
        try:
            is_left = True
            while is_left:
                is_left = await self.fill()
                await asyncio.sleep(0)  # lets searches embed their questions in between
        except Exception as exc:  # noqa: BLE001  # the next run starts again
            _log.warning("backfill_failed", error=type(exc).__name__, cause=str(exc))

    async def backfill(
        self,
        session_id: str | None,
        batch_size: int,
        progress: Callable[[int, int], None] | None,
        per_second: float | None = None,
    ) -> int:
        """Embed messages without a vector, in order of ids; return how many were embedded.

        A message that fails is skipped until the next run. A server that is down ends it early, with a warning.
        Raises EmbeddingModelChanged, and StorageUnavailable when a store fails.
        """
        try:
            model, attempts = await self._known_model(), _Attempts(most_failures=MOST_FAILURES)
        except ProviderUnavailable as exc:
            _log.warning("backfill_stopped", embedded=0, cause=exc.message)
            return 0
        self.refuse_other_model()
        self.remove()
        await self._await_lost_vectors()
        total = await self._missing(session_id) if progress else 0
        embedded = tried = after = 0
        started = time.monotonic()
        while page := self._rows.unembedded_messages(model, batch_size, after=after, session_id=session_id):
            embedded += await self.embed(page, attempts)
            tried, after = tried + len(page), page[-1].id
            if progress:
                progress(tried, max(total, tried))
            if attempts.is_hopeless:
                _log.warning("backfill_stopped", embedded=embedded, cause="the embedding client fails every time")
                break
            due = started + tried / per_second if per_second else 0.0
            await asyncio.sleep(max(0.0, due - time.monotonic()))  # lets searches embed their questions in between
        self.remove()
        return embedded

    async def reindex(
        self, batch_size: int, progress: Callable[[int, int], None] | None, per_second: float | None = None
    ) -> int:
        """Delete all vectors of any model and make them again, in a store that cannot delete under the same ids.

        Raises ProviderUnavailable, and deletes nothing, when a client without a model name cannot be asked.
        """
        await self._known_model()
        await self._clear()
        return await self.backfill(None, batch_size, progress, per_second)

    async def _known_model(self) -> str:
        """The name of the model. Raises ProviderUnavailable when the client has none and cannot be asked."""
        try:
            return await in_loop(self._loop, self.model.find())
        except Exception as exc:  # foreign code
            raise ProviderUnavailable(f"The embedding client fails: {type(exc).__name__}.") from exc

    async def _embed_span(self, attempts: _Attempts) -> None:
        with self._lock:
            span, self._saved = self._saved, None
        if span is None:
            return
        end = span[1] + 1
        for start in range(span[0], end, _SAVED_BATCH):
            found = self._in_context(range(start, min(start + _SAVED_BATCH, end)))
            await self._embed_messages([one for one in found if _is_said(one.stored)], attempts)
            if attempts.is_hopeless:
                break

    async def _embed_page_behind(self, after: int, attempts: _Attempts) -> None:
        if not after:
            await self._prepare()
        page = self._rows.unembedded_messages(self.model.noted_name, _CATCH_UP_BATCH, after=after)
        await self.embed(page, attempts)
        self._behind = page[-1].id if page else None

    async def _prepare(self) -> None:
        try:
            self.refuse_other_model()
        except EmbeddingModelChanged as exc:
            _log.info("embedding_anew", cause=exc.message)
            await self._clear()
        self.remove()
        await self._await_lost_vectors()

    async def _clear(self) -> None:
        is_empty = self._upkeep.clear()
        async for page in self._every(None):
            if not is_empty:
                self._upkeep.delete([vector_id(stored.id) for stored in page])
            self._rows.await_vectors([stored.id for stored in page], self.model.noted_name)

    def remove(self) -> None:
        """Delete the vectors of deleted messages; one that cannot be deleted stays marked, which hides it.

        Raises StorageUnavailable.
        """
        while self._upkeep.can_delete and (ids := self._rows.vectors_to_remove(_PAGE)):
            self._upkeep.delete([vector_id(message_id) for message_id in ids])
            self._rows.note_removed_vectors(ids)

    async def embed(self, messages: Sequence[StoredMessage], attempts: _Attempts) -> int:
        """Mark messages as waiting and embed them; return how many got a vector."""
        there = self._rows.await_vectors([stored.id for stored in messages], self.model.noted_name)
        return await self._embed_messages(self._in_context(there), attempts)

    async def _embed_messages(self, messages: Sequence[_InContext], attempts: _Attempts) -> int:
        """Embed messages and return how many got a vector; failed batches are halved down to single messages."""

        async def embed(part: Sequence[_InContext]) -> list[Embedding]:
            if attempts.is_hopeless:
                raise ProviderUnavailable("The embedding client fails every time.")
            made = await in_loop(self._loop, embeddings_of(self._client, [one.passage for one in part]))
            attempts.note_success()
            return made

        def is_worth_halving(part: Sequence[_InContext], cause: Exception) -> bool:
            attempts.note_failure(cause)
            if len(part) == 1:
                _log.warning("message_not_embedded", message_id=part[0].stored.id, error=type(cause).__name__)
            return not attempts.is_hopeless

        pairs = await embedded_in_halves(messages, embed, is_worth_halving)
        kept = {one.stored.id for one, _ in pairs}
        self._note_failed([one.stored.id for one in messages if one.stored.id not in kept])
        if not pairs:
            return 0
        stored, made = [one.stored for one, _ in pairs], [each for _, each in pairs]
        return len(pairs) - self._keep(stored, made, self.model.noted_name)

    def _keep(self, messages: Sequence[StoredMessage], made: Sequence[Embedding], model: str) -> int:
        """Store the vectors; return the number of messages deleted meanwhile, whose vectors are removed again."""
        self._note_model(model)
        names = [vector_id(stored.id) for stored in messages]
        vectors = np.stack([vector_of(embedding) for embedding in made])
        documents = [stored.message.text for stored in messages]
        metadata = [vector_metadata(stored) for stored in messages]
        if isinstance(self._store, IndexedVectors):
            self._store.add_with_tokens(names, vectors, documents, metadata, dict(_tokens(names, made)))
        else:  # other stores: keyword arguments and plain lists
            self._store.add(ids=names, embeddings=vectors.tolist(), documents=documents, metadata=metadata)
        gone = self._rows.note_new_vectors([stored.id for stored in messages], model)
        if gone and self._upkeep.delete([vector_id(message_id) for message_id in gone]):
            self._rows.note_removed_vectors(gone)
        return len({stored.id for stored in messages} & set(gone))

    def _note_model(self, model: str) -> None:
        if isinstance(self._store, NamedModel):
            stored = self._store.stored_model()
            _refuse_other(stored, model)
            if stored is None:
                self._store.note_model(model)

    def _in_context(self, message_ids: Sequence[int]) -> list[_InContext]:
        """The existing messages, with the messages just before them if the client uses context."""
        count = CONTEXT_MESSAGES if isinstance(self._client, ModelEmbeddingClient) else 0
        return [_InContext(stored, before) for stored, before in self._rows.in_context(message_ids, count)]

    def _note_failed(self, message_ids: Sequence[int]) -> None:
        if message_ids:
            self._rows.note_failed_vectors(message_ids)

    async def _await_lost_vectors(self) -> None:
        """Mark as waiting all messages whose vector was lost, as after a restart with a store in memory."""
        noted = self._rows.vector_counts().get("embedded", 0)
        if not noted or not self._upkeep.lacks_some(noted, await self._probe()):
            return
        async for page in self._every(None):
            there = self._upkeep.known_names([vector_id(stored.id) for stored in page])
            lost = [stored.id for stored in page if vector_id(stored.id) not in there]
            self._rows.await_vectors(lost, self.model.noted_name)

    async def _probe(self) -> FloatArray | None:
        """A vector of this client, for a store that does not count its own; None while the client fails."""
        if self._upkeep.counts:
            return None
        try:
            made = await in_loop(self._loop, query_embedding(self._client, PROBE[0]))
        except Exception as exc:  # noqa: BLE001  # foreign code; embedding the messages shows that it fails
            _log.info("vector_store_not_looked_at", error=type(exc).__name__)
            return None
        return vector_of(made)

    async def _missing(self, session_id: str | None) -> int:
        return sum([len(page) async for page in self._every(session_id, self.model.noted_name)])

    async def _every(self, session_id: str | None, model: str = ANY_MODEL) -> AsyncIterator[list[StoredMessage]]:
        after = 0
        while page := self._rows.unembedded_messages(model, _PAGE, after=after, session_id=session_id):
            yield page
            after = page[-1].id
            await asyncio.sleep(0)  # lets other tasks of this loop run


def _refuse_other(stored: str | None, model: str) -> None:
    if stored is not None and stored != model:
        raise EmbeddingModelChanged(stored, model)


def _is_said(stored: StoredMessage) -> bool:
    return stored.message.role != "system" and bool(stored.message.text.strip())


def _tokens(names: Sequence[str], made: Sequence[Embedding]) -> Iterator[tuple[str, TokenPart]]:
    for name, embedding in zip(names, made, strict=True):
        ids, vectors = embedding.token_ids, embedding.token_vectors
        if ids is not None and vectors is not None and len(ids):
            yield name, TokenPart(token_ids=pack_ids(ids), token_codes=pack_codes(vectors))
