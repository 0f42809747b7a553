"""What a chat through Mnemoir costs without memory, against a bare pass-through and a direct call.

Three processes: the upstream, the pass-through, the server. CPU is the process's own user and system time over
all requests of a round; rounds of the two servers alternate, so that both see the same machine.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import orjson
import psutil

from bench.report import median, ms, table
from tests.serving import ServerProcess, free_port

ROUNDS = 11
REQUESTS = 300
STREAMS = 60
AT_ONCE = 8
FIRST_TOKEN_CALLS = 100


def body(*, stream: bool) -> bytes:
    """One request as an app would send it: a system prompt and a short conversation."""
    messages = [{"role": "system", "content": "You are a helpful assistant. " * 20}]
    messages += [{"role": role, "content": "some words of talk " * 10} for role in ("user", "assistant", "user")]
    return orjson.dumps({"model": "mnemoir", "messages": messages, "stream": stream})


async def load(session: aiohttp.ClientSession, url: str, count: int, *, stream: bool) -> None:
    """`count` requests, `AT_ONCE` under way at a time."""
    sent, left = body(stream=stream), iter(range(count))

    async def caller() -> None:
        for _ in left:
            async with session.post(f"{url}/v1/chat/completions", data=sent, headers=JSON) as answer:
                answer.raise_for_status()
                await answer.read()

    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))


async def first_token(session: aiohttp.ClientSession, url: str) -> float:
    """Seconds until the first byte of a streamed answer's body."""
    started = time.perf_counter()
    async with session.post(f"{url}/v1/chat/completions", data=body(stream=True), headers=JSON) as answer:
        await answer.content.readany()
        took = time.perf_counter() - started
        await answer.read()
        return took


JSON = {"Content-Type": "application/json"}


def cpu(pid: int) -> float:
    """Seconds of processor time the process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def measure(servers: dict[str, tuple[str, int]], direct: str) -> None:
    """Run all rounds and print the two tables."""
    used: dict[tuple[str, bool], list[float]] = {}
    tokens: dict[str, list[float]] = {name: [] for name in (*servers, "direct")}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for number in range(ROUNDS + 1):
            for stream, count in ((False, REQUESTS), (True, STREAMS)):
                for name, (url, pid) in servers.items():
                    before = cpu(pid)
                    await load(session, url, count, stream=stream)
                    if number:  # the first round warms up
                        used.setdefault((name, stream), []).append((cpu(pid) - before) / count)
        for _ in range(FIRST_TOKEN_CALLS):
            for name, url in (("direct", direct), *((name, url) for name, (url, _) in servers.items())):
                tokens[name].append(await first_token(session, url))
    print_tables(used, tokens)


def print_tables(used: dict[tuple[str, bool], list[float]], tokens: dict[str, list[float]]) -> None:
    """CPU a request and time to first token, with ratios against the pass-through and the direct call."""
    rows = []
    for stream, label in ((False, "JSON"), (True, "100-piece stream")):
        plain, ours = used["pass-through", stream], used["mnemoir", stream]
        ratio = median([mine / theirs for mine, theirs in zip(ours, plain, strict=True)])
        rows.append([label, ms(median(plain)), ms(median(ours)), f"{ratio:.2f}"])
    table("CPU a chat request, no memory (medians of rounds)", ["", "pass-through", "mnemoir", "ratio"], rows)
    direct = median(tokens["direct"])
    rows = [[name, ms(median(took)), ms(median(took) - direct)] for name, took in tokens.items()]
    table("time to first token (median)", ["", "time", "added to direct"], rows)


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A helper process that ends with the block."""
    started = subprocess.Popen([sys.executable, "-m", *command])
    try:
        yield started
    finally:
        started.kill()
        started.wait()


async def until_listening(port: int) -> None:
    """Wait, at most ten seconds, until somebody listens on the port."""
    for _ in range(1000):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    raise TimeoutError(f"nobody listens on port {port}")


def run() -> None:
    """The whole measurement."""
    upstream, passing = free_port(), free_port()
    direct = f"http://127.0.0.1:{upstream}"
    settings = {
        "MEMORY_LLM_PROVIDER": "openai-chat",
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"{direct}/v1",
        "MNEMOIR_LOG__LEVEL": "warning",
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        process("bench.upstream", str(upstream)),
        process("bench.passthrough", str(passing), direct) as plain,
    ):
        for port in (upstream, passing):
            asyncio.run(until_listening(port))
        with ServerProcess(Path(folder) / "data", environment=settings) as server:
            servers = {
                "pass-through": (f"http://127.0.0.1:{passing}", plain.pid),
                "mnemoir": (server.url, server.pid),
            }
            asyncio.run(measure(servers, direct))
