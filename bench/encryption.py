"""Processor time of a server with encryption, beside one without: first search after a start, warm searches, chats.

Both serve the same memories in this process, and take turns, so that a busy machine slows both. The first search
reads the index file that the start before kept, or makes the index of rows.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from bench.report import median, ms, table
from mnemoir.app import open_parts
from mnemoir.core.data_directory import MEMORY_PACKS
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.search.indexing import fact_passage
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.server.server_kit import Server
from tests.storage.sealing_kit import a_key

ROWS = 10_000
EMBEDDED = 100  # texts; the others repeat their vectors
STARTS, SEARCHES, CHATS = 7, 80, 60
SCOPE = Scope(project="default", user="bench")
Samples = dict[str, list[float]]


async def measure(folder: Path) -> None:
    """Print a row for each kind of work."""
    kinds = {"plain": {}, "encrypted": _sealed(folder)}
    for name, settings in kinds.items():
        async with AsyncExitStack() as stack:
            await _fill(await _opened(stack, folder / name, settings))
    kept = await _first_searches(folder, kinds, of_rows=False)
    made = await _first_searches(folder, kinds, of_rows=True)
    async with AsyncExitStack() as stack:
        servers = {name: await _opened(stack, folder / name, settings) for name, settings in kinds.items()}
        for server in servers.values():
            await _search(server, 0)
            await _chat(server, 0)
        searches = await _in_turn(servers, _search, SEARCHES)
        chats = await _in_turn(servers, _chat, CHATS)
    table(
        f"encryption: {ROWS:,} memories (processor time, medians)",
        ["work", "plain", "encrypted", "ratio", "difference"],
        [
            _row("first search, kept index", kept),
            _row("first search, of rows", made),
            _row("warm search", searches),
            _row("kept chat", chats),
        ],
    )


async def _first_searches(folder: Path, kinds: Mapping[str, Any], *, of_rows: bool) -> Samples:
    took: Samples = {name: [] for name in kinds}
    for number in range(STARTS):
        for name, settings in kinds.items():
            if of_rows:
                shutil.rmtree(folder / name / MEMORY_PACKS, ignore_errors=True)
            async with AsyncExitStack() as stack:
                server = await _opened(stack, folder / name, settings)
                await server.post("/api/memories/search", {"query": "x", "user_id": "nobody"})  # loads the model
                took[name].append(await _cpu(partial(_search, server, number)))
    return took


async def _in_turn(
    servers: Mapping[str, Server], step: Callable[[Server, int], Awaitable[Any]], count: int
) -> Samples:
    took: Samples = {name: [] for name in servers}
    for number in range(1, count + 1):
        for name, server in servers.items():
            took[name].append(await _cpu(partial(step, server, number)))
    return took


async def _cpu(step: Callable[[], Awaitable[Any]]) -> float:
    started = time.process_time()
    await step()
    return time.process_time() - started


async def _search(server: Server, number: int) -> None:
    await server.post("/api/memories/search", {"query": f"What about thing {number}?", "user_id": SCOPE.user})


async def _chat(server: Server, number: int) -> None:
    messages = [{"role": "user", "content": f"Tell me about thing {number}"}]
    body = {"model": "mnemoir", "messages": messages, "user": SCOPE.user}
    await server.post("/v1/chat/completions", body, x_conversation_id=f"c{number}")


async def _fill(server: Server) -> None:
    texts = [f"Thing {number} stands in room {number % 7} beside the blue door" for number in range(EMBEDDED)]
    entries = await server.parts.memory.indexing.with_vectors([fact_passage(text) for text in texts])
    added = [
        Add(memory=_memory(f"{texts[number % EMBEDDED]}, seen {number} times"), entry=entries[number % EMBEDDED])
        for number in range(ROWS)
    ]
    for start in range(0, ROWS, 500):
        await server.parts.memory.store.commit(SCOPE, added[start : start + 500], Provenance(reason="imported"))


def _memory(text: str) -> Memory:
    return Memory(id=new_memory_id(), text=text, user=SCOPE.user, created_at="2026-01-05T10:00:00Z", kind="fact")


async def _opened(stack: AsyncExitStack, folder: Path, settings: Mapping[str, Any]) -> Server:
    given = {"storage.data_dir": str(folder), "llm.provider": "offline", "log.level": "error", **settings}
    parts = await open_parts(load_settings(None, given, environ={}))
    stack.push_async_callback(parts.aclose)
    return Server(app=create_app(parts, ServerOptions()), parts=parts)


def _sealed(folder: Path) -> dict[str, str]:
    keys = folder / "key"
    keys.write_text(a_key())
    keys.chmod(0o600)
    return {"encryption.mode": "fields", "encryption.key_file": str(keys)}


def _row(work: str, took: Samples) -> list[str]:
    plain, sealed = median(took["plain"]), median(took["encrypted"])
    return [work, ms(plain), ms(sealed), f"{sealed / plain:.2f}", ms(sealed - plain)]


def run() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder)))
