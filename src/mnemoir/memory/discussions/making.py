"""Makes memories: cuts the unprocessed messages of a conversation into chunks, has models read them, stores results.

One procedure serves both stores. It is repeated as a conversation grows and may be interrupted anywhere: each chunk
is stored separately, in order, and a stored one is never made again.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from mnemoir.core.discussions import Block, BlockChanges, BlockKey, ChunkSource, Discussion, SourceMessage
from mnemoir.core.errors import MnemoirError, ProviderInvalidOutput, ProviderRefused
from mnemoir.core.messages import Message
from mnemoir.core.text import hashes
from mnemoir.memory.discussions.alignment import align
from mnemoir.memory.discussions.parts import Backoff, ChunkPolicy, Control, Made, Plan, chunk_spans
from mnemoir.memory.discussions.writing import to_its_end
from mnemoir.memory.spreading import spread_in_order
from mnemoir.ports.discussions import ChunkStore, DiscussionFiles

R = TypeVar("R")

_MANY_MESSAGES = 500  # a longer conversation is aligned in a thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A run of messages to make a memory of; `text` has their texts, one below the other.

    `before` is the block that it will precede, None for the end. The blocks before that one, including chunks just
    made, are the memories of earlier messages.
    """

    text: str
    source: ChunkSource
    before: BlockKey | None


Worker = Callable[[Chunk], Awaitable[R | None]]
Keep = Callable[[R, ChunkSource, BlockKey | None], Awaitable[object]]


async def make(
    store: ChunkStore,
    files: DiscussionFiles,
    discussion: Discussion,
    messages: Sequence[Message],
    policy: ChunkPolicy,
    keep: Keep[R],
    workers: Sequence[Worker[R]],
    *,
    in_order: bool,
    control: Control | None = None,
    backoff: Backoff | None = None,
) -> Made:
    """Bring the store up to date with the conversation: `messages` as the client has them now, without system ones.

    A worker returns a result for a chunk, or None when its model answered with no text; `keep` stores it. With
    `in_order` a chunk is begun when the one before it is stored, and another worker takes over where one fails; else
    all workers are at work at once. Either way results are stored in the order of the chunks. The first chunk that no
    worker can make ends it, with a note: it and those behind it are left for the next time. With `backoff` that is
    not always the next making, where the answer could not be used. Raises StorageUnavailable.
    """
    async with files.making(discussion) as is_ours:
        if not is_ours:
            return Made(is_busy=True)
        existed = await to_its_end(store.begin(discussion))
        work = await _work(await store.blocks(discussion), messages, policy, existed)
        if work.changes:
            await to_its_end(store.change(discussion, work.changes))
        run = _Run(work.chunks, keep, control or Control())
        key = (discussion.root, discussion.id, type(store))
        if work.chunks and backoff is not None and backoff.passes_over(key):
            run.notes.append("The last answers about a chunk could not be used, so no model was asked this time.")
        elif work.chunks:
            await run.go(workers, in_order=in_order)
            if backoff is not None:
                (backoff.note_failure if run.is_unusable else backoff.note_success)(key)
    return Made(
        chunks=run.done,
        left=len(work.chunks) - run.done,
        stale=len(work.changes.stale),
        revived=len(work.changes.revived),
        notes=run.notes,
        is_unusable=run.is_unusable,
    )


