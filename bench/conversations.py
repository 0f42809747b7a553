"""Growing conversations of one user: saving, searching, windows, back-filling, and the recall of the search.

`python -m bench.conversations [--small]`; `--small` uses a tenth of the messages. Each baseline is the plain way: an
insert and a commit; FTS5 and a matrix product, combined by rank; the newest rows of a table. Only the recall uses a
real embedding model; the others use a client that looks up each word in a table.
"""

import argparse
import asyncio
import gc
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psutil

from bench.conversation_baselines import WORDS, PlainSearch, plain_table, save_plainly
from bench.conversation_recall import compare_recall
from bench.memories import questions, texts
from bench.report import median, ms, percentile, table
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.core.conversations import Message, MessageRecord, SessionMetadata
from mnemoir.storage.conversations.vector_file import VectorFileStore

SIZE = 100_000
SESSIONS = 10_000
SEARCHES = 60
WINDOWS = 100
BATCH = 32
BATCHES = 100
SINGLES = 300
FEW = 10
MIB = 2**20
_BEAT_S = 0.01


@contextmanager
def opened(folder: Path, *, embed_sync: bool = True) -> Iterator[MemoryManager]:
    """A user's conversations, opened as the server does: acknowledged writes survive a power failure."""
    with closing(VectorFileStore("messages", folder)) as store:
        client = ModelEmbeddingClient(WORDS)
        path = folder / "conversations.db"
        with MemoryManager(
            path, embedding_client=client, vector_store=store, embed_sync=embed_sync, synced=True
        ) as made:
            yield made


def said(wanted: Sequence[str]) -> list[Message]:
    """Alternating questions and answers with these texts."""
    return [Message("assistant" if number % 2 else "user", text) for number, text in enumerate(wanted)]


def timed(work: Callable[[], object]) -> float:
    """The seconds that the work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure_saving(memory: MemoryManager, db: sqlite3.Connection, name: str) -> list[str]:
    """One row: saving batches and single messages; words and vectors are indexed when the call returns."""
    messages = said(texts(BATCHES * BATCH + SINGLES, seed=7))
    batches = [messages[start * BATCH : (start + 1) * BATCH] for start in range(BATCHES)]
    singles = messages[BATCHES * BATCH :]
    ours = [timed(partial(memory.save_messages, "saving", batch)) for batch in batches]
    plain = [timed(partial(save_plainly, db, batch)) for batch in batches]
    alone = [timed(partial(memory.save_message, "saving", one)) for one in singles]
    plain_alone = [timed(partial(save_plainly, db, [one])) for one in singles]
    return [
        name,
        f"{BATCH / median(ours):,.0f}/s",
        f"{BATCH / median(plain):,.0f}/s",
        ms(median(alone)),
        ms(percentile(alone, 0.95)),
        ms(percentile(plain_alone, 0.95)),
        f"{median(alone) / median(plain_alone):.1f}",
    ]


def fill(memory: MemoryManager, messages: Sequence[Message], session: str) -> None:
    """Save the messages and wait for their vectors."""
    for start in range(0, len(messages), 500):
        memory.save_messages(session, messages[start : start + 500])
    asyncio.run(memory.wait_for_pending_embeddings())


async def _searches(memory: MemoryManager, kind: str, filters: SearchFilter | None = None) -> list[float]:
    took = []
    for question in questions(SEARCHES):
        started = time.perf_counter()
        if kind == "meaning":
            await memory.search(question, 10, filters=filters)
        else:
            await memory.search_hybrid(question, 10, filters, alpha=0.0 if kind == "words" else None)
        took.append(time.perf_counter() - started)
    return took


def measure_search(memory: MemoryManager, plain: PlainSearch) -> list[list[str]]:
    """Rows: each kind of search next to the plain one, after a warm-up round."""
    asked = questions(SEARCHES)
    baseline = [timed(partial(plain.find, question)) for question in asked * 2][SEARCHES:]
    rows = []
    for name, kind, filters in (
        ("words and meaning", "hybrid", None),
        ("in one conversation", "hybrid", SearchFilter(session_ids=["long"])),
        ("of a user, by metadata", "hybrid", SearchFilter(user="u7")),
        ("by meaning alone", "meaning", None),
        ("by words alone", "words", None),
    ):
        asyncio.run(_searches(memory, kind, filters))
        took = asyncio.run(_searches(memory, kind, filters))
        share = f"{median(took) / median(baseline):.1f}"
        rows.append([name, ms(median(took)), ms(percentile(took, 0.95)), ms(median(baseline)), share])
    return rows


async def _after_save(memory: MemoryManager) -> list[float]:
    took = []
    for question in questions(FEW):
        await asyncio.to_thread(memory.save_message, "saving", Message("user", f"I asked: {question}"))
        await memory.wait_for_pending_embeddings()
        started = time.perf_counter()
        await memory.search_hybrid(question, 10)
        took.append(time.perf_counter() - started)
    return took


async def _first_search(memory: MemoryManager) -> tuple[float, float]:
    """Seconds of the first search, and the longest stall of the event loop meanwhile."""
    worst, ends = 0.0, asyncio.Event()

    async def beat() -> None:
        nonlocal worst
        while not ends.is_set():
            began = time.perf_counter()
            await asyncio.sleep(_BEAT_S)
            worst = max(worst, time.perf_counter() - began - _BEAT_S)

    beating = asyncio.create_task(beat())
    started = time.perf_counter()
    await memory.search_hybrid(questions(1)[0], 10)
    took = time.perf_counter() - started
    ends.set()
    await beating
    return took, worst


def measure_window(memory: MemoryManager, db: sqlite3.Connection) -> list[str]:
    """One row: the window of the long conversation, and a plain read of the same number of newest rows."""
    count = len(memory.load_history("long"))
    query = "SELECT role, body FROM messages WHERE session = 'long' ORDER BY id DESC LIMIT ?"
    ours = [timed(lambda: memory.load_history("long")) for _ in range(WINDOWS)]
    plain = [timed(lambda: db.execute(query, (count,)).fetchall()) for _ in range(WINDOWS)]
    share = f"{median(ours) / median(plain):.1f}"
    return [f"{count} messages", ms(median(ours)), ms(percentile(ours, 0.95)), ms(percentile(plain, 0.95)), share]


class Peak:
    """The peak of this process's resident memory within the block, above the amount before."""

    def __enter__(self) -> "Peak":
        gc.collect()
        self._process, self._ended = psutil.Process(), threading.Event()
        self._before = self.most = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.mib = (self.most - self._before) / MIB

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            self.most = max(self.most, self._process.memory_info().rss)


