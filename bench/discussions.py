"""Memory of discussions: searching records, reading chunk summaries, finding the last processed message, rebuilding.

`python -m bench.discussions [--small]`; `--small` uses a tenth of everything. Each baseline is the plain way: a
full-text query in the order of bm25, a JSON array that is read as a whole, and a lookup of the newest memory's hash
among the hashes of all messages.
"""

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw
import orjson

from bench.config_tree import USER, write_memory_tree
from bench.report import median, ms, percentile, table
from bench.talk import (
    blocks,
    conversation,
    edited,
    keywords,
    ledger_lines,
    records,
    source,
)
from bench.traffic import discard, process, until_listening
from bench.upstream import WAIT_S
from mnemoir.app import logs, open_parts
from mnemoir.core.discussions import Block, Discussion, NewRecord, RollingSummary
from mnemoir.core.messages import ChatRequest, Message, ModelRequest, text_message
from mnemoir.core.scope import Scope
from mnemoir.core.text import estimate_prompt_tokens, hashes
from mnemoir.memory.discussions.alignment import align
from mnemoir.memory.discussions.parts import DiscussionMemory, digests_of
from mnemoir.memory.discussions.reading import (
    all_summaries,
    find_records,
    recent_summaries,
    rolling_summary_text,
    summaries_since,
)
from mnemoir.ports.discussions import RecordStore
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search.indexing import Indexing
from mnemoir.settings import load_settings
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.workflows.run import Caller
from tests.serving import free_port

RECORDS, CHUNKS, MESSAGES, TOKENS = 100_000, 10_000, 10_000, 200_000
NOT_YET = 10  # unprocessed messages at the end of the conversation
SEARCHES, READS, LOOKS, APPENDS = 200, 200, 30, 50
LIMIT = 5
PER_CHUNK = 100
HEADER = ("", "median", "p95", "baseline", "ratio", "target")

