"""Costs of a config tree's workflows: a chat through one node, many concurrent chats, reading the tree's files."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import psutil

from bench.chat import PLAIN, THROUGH_A_NODE, ChatServer, measure, print_tables
from bench.config_tree import SLOW_USER, USER, write_large_tree, write_tree
from bench.report import median, ms, table
from bench.stopwatch import Stopwatch
from bench.traffic import body, discard, load, new_session, process, until_listening
from bench.upstream import PIECE_S, PIECES
from mnemoir.app import open_parts
from mnemoir.core.scope import Scope
from mnemoir.settings import load_settings
from mnemoir.wire.openai_chat import read_request
from mnemoir.workflows.config.tree import ConfigTree, Glance
from mnemoir.workflows.run import Caller
from tests.serving import ServerProcess, free_port

MIB = 1024 * 1024
FILES = 500
LOADS = 7
CHATS = 1000
SETTLING_S = 2.5  # files younger than this are read each time, because a further change might not be visible
AT_ONCE = 16
WINDOWS = 7
WINDOW_REQUESTS = 1500
STREAMS = 200
STREAM_ROUNDS = 4


async def requests_per_second(url: str) -> float:
    """JSON answers per second, measured after a warm-up window."""
    rates = []
    async with new_session() as session:
        for _ in range(WINDOWS + 1):
            started = time.perf_counter()
            await load(session, url, WINDOW_REQUESTS, stream=False, at_once=AT_ONCE, model=USER)
            rates.append(WINDOW_REQUESTS / (time.perf_counter() - started))
    return median(rates[1:])


async def slow_streams(url: str, pid: int) -> tuple[float, float, float]:
    """MiB of the server after the first and the last round of slow streams, and the seconds of the last round."""
    server, sizes, took_s = psutil.Process(pid), [], 0.0
    async with new_session() as session:
        for _ in range(STREAM_ROUNDS):
            started = time.perf_counter()
            await load(session, url, STREAMS, stream=True, at_once=STREAMS, model=SLOW_USER)
            took_s = time.perf_counter() - started
            sizes.append(server.memory_info().rss / MIB)
    return sizes[0], sizes[-1], took_s


def load_time(root: Path) -> float:
    """Seconds to find, read and check all files of the tree with empty caches."""
    started = time.perf_counter()
    user = ConfigTree.open(root).user(USER)
    api_type = user.api_type("Chat")
    for folder, read in (
        (("Workflows", USER), user.workflow),
        (("Endpoints", USER), user.endpoint),
        (("Presets", "OpenAI"), lambda name: user.preset(name, api_type)),
    ):
        for name in user.tree.lookup.names(*folder):
            read(name)
    return time.perf_counter() - started


async def lookup_time(root: Path, data: Path) -> float:
    """The median seconds per chat for checking an unchanged tree, in chats through all parts but the web server."""
    overrides = {"storage.data_dir": data, "workflows.config_dir": root, "workflows.users": [USER]}
    parts = await open_parts(load_settings(overrides=overrides))
    chat, stopwatch, taken = read_request(orjson.loads(body(stream=False, model=USER))), Stopwatch(), []
    try:
        with stopwatch.on(ConfigTree, Glance):
            for _ in range(CHATS):
                scope = Scope(project="default", user="bench")
                caller = Caller(scope=scope, request_id="bench", answerer=parts.trees.workflows.answerer(chat))
                await parts.trees.workflows.answer(chat, caller, discard)
                taken.append(stopwatch.seconds)
                stopwatch.seconds = 0.0
    finally:
        await parts.aclose()
    return median(taken)


def question_time(path: Path) -> float:
    """The baseline: seconds for one status call to the file system."""
    name, started = str(path), time.perf_counter()
    for _ in range(CHATS):
        os.stat(name)
    return (time.perf_counter() - started) / CHATS


@contextmanager
def served(home: Path, root: Path, name: str, *users: str, traces: bool = True) -> Iterator[ChatServer]:
    """A running server of the tree for these users."""
    arguments = ["--config-dir", str(root), *(part for user in users for part in ("--user", user))]
    environment = {"MNEMOIR_LOG__LEVEL": "warning", "MNEMOIR_RUNS__ENABLED": str(traces).lower()}
    with ServerProcess(home / name, arguments=arguments, environment=environment) as server:
        yield ChatServer(server.url, server.pid)


def run() -> None:
    """Run the whole benchmark."""
    upstream, passing = free_port(), free_port()
    direct = f"http://127.0.0.1:{upstream}"
    with (
        tempfile.TemporaryDirectory() as folder,
        process("bench.upstream", str(upstream)),
        process("bench.passthrough", str(passing), direct) as plain,
    ):
        home = Path(folder)
        root = write_tree(home / "Public" / "Configs", direct)
        for port in (upstream, passing):
            asyncio.run(until_listening(port))
        with served(home, root, "traced", USER) as traced, served(home, root, "bare", USER, traces=False) as bare:
            passed_through = ChatServer(f"http://127.0.0.1:{passing}", plain.pid)
            servers = {PLAIN: passed_through, "one node": traced, "one node without run traces": bare}
            costs = asyncio.run(measure(servers, direct, USER))
            print_tables(costs, "one node of a config tree", THROUGH_A_NODE)
            rate = asyncio.run(requests_per_second(traced.url))
        with served(home, root, "slow", USER, SLOW_USER) as slow:
            early, late, took_s = asyncio.run(slow_streams(slow.url, slow.pid))
        large = write_large_tree(home / "Large" / "Configs", FILES)
        loading = median([load_time(large) for _ in range(LOADS)])
        time.sleep(SETTLING_S)
        looking, question = asyncio.run(lookup_time(root, home / "lookups")), question_time(root)
    least_s = PIECE_S * (PIECES + 2)
    rows = [
        [f"JSON answers a second, {AT_ONCE} connections", f"{rate:.0f}", "at least 800"],
        [f"{STREAMS} slow streams at once", f"{took_s:.1f} s", f"{least_s:.1f} s is what the model takes"],
        [f"resident after {STREAMS} streams", f"{early:.0f} MiB", ""],
        [f"resident after {STREAMS * STREAM_ROUNDS} streams", f"{late:.0f} MiB", "no more than after the first"],
        [f"a tree of {FILES} files, read whole", ms(loading), "at most 1000 ms"],
        ["files of an unchanged tree, a chat", f"{looking * 1e6:.0f} µs", "at most 50 µs"],
        ["one question to this file system", f"{question * 1e6:.1f} µs", ""],
    ]
    table("many chats at a time, and the tree itself", ["", "measured", "target"], rows)