def measure_backfill(folder: Path, size: int) -> list[str]:
    """One row: vectors for messages that another program saved without them."""
    messages = said(texts(size, seed=9))
    with MemoryManager(folder / "conversations.db") as plain:
        for start in range(0, size, 500):
            plain.save_messages(f"s{start // 500 % 50}", messages[start : start + 500])
    with opened(folder) as memory:
        with Peak() as peak:
            took = timed(memory.backfill_embeddings)
        again = timed(memory.backfill_embeddings)
    return [f"{size:,} messages", f"{took:.1f} s", f"{size / took:,.0f}/s", f"{peak.mib:.0f} MiB", ms(again)]


def _some_sessions(memory: MemoryManager, count: int) -> None:
    """Create conversations of a hundred users, with one message each."""
    for number in range(count):
        memory.storage.open_session(f"s{number}", "", SessionMetadata(user=f"u{number % 100}", title=f"No. {number}"))
    records = [
        MessageRecord(session_id=f"s{number}", role="user", content=text)
        for number, text in enumerate(texts(count, seed=3))
    ]
    memory.storage.save_messages(records)


def run(*, size: int = SIZE, sessions: int = SESSIONS) -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with closing(plain_table(folder)) as db:
            _measure(folder / "user", db, size, sessions)
        row = measure_backfill(folder / "backfill", size)
        table("back-filling (stub embedder)", ["", "time", "rate", "memory on top", "again: nothing to do"], [row])
    compare_recall()


def _measure(folder: Path, db: sqlite3.Connection, size: int, sessions: int) -> None:
    wanted = texts(size)
    with opened(folder) as memory:
        rows = [measure_saving(memory, db, "into an empty file")]
        fill(memory, said(wanted), "long")
        _some_sessions(memory, sessions)
        memory.backfill_embeddings()
        save_plainly(db, said(wanted), "long")
        rows.append(measure_saving(memory, db, f"beside {size:,} messages"))
    header = ["", f"batches of {BATCH}", "plainly", "single", "p95", "plainly, p95", "ratio, single"]
    table("saving durably, with words and vector (plainly: the text alone)", header, rows)

    with opened(folder, embed_sync=False) as memory, Peak() as peak:
        first, gap = asyncio.run(_first_search(memory))
    row = [f"{first:.2f} s", ms(gap), f"{peak.mib:.0f} MiB"]
    table("the first search after a start", ["", "time", "event loop's worst gap", "memory"], [[f"{size:,}", *row]])

    with opened(folder) as memory:
        found = measure_search(memory, PlainSearch(wanted))
        after = asyncio.run(_after_save(memory))
        found.append(["right after a save", ms(median(after)), ms(percentile(after, 0.95)), "", ""])
        header = ["", "median", "p95", "FTS5 and a matrix", "ratio"]
        table(f"searching {size:,} messages of one user in {sessions:,} conversations", header, found)
        header = ["", "median", "p95", "SELECT … LIMIT, p95", "ratio"]
        table(f"the window of a conversation of {size:,} messages", header, [measure_window(memory, db)])


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--small", action="store_true", help="a tenth of the messages")
    if options.parse_args().small:
        run(size=SIZE // 10, sessions=SESSIONS // 10)
    else:
        run()
