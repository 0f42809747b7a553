"""The built-in embedding model: all-MiniLM-L6-v2 in int8, run by one thread of its own.

The thread owns the tokenizer and the model and works in slices of about 20 ms. Before each slice it reads
its inbox and continues with the request that is due first. A request is due after as many passages as it
contains itself, so a single query overtakes the rest of an import, and a steady flow of queries still
cannot block the import for ever. Small requests share a slice when they fit.

The event loop only sends passages to the thread and receives embeddings.
"""

import asyncio
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemoir.core.errors import ProviderError, ProviderUnavailable
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage

if TYPE_CHECKING:
    from mnemoir.providers.embedding.minilm_encoder import Encoder, Tokens

SLICE_TOKENS: Final = 256
"""Tokens of a slice, padding included. Twice as many are 10 % faster per message, cost 12 MiB and double the wait."""
SLICE_PASSAGES: Final = 16
SHORT_TOKENS: Final = 32
"""Tokens up to which padding is cheap: passages below this length share a slice, however long they are."""
READ_AHEAD: Final = 32
"""Number of passages of a request that are tokenized at once and sorted by length."""


@dataclass(slots=True, eq=False)
class _Request:
    """One call of `embed`; the thread keeps it until each passage has its embedding."""

    passages: Sequence[Passage]
    answer: asyncio.Future[list[Embedding]]
    due: int = 0
    unread: int = 0
    tokenized: deque[tuple[int, "Tokens"]] = field(default_factory=deque)
    done: dict[int, Embedding] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return not self.answer.done()

    @property
    def has_more(self) -> bool:
        return bool(self.tokenized) or self.unread < len(self.passages)

    def read_ahead(self, encoder: "Encoder") -> None:
        """Tokenize the next passages when no tokenized one is left; the longest come first and set the padding."""
        if self.tokenized:
            return
        chunk = range(self.unread, min(self.unread + READ_AHEAD, len(self.passages)))
        read = [(number, encoder.read(self.passages[number])) for number in chunk]
        self.tokenized.extend(sorted(read, key=lambda entry: -len(entry[1].ids)))
        self.unread = chunk.stop

    def embedded(self, number: int, embedding: Embedding) -> None:
        self.done[number] = embedding
        if len(self.done) == len(self.passages):
            self._settle(lambda: self.answer.set_result([self.done[n] for n in range(len(self.passages))]))

    def fail(self, error: ProviderError) -> None:
        self.tokenized.clear()
        self.unread = len(self.passages)
        self._settle(lambda: self.answer.set_exception(error))

    def _settle(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the caller's loop is closed: nothing waits for the result
            self.answer.get_loop().call_soon_threadsafe(lambda: action() if self.is_open else None)


_Entry = tuple[_Request, int, "Tokens"]  # the request, the passage's number in it, its tokens


class MiniLM:
    """all-MiniLM-L6-v2 in int8: 384 dimensions, 256 tokens, token vectors included.

    Uses no memory until it is first used or warmed; about 65 MiB from then on, runtime included.
    """

    name: Final = "all-MiniLM-L6-v2-int8"
    dimension: Final = 384
    reads_context: Final = True

    def __init__(self, *, folder: Path | None = None, threads: int | None = None) -> None:
        """Defaults: the model folder of the package, and two threads on two or more cores."""
        self._folder = folder or Path(str(files("mnemoir.providers.embedding"))) / "minilm"
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._inbox: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    async def warm(self) -> None:
        """Load the model, so that the first request does not wait for it."""
        await self.embed([Passage(text="ready")])

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage, in the order given.

        A cancelled call ends after the slice in progress. Raises ProviderUnavailable when the model cannot be
        loaded or has been closed.
        """
        if self._is_closed:
            raise _closed()
        if not passages:
            return []
        self._start()
        request = _Request(tuple(passages), asyncio.get_running_loop().create_future())
        self._inbox.put(request)
        return await request.answer

    async def aclose(self) -> None:
        """End the thread after its slice; calls that still wait get ProviderUnavailable."""
        self._is_closed = True
        if self._thread is not None:
            self._inbox.put(None)
            await asyncio.to_thread(self._thread.join)

    def _start(self) -> None:
        if self._thread is None:
            worker = _Worker(self._inbox, self._folder, self._threads)
            self._thread = threading.Thread(target=worker.run, name="mnemoir-minilm", daemon=True)
            self._thread.start()


class _Worker:
    """The loop of the model's thread; all its methods run in that thread only."""

    def __init__(self, inbox: queue.SimpleQueue[_Request | None], folder: Path, threads: int) -> None:
        self._inbox = inbox
        self._folder = folder
        self._threads = threads
        self._encoder: Encoder | None = None
        self._waiting: list[_Request] = []
        self._embedded = 0  # passages embedded so far: the clock of `_Request.due`

    def run(self) -> None:
        while self._collect():
            self._work()
        for request in self._waiting:
            request.fail(_closed())

    def _collect(self) -> bool:
        """Read the whole inbox, waiting only when there is no other work. False when the model is being closed."""
        while not (self._waiting and self._inbox.empty()):
            request = self._inbox.get()
            if request is None:
                return False
            request.due = self._embedded + len(request.passages)
            self._waiting.append(request)
        return True

    def _work(self) -> None:
        """Embed one slice. An error fails the requests of that slice only."""
        self._waiting = [request for request in self._waiting if request.is_open and request.has_more]
        self._waiting.sort(key=lambda request: request.due)
        for request in self._waiting:
            self._guarded([request], request.read_ahead)
        chosen = _slice([request for request in self._waiting if request.tokenized])
        self._guarded([request for request, _, _ in chosen], lambda encoder: self._embed(encoder, chosen))

    def _guarded(self, requests: Sequence[_Request], action: Callable[["Encoder"], None]) -> None:
        """Call `action` with the encoder, loading it on first use; an error fails `requests`."""
        try:
            self._encoder = self._encoder or _load(self._folder, self._threads)
            action(self._encoder)
        except Exception as exc:  # noqa: BLE001 - a thread that dies would leave every caller waiting
            error = exc if isinstance(exc, ProviderError) else _broken(exc)
            for request in requests:
                request.fail(error)

    def _embed(self, encoder: "Encoder", chosen: Sequence[_Entry]) -> None:
        embeddings = encoder.embed([tokens for _, _, tokens in chosen]) if chosen else []
        self._embedded += len(chosen)
        for (request, number, _), embedding in zip(chosen, embeddings, strict=True):
            request.embedded(number, embedding)


def _slice(waiting: Sequence[_Request]) -> list[_Entry]:
    """Take the passages to embed together: the first request's, and those of small requests that fit in the slice.

    A large request never joins: a query that overtook it would have to wait for its passages as well.
    """
    chosen: list[_Entry] = []
    longest, limit = 0, max(SHORT_TOKENS, _length(waiting[0])) if waiting else 0
    for request in waiting:
        if chosen and len(request.passages) > SLICE_PASSAGES:
            break
        while request.tokenized and _length(request) <= limit:
            longest = max(longest, _length(request))
            if len(chosen) == SLICE_PASSAGES or (len(chosen) + 1) * longest > SLICE_TOKENS:
                return chosen
            chosen.append((request, *request.tokenized.popleft()))
    return chosen


def _length(request: _Request) -> int:
    """Tokens of the request's next passage."""
    return len(request.tokenized[0][1].ids)


@lru_cache(maxsize=1)  # immutable, so the whole process shares one: it takes 0.1 s and 40 MiB
def _load(folder: Path, threads: int) -> "Encoder":
    # Imported here, in the thread: onnxruntime and the model take half a second, too long for the event loop.
    from mnemoir.providers.embedding.minilm_encoder import Encoder

    return Encoder(folder, threads)


def _broken(cause: Exception) -> ProviderUnavailable:
    return ProviderUnavailable(f"The built-in embedding model failed: {cause}")


def _closed() -> ProviderUnavailable:
    return ProviderUnavailable("The built-in embedding model has been closed")


_: type[EmbeddingModel] = MiniLM  # checked, never run