_PLAIN = (
    "SELECT memories.memory_text FROM memories_fts JOIN memories ON memories.id = memories_fts.rowid "
    "WHERE memories_fts MATCH ? ORDER BY bm25(memories_fts) LIMIT ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measured seconds of an operation and of its baseline."""

    name: str
    took: Sequence[float]
    baseline: Sequence[float] = ()
    target: str = ""

    def cells(self) -> Sequence[str]:
        plain = median(self.baseline) if self.baseline else None
        ratio = f"{median(self.took) / plain:.3f}" if plain else ""
        shown = ms(plain) if plain else ""
        return [self.name, ms(median(self.took)), ms(percentile(self.took, 0.95)), shown, ratio, self.target]


async def times(count: int, work: Callable[[int], Awaitable[object]]) -> list[float]:
    """The seconds of each call, after one warm-up call that is not counted."""
    await work(0)
    took = []
    for number in range(count):
        started = time.perf_counter()
        await work(number)
        took.append(time.perf_counter() - started)
    return took


def plain_times(count: int, work: Callable[[int], object]) -> list[float]:
    """The seconds of each synchronous call, after a warm-up call."""
    work(0)
    took = []
    for number in range(count):
        started = time.perf_counter()
        work(number)
        took.append(time.perf_counter() - started)
    return took


async def measure_search(memory: DiscussionMemory, root: Path, count: int) -> list[Row]:
    """Rows: searches in the records of one discussion, with a model's keywords and with common words only."""
    discussion, made = Discussion(root=root, id="searched"), records(count)
    await fill(memory.records, discussion, made)
    usual, common = keywords(SEARCHES, made), keywords(SEARCHES, made, all_common=True)
    plain = apsw.Connection(str(root / "searched_vector_memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = []
    try:
        for name, asked, target in (("", usual, "p95 at most 20 ms"), (", common words only", common, "")):
            took = await times(SEARCHES, partial(search, memory, discussion, asked))
            baseline = plain_times(SEARCHES, partial(plain_search, plain, asked))
            rows.append(Row(name=f"search in {count:,} records{name}", took=took, baseline=baseline, target=target))
    finally:
        plain.close()
    return rows


async def search(memory: DiscussionMemory, discussion: Discussion, asked: Sequence[Sequence[str]], at: int) -> object:
    """Search as a workflow node does."""
    return await find_records(memory, discussion, "; ".join(asked[at]), limit=LIMIT)


async def fill(store: RecordStore, discussion: Discussion, made: Sequence[NewRecord]) -> None:
    """Store records, a hundred per chunk."""
    await store.begin(discussion)
    for number, start in enumerate(range(0, len(made), PER_CHUNK)):
        await store.append(discussion, made[start : start + PER_CHUNK], source(number))


def plain_search(database: apsw.Connection, asked: Sequence[Sequence[str]], at: int) -> object:
    """The plain full-text query."""
    phrases = " OR ".join(f'"{phrase}"' for phrase in asked[at])
    return database.execute(_PLAIN, (phrases, LIMIT)).fetchall()


async def measure_reading(memory: DiscussionMemory, root: Path, count: int) -> list[Row]:
    """Rows: reading a long ledger, next to a JSON array of the same summaries; and appending one summary."""
    discussion, lines = Discussion(root=root, id="read"), ledger_lines(count)
    (root / "read_memories.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    array = root / "array.json"
    array.write_text(json.dumps([{k: line[k] for k in ("text_block", "hash")} for line in lines], indent=4))
    await memory.summaries.save(
        discussion, RollingSummary(text="So far.", hash=str(lines[-4]["hash"]), number=count - 3)
    )
    baseline = plain_times(10, lambda _: json.loads(array.read_bytes())[-3:])
    found = await recent_summaries(memory, discussion, 3)
    assert found == [line["text_block"] for line in lines[-3:]], "the ledger is not read as it was written"
    readers: Sequence[tuple[str, Callable[[int], Awaitable[object]], str]] = (
        ("newest 3", lambda _: memory.ledger.newest(discussion, 3), "p95 at most 2 ms"),
        ("newest 50", lambda _: memory.ledger.newest(discussion, 50), "p95 at most 2 ms"),
        ("the last three for a node", lambda _: recent_summaries(memory, discussion), "p95 at most 5 ms"),
        ("all summaries", lambda _: all_summaries(memory, discussion), "p95 at most 5 ms"),
        ("those after the rolling summary", lambda _: summaries_since(memory, discussion), "p95 at most 5 ms"),
        ("the rolling summary", lambda _: rolling_summary_text(memory, discussion), "p95 at most 5 ms"),
    )
    rows = [
        Row(name=f"{name}, of {count:,} chunks", took=await times(READS, work), baseline=baseline, target=target)
        for name, work, target in readers
    ]
    stored = await times(APPENDS, lambda number: memory.ledger.append(discussion, "Notes.", source(count + number)))
    rewritten = plain_times(5, lambda _: array.write_text(json.dumps(json.loads(array.read_bytes()), indent=4)))
    return [*rows, Row(name=f"store one more, after {count:,}", took=stored, baseline=rewritten)]


def measure_place(count: int) -> list[Row]:
    """Rows: finding the first unprocessed message of a conversation of which only the last ones are unprocessed."""
    messages = conversation(count)
    kept = blocks(digests_of(messages).own[: count - NOT_YET])
    stored = {hashlib.sha256(messages[count - NOT_YET - 1].text.encode()).hexdigest()}
    changed = edited(messages, count // 2)
    assert align(kept, digests_of(messages)).place == count - NOT_YET, "the place was not found"
    baseline = plain_times(LOOKS, lambda _: plain_place(messages, stored))
    cases = (
        ("as it was", messages),
        ("with a message edited", changed),
        ("only its newest half", messages[count // 2 :]),
    )
    return [
        Row(
            name=f"place in {count:,} messages, {name}",
            took=plain_times(LOOKS, partial(find_place, kept, said)),
            baseline=baseline,
            target="at most 20 ms",
        )
        for name, said in cases
    ]


def find_place(kept: Sequence[Block], messages: Sequence[Message], _: int) -> int:
    """The index of the first message after the last chunk, the first step of making memories."""
    return align(kept, digests_of(messages)).place


def plain_place(messages: Sequence[Message], stored: set[str]) -> int:
    """The way of the format: hash all messages and search for the newest stored one."""
    known = [hashes(message)[0] for message in messages]
    return next((at for at in reversed(range(len(known))) if known[at] in stored), -1) + 1


async def measure_making(home: Path, upstream: str, tokens: int) -> list[list[str]]:
    """Rows: a whole chat that makes the chunk summaries of a long conversation, over one and over three endpoints."""
    said = long_conversation(tokens)
    one, chunks = await made_anew(home / "one", upstream, said, endpoints=1)
    three, again = await made_anew(home / "three", upstream, said, endpoints=3)
    assert chunks == again, "the same conversation gave other chunks"
    title = f"{tokens:,} tokens, {chunks} chunks, {WAIT_S * 1e3:.0f} ms an answer"
    least = chunks * WAIT_S / 3
    return [[title, f"{one:.2f} s", f"{three:.2f} s", f"{one / three:.2f}", "at least 2.7", f"{least:.2f} s"]]


def long_conversation(tokens: int) -> list[Message]:
    """Messages of about `tokens` tokens in all, and some newer ones that stay unprocessed; the first holds the id."""
    messages, total = conversation(tokens // 20), 0
    for number, message in enumerate(messages):
        if total >= tokens:
            tag = text_message("system", "[DiscussionId]anew[/DiscussionId]")
            return [tag, *messages[: number + 3]]
        total += estimate_prompt_tokens(message.text)
    raise ValueError("the conversation is too short")


async def made_anew(home: Path, upstream: str, messages: Sequence[Message], *, endpoints: int) -> tuple[float, int]:
    """Seconds until all memories are made, and the number of chunks."""
    root = write_memory_tree(home / "Public" / "Configs", upstream, home / "kept", endpoints)
    own = {"storage.data_dir": home / "data", "log.level": "warning"}
    settings = load_settings(overrides={**own, "workflows.config_dir": root, "workflows.users": [USER]})
    logs.set_up(settings.log)
    parts = await open_parts(settings)
    try:
        caller = Caller(scope=Scope(project="default", user="bench"), request_id="bench")
        chat = ChatRequest(request=ModelRequest(messages=tuple(messages), model=USER), stream=False)
        started = time.perf_counter()
        await parts.trees.workflows.answer(chat, caller, discard)
        took = time.perf_counter() - started
        discussion = await parts.chats.discussions.require(USER, "anew")
        return took, len(await parts.chats.discussions.memory.ledger.all(discussion))
    finally:
        await parts.aclose()


async def measure_stores(root: Path, scale: int) -> list[Row]:
    """Run all parts that need no server, in one folder."""
    embedding = MiniLM()
    memory = DiscussionMemory(
        ledger=FileChunkLedger(),
        summaries=FileRollingSummaries(),
        records=(store := SqliteRecordStore()),
        files=FileDiscussionFiles(),
        indexing=Indexing(embedding),
        embedding=embedding,
    )
    try:
        found = await measure_search(memory, root, RECORDS // scale)
        return [*found, *await measure_reading(memory, root, CHUNKS // scale)]
    finally:
        await store.aclose()
        await embedding.aclose()


def run(scale: int = 1) -> None:
    """Run the whole benchmark, with sizes divided by `scale`."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, process("bench.upstream", str(port)):
        home = Path(folder)
        (home / "stores").mkdir()
        rows = asyncio.run(measure_stores(home / "stores", scale)) + measure_place(MESSAGES // scale)
        table("memory of discussions; the ratio is that of the medians", HEADER, [row.cells() for row in rows])
        asyncio.run(until_listening(port))
        made = asyncio.run(measure_making(home, f"http://127.0.0.1:{port}", TOKENS // scale))
        header = ("memories of a conversation made anew", "one endpoint", "three", "times as fast", "target", "ideal")
        table("making memories", header, made)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--small", action="store_true", help="a tenth of everything")
    run(10 if options.parse_args().small else 1)
