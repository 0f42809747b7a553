"""The cost of keys, limits, quotas and the audit log for a chat: a server with all of it against one without.

Batches of both alternate, so that both see the same load of the machine; the figure is the median of the ratios of
CPU, batch by batch. Then what it takes to recognise a key (`bench/keys.py`), and whether the time of a refusal tells
what is elsewhere from what is nowhere (`bench/elsewhere.py`).
"""

import asyncio
import tempfile
from contextlib import closing
from pathlib import Path

import aiohttp

from bench import elsewhere, keys
from bench.chat import ratio
from bench.report import median, ms, table
from bench.traffic import cpu, load, new_session, process, until_listening
from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.settings import load_settings
from tests.serving import ServerProcess, free_port

BATCHES = 7
CHATS = 1000
_FAR = "1000000000"
GUARDED = {
    "MNEMOIR_LIMITS__ENABLED": "true",
    "MNEMOIR_LIMITS__CHAT_BURST": _FAR,
    "MNEMOIR_LIMITS__CHAT_PER_MINUTE": _FAR,
    "MNEMOIR_QUOTAS__USER__TOKENS_DAY": _FAR,
    "MNEMOIR_QUOTAS__TENANT__TOKENS_MONTH": _FAR,
}


def new_key(folder: Path) -> str:
    """A key of a data directory, from which on all requests to its server need one."""
    with closing(AccessFile(load_settings(None, {"storage.data_dir": str(folder)}, environ={}))) as file:
        return ApiKeys(file).create(role="write", by="bench")[1]


async def costs(bare: ServerProcess, guarded: ServerProcess, key: str) -> tuple[list[float], list[float]]:
    """CPU seconds of each batch of chats, without and with all of it."""
    taken: tuple[list[float], list[float]] = ([], [])
    async with new_session() as plain, aiohttp.ClientSession(headers={"X-API-Key": key}) as keyed:
        for batch in range(BATCHES + 1):
            for server, session, kept in ((bare, plain, taken[0]), (guarded, keyed, taken[1])):
                before = cpu(server.pid)
                await load(session, server.url, CHATS, stream=False)
                if batch:  # the first one warms up
                    kept.append(cpu(server.pid) - before)
    return taken


def run() -> None:
    """Run the whole benchmark."""
    upstream = free_port()
    settings = {
        "MEMORY_LLM_PROVIDER": "openai-chat",
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{upstream}/v1",
        "MNEMOIR_LOG__LEVEL": "warning",
    }
    with tempfile.TemporaryDirectory() as name, process("bench.upstream", str(upstream)):
        folder = Path(name)
        asyncio.run(until_listening(upstream))
        key = new_key(folder / "guarded")
        with (
            ServerProcess(folder / "bare", environment=settings) as bare,
            ServerProcess(folder / "guarded", environment=settings | GUARDED) as guarded,
        ):
            off, on = asyncio.run(costs(bare, guarded, key))
    rows = [
        ("off", ms(median(off) / CHATS), ""),
        ("keys, limits, quotas, audit log", ms(median(on) / CHATS), f"{ratio(on, off):.3f}"),
    ]
    table(f"CPU per chat, median of {BATCHES} batches of {CHATS}", ("", "CPU", "ratio"), rows)
    keys.run()
    elsewhere.run()


if __name__ == "__main__":
    run()
