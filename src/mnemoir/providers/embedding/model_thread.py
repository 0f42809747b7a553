"""An embedding model inside this process, run by a thread of its own.

The thread owns the tokenizer and the model and works in rounds of about 20 ms. Before each round it reads
its inbox and continues with the request that is due first. A request is due after as many passages as it
contains itself, so a single query overtakes the rest of an import, and a steady flow of queries still
cannot block the import for ever.

Where the model takes calls of several threads, a second thread of the same kind does what is little, such as a query:
a round of long passages takes a multiple of it.

A round is one slice for each lane. The thread runs the first, further lanes are threads that wait until there is more
than one slice. Small requests share a slice when they fit.

The event loop only sends passages to the thread and receives embeddings.
"""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

import structlog

from mnemoir.core.errors import ProviderError, ProviderUnavailable, places_of
from mnemoir.ports.embedding import Embedding, Passage

ROUND_TOKENS: Final = 256
"""Tokens of a round, padding included. Twice as many are 10 % faster per message, cost 12 MiB and double the wait."""
SLICE_PASSAGES: Final = 16
SHORT_TOKENS: Final = 32
"""Tokens up to which padding is cheap: passages below this length share a slice, however long they are."""
READ_AHEAD: Final = 32
"""Number of passages of a request that are tokenized at once and sorted by length."""
LITTLE_PASSAGES: Final = 4
LITTLE_CHARACTERS: Final = 1024
READ_CHARACTERS: Final = 8192
"""Characters after which no further passage is: long ones take some milliseconds each, which a query would wait."""
_log = structlog.get_logger(__name__)


class Tokenized(Protocol):
    """A passage in the form that the model takes."""

    def __len__(self) -> int:
        """The number of tokens, which determines the cost."""


Tokens = TypeVar("Tokens", bound=Tokenized)


class Encoder(Protocol[Tokens]):
    """A model and its tokenizer. Only `embed` is called by several threads, where there are lanes."""

    def read(self, passage: Passage) -> Tokens:
        """Tokenize a passage, cut to fit the model."""

    def embed(self, batch: Sequence[Tokens]) -> list[Embedding]:
        """One embedding per passage, in order. Raises ProviderInvalidOutput when a value is not finite."""


@dataclass(slots=True, eq=False)
class _Request(Generic[Tokens]):
    """One call of `embed`; the thread keeps it until each passage has its embedding."""

    passages: Sequence[Passage]
    answer: asyncio.Future[list[Embedding]]
    due: int = 0
    unread: int = 0
    tokenized: deque[tuple[int, Tokens]] = field(default_factory=deque)
    done: dict[int, Embedding] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return not self.answer.done()

    @property
    def has_more(self) -> bool:
        return bool(self.tokenized) or self.unread < len(self.passages)

    def read_ahead(self, encoder: Encoder[Tokens]) -> None:
        """Tokenize the next passages when no tokenized one is left; the longest come first and set the padding."""
        if self.tokenized:
            return
        end, characters = self.unread, 0
        while end < min(self.unread + READ_AHEAD, len(self.passages)) and characters < READ_CHARACTERS:
            characters += len(self.passages[end].text) + len(self.passages[end].context)
            end += 1
        chunk = range(self.unread, end)
        read = [(number, encoder.read(self.passages[number])) for number in chunk]
        self.tokenized.extend(sorted(read, key=lambda entry: -len(entry[1])))
        self.unread = chunk.stop

    def note_embedding(self, number: int, embedding: Embedding) -> None:
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


_Entry = tuple[_Request[Tokens], int, Tokens]  # the request, the passage's number in it, its tokens


class ThreadedModel(Generic[Tokens]):
    """An embedding model over an encoder, which `load` makes in the thread at the first use.

    A subclass names itself and its dimension.
    """

    name: str
    dimension: int

    def __init__(self, load: Callable[[], Encoder[Tokens]], *, label: str, lanes: int = 1) -> None:
        """`label` begins the error messages, such as "The built-in embedding model"."""
        self._load = _once(load)
        self._label = label
        self._lanes = lanes
        self._inboxes: dict[
            bool, queue.SimpleQueue[_Request[Tokens] | None]
        ] = {}  # by whether it is for what is little
        self._threads: list[threading.Thread] = []
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
            raise _closed_error(self._label)
        if not passages:
            return []
        request = _Request[Tokens](tuple(passages), asyncio.get_running_loop().create_future())
        self._inbox(is_little=self._lanes > 1 and _is_little(passages)).put(request)
        return await request.answer

    async def aclose(self) -> None:
        """End the threads after their slices; calls that still wait get ProviderUnavailable."""
        self._is_closed = True
        for inbox in self._inboxes.values():
            inbox.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _inbox(self, *, is_little: bool) -> queue.SimpleQueue[_Request[Tokens] | None]:
        """The inbox of a thread, which is started with the first request for it."""
        if is_little not in self._inboxes:
            self._inboxes[is_little] = queue.SimpleQueue()
            worker = _Worker(self._inboxes[is_little], self._load, self._label, 1 if is_little else self._lanes)
            name = f"mnemoir-{type(self).__name__.lower()}"
            self._threads.append(threading.Thread(target=worker.run, name=name, daemon=True))
            self._threads[-1].start()
        return self._inboxes[is_little]


