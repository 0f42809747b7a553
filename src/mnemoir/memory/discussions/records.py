"""Records: what a discussion holds, as small structured objects that can be searched."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mnemoir.core.discussions import BlockKey, ChunkSource, Discussion, NewRecord
from mnemoir.core.errors import ProviderError, ProviderInvalidOutput
from mnemoir.core.messages import Message
from mnemoir.memory.discussions.making import Chunk, make, plan
from mnemoir.memory.discussions.parts import ChunkPolicy, Control, DiscussionMemory, Made, Plan, Written
from mnemoir.memory.discussions.record_answers import KEYS, RecordAnswer, read_records
from mnemoir.memory.discussions.writing import to_its_end
from mnemoir.ports.embedding import Passage

Extract = Callable[[str, str], Awaitable[Written]]  # a chunk, and what was wrong with the answer before ("" at first)

MOST_RECORDS = 200  # of one chunk
MOST_BYTES = 64 * 2**10  # of one record, as JSON

_WATCH = Control()
_SHOWN_FAULTS = 5
_SHORT = 20_000  # characters of an answer that are read on the event loop
_MOST_CAUGHT_UP = 256  # records a run gives index entries to that had none of the present embedding model
_AT_ONCE = 32


async def make_records(
    memory: DiscussionMemory,
    discussion: Discussion,
    messages: Sequence[Message],
    policy: ChunkPolicy,
    workers: Sequence[Extract],
    *,
    control: Control = _WATCH,
) -> Made:
    """Make records of what the conversation has of settled messages that none were made of yet.

    The chunks are spread over the workers. An answer that is not wholly usable is asked for once more, with what was
    wrong with it; of the better of the two what is good is stored and each item that is not is told in the notes. A
    chunk without a usable answer ends the making. Afterwards older records that have no index entry of the present
    embedding model get theirs. Raises StorageUnavailable.
    """
    notes: list[str] = []

    async def keep(found: _Extracted, source: ChunkSource, before: BlockKey | None) -> None:
        await memory.records.append(discussion, found.records, source, before=before, made_by=found.by)
        notes.extend(found.notes)

    made = await make(
        memory.records,
        memory.files,
        discussion,
        messages,
        policy,
        keep,
        [partial(_records_by, memory, extract) for extract in workers],
        in_order=False,
        control=control,
        backoff=None if policy.takes_all else memory.backoff,
    )
    if not made.is_busy:
        await _catch_up(memory, discussion, control)
    return replace(made, notes=[*notes, *made.notes])


async def plan_records(
    memory: DiscussionMemory, discussion: Discussion, messages: Sequence[Message], policy: ChunkPolicy
) -> Plan:
    """What `make_records` would do now."""
    return await plan(memory.records, discussion, messages, policy)


@dataclass(frozen=True, slots=True)
class _Extracted:
    """What is to be stored of a chunk, who wrote it, and what of the answer is not stored."""

    records: Sequence[NewRecord]
    by: str
    notes: Sequence[str]


async def _records_by(memory: DiscussionMemory, extract: Extract, chunk: Chunk) -> _Extracted:
    """Raises ProviderInvalidOutput when two answers hold nothing that can be used, or what `extract` raises."""
    answer, by = await _read(await extract(chunk.text, ""))
    if answer.faults:
        again = await _read(await extract(chunk.text, _complaint(answer)))
        answer, by = max(again, (answer, by), key=_worth)
    if answer.faults and not answer.records:
        raise ProviderInvalidOutput(
            f"Two answers about a chunk hold no record that can be used. {_told(answer.faults)} "
            "Try another model, or a larger vectorMemoryMaxResponseSizeInTokens."
        )
    kept, dropped = _within_bounds(answer.records)
    entries = await memory.indexing.entries([Passage(text=_indexed(metadata)) for metadata in kept])
    records = [NewRecord(metadata=metadata, entry=entry) for metadata, entry in zip(kept, entries, strict=True)]
    faults = [*answer.faults, *dropped]
    notes = [f"Not all of an answer about a chunk was stored. {_told(faults)}"] if faults else []
    return _Extracted(records, by, notes)


async def _read(written: Written) -> tuple[RecordAnswer, str]:
    """The answer and who wrote it. In a thread when it is long: a hostile one takes seconds."""
    text = written.text
    return (read_records(text) if len(text) <= _SHORT else await asyncio.to_thread(read_records, text)), written.by


def _worth(read: tuple[RecordAnswer, str]) -> tuple[bool, bool, int]:
    """Any record is better than none; then a faultless answer, though it be shorter; then more records."""
    answer, _ = read
    return bool(answer.records), not answer.faults, len(answer.records)


def _complaint(answer: RecordAnswer) -> str:
    return (
        f"Your last answer could not be used as it is. {_told(answer.faults)} Answer again, with the whole list: "
        "JSON only, and in each object the keys title, summary, entities and key_phrases."
    )


def _told(faults: Sequence[str]) -> str:
    more = len(faults) - _SHOWN_FAULTS
    return " ".join(faults[:_SHOWN_FAULTS]) + (f" And {more} more faults." if more > 0 else "")


def _within_bounds(records: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The records that may be stored, and what is wrong with the others."""
    kept: list[Mapping[str, Any]] = []
    faults = []
    for number, metadata in enumerate(records[:MOST_RECORDS], 1):
        size = len(json.dumps(metadata))
        if size > MOST_BYTES:
            faults.append(f"Record {number} has {size} bytes, more than {MOST_BYTES}.")
        else:
            kept.append(metadata)
    if len(records) > MOST_RECORDS:
        faults.append(f"It holds {len(records)} records, more than {MOST_RECORDS}.")
    return kept, faults


def _indexed(metadata: Mapping[str, Any]) -> str:
    """What hybrid search compares: heading and summary, with the names and phrases the summary may lack."""
    lines = [metadata[key] for key in KEYS if metadata.get(key)]
    return "\n".join(", ".join(map(str, line)) if isinstance(line, list) else str(line) for line in lines)


async def _catch_up(memory: DiscussionMemory, discussion: Discussion, control: Control) -> None:
    """Give records their index entries, as far as the embedding model works; words alone find the others."""
    async with memory.files.making(discussion) as is_ours:
        for _ in range(0, _MOST_CAUGHT_UP, _AT_ONCE):
            if not (is_ours and control.goes_on() and await _caught_up_a_few(memory, discussion)):
                return


async def _caught_up_a_few(memory: DiscussionMemory, discussion: Discussion) -> bool:
    """False when there are none left, or the embedding model fails."""
    bare = await memory.records.without_entry(discussion, memory.indexing.model, limit=_AT_ONCE)
    texts = [_indexed({"summary": record.text, **record.metadata}) for record in bare]
    try:
        entries = await memory.indexing.with_vectors([Passage(text=text) for text in texts])
    except ProviderError:
        return False
    made = {
        record.id: NewRecord(metadata=record.metadata, entry=entry)
        for record, entry in zip(bare, entries, strict=True)
    }
    await to_its_end(memory.records.put_entries(discussion, made))
    return bool(bare)