async def plan(store: ChunkStore, discussion: Discussion, messages: Sequence[Message], policy: ChunkPolicy) -> Plan:
    """The model calls that `make` would make; nothing is written. A store without chunks counts as not begun."""
    blocks = await store.blocks(discussion)
    chunks = (await _work(blocks, messages, policy, existed=bool(blocks))).chunks
    return Plan(
        chunks=len(chunks),
        messages=sum(len(chunk.source.digests) for chunk in chunks),
        tokens=sum(policy.estimate(chunk.text) for chunk in chunks),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    changes: BlockChanges
    chunks: Sequence[Chunk]


async def _work(blocks: Sequence[Block], messages: Sequence[Message], policy: ChunkPolicy, existed: bool) -> _Work:
    if len(messages) > _MANY_MESSAGES:
        return await asyncio.to_thread(_work_to_do, blocks, messages, policy, existed)
    return _work_to_do(blocks, messages, policy, existed)


def _work_to_do(blocks: Sequence[Block], messages: Sequence[Message], policy: ChunkPolicy, existed: bool) -> _Work:
    digests = policy.digests(messages)
    found = align(blocks, digests)
    settled = max(0, len(messages) - policy.lookback)
    runs: list[tuple[int, int, BlockKey | None]] = [
        (gap.start, min(gap.stop, settled), gap.before) for gap in found.gaps if gap.start < settled
    ]
    if _is_due(messages[found.place : settled], policy, existed):
        runs.append((found.place, settled, None))
    chunks = [
        chunk
        for start, stop, before in runs
        for chunk in _chunks(messages[start:stop], digests.own[start:stop], before, policy)
    ]
    return _Work(changes=found.changes, chunks=chunks)


def _is_due(new: Sequence[Message], policy: ChunkPolicy, existed: bool) -> bool:
    """True when new messages are to be made into chunks. In a new store only tokens count, for few large chunks."""
    if not new:
        return False
    if policy.takes_all or (existed and len(new) >= policy.most_messages):
        return True
    return policy.estimate("\n".join(message.text for message in new)) >= policy.target_tokens


def _chunks(
    messages: Sequence[Message], digests: Sequence[str], before: BlockKey | None, policy: ChunkPolicy
) -> Iterator[Chunk]:
    """The chunks of a run that contain text; chunks of pictures alone are left out."""
    tokens = [policy.estimate(message.text) for message in messages]
    for start, stop in chunk_spans(tokens, policy.target_tokens):
        part = messages[start:stop]
        text = "\n".join(message.text for message in part)
        if text.strip():
            source = ChunkSource(
                hash=hashes(part[-1])[0],
                digests=digests[start:stop],
                messages=[SourceMessage(role=one.role, text=one.text, uid=one.uid) for one in part],
            )
            yield Chunk(text=text, source=source, before=before)


class _Stopped(Enum):
    """Returned by a worker instead of a result when it must not begin another chunk."""

    STOPPED = 0


class _Run(Generic[R]):
    def __init__(self, chunks: Sequence[Chunk], keep: Keep[R], control: Control) -> None:
        self._chunks = chunks
        self._keep = keep
        self._control = control
        self.done = 0
        self.notes: list[str] = []
        self.is_unusable = False

    async def go(self, workers: Sequence[Worker[R]], *, in_order: bool) -> None:
        watched = [self._stoppable_worker(worker) for worker in workers]
        results = _one_by_one(self._chunks, watched) if in_order else _all_at_once(self._chunks, watched)
        async with aclosing(results):
            while self.done < len(self._chunks):
                try:
                    result = await anext(results)
                except MnemoirError as error:
                    self.is_unusable = isinstance(error, ProviderInvalidOutput | ProviderRefused)
                    self._note(f"No memory could be made of a chunk: {error}")
                    return
                if result is _Stopped.STOPPED:
                    return
                if result is None:
                    self.is_unusable = True
                    self._note("A model said nothing about a chunk.")
                    return
                await self._store(result)

    async def _store(self, result: R) -> None:
        chunk = self._chunks[self.done]
        await to_its_end(self._keep(result, chunk.source, chunk.before))
        self.done += 1
        self._control.progress(self.done, len(self._chunks))

    def _note(self, cause: str) -> None:
        left = len(self._chunks) - self.done
        self.notes.append(f"{cause} Nothing is lost: {left} of {len(self._chunks)} chunks are made the next time.")

    def _stoppable_worker(self, worker: Worker[R]) -> "_Watched[R]":
        """The worker, answering STOPPED without a call once the run is to end."""

        async def process_chunk(chunk: Chunk) -> R | _Stopped | None:
            return await worker(chunk) if self._control.goes_on() else _Stopped.STOPPED

        return process_chunk


_Watched = Callable[[Chunk], Awaitable[R | _Stopped | None]]


async def _one_by_one(
    chunks: Sequence[Chunk], workers: Sequence[_Watched[R]]
) -> AsyncGenerator[R | _Stopped | None, None]:
    """Process chunks one after the other, each by the first worker that has not failed."""
    able = list(workers)
    for chunk in chunks:
        while True:
            try:
                result = await able[0](chunk)
                break
            except MnemoirError:
                if len(able) == 1:
                    raise
                del able[0]
        yield result


async def _all_at_once(
    chunks: Sequence[Chunk], workers: Sequence[_Watched[R]]
) -> AsyncGenerator[R | _Stopped | None, None]:
    async with aclosing(spread_in_order(chunks, [_worker_with_index(worker) for worker in workers])) as results:
        async for _, result in results:
            yield result


def _worker_with_index(worker: _Watched[R]) -> Callable[[int, Chunk], Awaitable[R | _Stopped | None]]:
    return lambda index, chunk: worker(chunk)