class _Worker(Generic[Tokens]):
    """The loop of the model's thread; but for `_answer`, its methods run in that thread only."""

    def __init__(
        self,
        inbox: queue.SimpleQueue[_Request[Tokens] | None],
        load: Callable[[], Encoder[Tokens]],
        label: str,
        lanes: int,
    ) -> None:
        self._inbox = inbox
        self._load = load
        self._label = label
        self._lanes = lanes
        # it starts a thread when there is work for one
        self._others = ThreadPoolExecutor(max(1, lanes - 1), thread_name_prefix="mnemoir-lane")
        self._encoder: Encoder[Tokens] | None = None
        self._waiting: list[_Request[Tokens]] = []
        self._embedded = 0  # passages embedded so far: the clock of `_Request.due`

    def run(self) -> None:
        while self._collect():
            self._work()
        for request in self._waiting:
            request.fail(_closed_error(self._label))
        self._others.shutdown()

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
        """Embed one round. An error fails the requests of its slice only."""
        self._waiting = [request for request in self._waiting if request.is_open and request.has_more]
        self._waiting.sort(key=lambda request: request.due)
        ready = 0
        for request in self._waiting:
            if ready >= ROUND_TOKENS:
                break  # what is due later is read when its turn comes
            self._read_ahead(request)
            ready += sum(len(tokens) for _, tokens in request.tokenized)
        slices = self._slices()
        if self._encoder is None or not slices:
            return
        others = [self._others.submit(self._answer, self._encoder, chosen) for chosen in slices[1:]]
        answers = [self._answer(self._encoder, slices[0]), *(other.result() for other in others)]
        for chosen, answer in zip(slices, answers, strict=True):
            self._deliver(chosen, answer)

    def _read_ahead(self, request: _Request[Tokens]) -> None:
        """Tokenize the request's next passages, with the encoder, which is loaded at the first use."""
        try:
            self._encoder = self._encoder or self._load()
            request.read_ahead(self._encoder)
        except Exception as exc:  # noqa: BLE001 - a thread that dies would leave every caller waiting
            request.fail(_error(self._label, exc))

    def _slices(self) -> list[list[_Entry[Tokens]]]:
        """A slice for each lane, as far as there is work; little work is spread over all lanes."""
        slices: list[list[_Entry[Tokens]]] = []
        waiting = sum(len(tokens) for request in self._waiting for _, tokens in request.tokenized)
        tokens = min(ROUND_TOKENS, waiting) // self._lanes
        for _ in range(self._lanes):
            chosen = _slice([request for request in self._waiting if request.tokenized], tokens)
            slices += [chosen] if chosen else []
        return slices

    def _answer(self, encoder: Encoder[Tokens], chosen: Sequence[_Entry[Tokens]]) -> list[Embedding] | ProviderError:
        try:
            return encoder.embed([tokens for _, _, tokens in chosen])
        except Exception as exc:  # noqa: BLE001 - as above
            return _error(self._label, exc)

    def _deliver(self, chosen: Sequence[_Entry[Tokens]], answer: list[Embedding] | ProviderError) -> None:
        if isinstance(answer, ProviderError):
            for request, _, _ in chosen:
                request.fail(answer)
            return
        self._embedded += len(chosen)
        for (request, number, _), embedding in zip(chosen, answer, strict=True):
            request.note_embedding(number, embedding)


def _slice(waiting: Sequence[_Request[Tokens]], tokens: int) -> list[_Entry[Tokens]]:
    """Take the passages to embed together: the first request's, and those of small requests that fit in `tokens`.

    A large request never joins: a query that overtook it would have to wait for its passages as well.
    """
    chosen: list[_Entry[Tokens]] = []
    longest, limit = 0, max(SHORT_TOKENS, _length(waiting[0])) if waiting else 0
    for request in waiting:
        if chosen and len(request.passages) > SLICE_PASSAGES:
            break
        while request.tokenized and _length(request) <= limit:
            longest = max(longest, _length(request))
            if len(chosen) == SLICE_PASSAGES or (chosen and (len(chosen) + 1) * longest > tokens):
                return chosen
            chosen.append((request, *request.tokenized.popleft()))
    return chosen


def _is_little(passages: Sequence[Passage]) -> bool:
    """Whether passages are so few and short that they wait for nothing else."""
    is_few = len(passages) <= LITTLE_PASSAGES
    return is_few and sum(len(one.text) + len(one.context) for one in passages) <= LITTLE_CHARACTERS


def _once(load: Callable[[], Encoder[Tokens]]) -> Callable[[], Encoder[Tokens]]:
    """The encoder of the first call that succeeds, for all threads."""
    lock, loaded = threading.Lock(), list[Encoder[Tokens]]()

    def load_once() -> Encoder[Tokens]:
        with lock:
            if not loaded:
                loaded.append(load())
            return loaded[0]

    return load_once


def _length(request: _Request[Tokens]) -> int:
    """Tokens of the request's next passage."""
    return len(request.tokenized[0][1])


def _error(label: str, cause: Exception) -> ProviderError:
    """The error for callers; what no model tells on purpose may be a fault of ours, so its place is logged."""
    if isinstance(cause, ProviderError):
        return cause
    _log.error("embedding model failed", model=label, error=type(cause).__name__, where=places_of(cause))
    return ProviderUnavailable(f"{label} failed: {cause}")


def _closed_error(label: str) -> ProviderUnavailable:
    return ProviderUnavailable(f"{label} has been closed")
