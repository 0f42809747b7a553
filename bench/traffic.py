"""Chat requests of typical apps, and the processes that receive them."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import aiohttp
import orjson
import psutil

from mnemoir.core.events import Event

JSON = {"Content-Type": "application/json"}


def new_session() -> aiohttp.ClientSession:
    """A client session without a limit on connections."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


def body(*, stream: bool, model: str = "mnemoir", history: int = 3, **more: object) -> bytes:
    """The body of a typical request: a system prompt and the last `history` messages of a conversation."""
    messages = [{"role": "system", "content": "You are a helpful assistant. " * 20}]
    roles = ("user", "assistant") * (history // 2 + 1)
    messages += [{"role": role, "content": "some words of talk " * 10} for role in roles[:history]]
    return orjson.dumps({"model": model, "messages": messages, "stream": stream, **more})


async def load(
    session: aiohttp.ClientSession, url: str, count: int, *, stream: bool, at_once: int = 8, model: str = "mnemoir"
) -> None:
    """Send `count` requests, `at_once` concurrently, and read each answer to its end."""
    await send_all(session, url, [body(stream=stream, model=model)] * count, at_once=at_once)


async def send_all(session: aiohttp.ClientSession, url: str, bodies: Iterable[bytes], *, at_once: int) -> None:
    """Send these requests, `at_once` concurrently, and read each answer to its end."""
    left = iter(bodies)

    async def caller() -> None:
        for sent in left:
            async with session.post(f"{url}/v1/chat/completions", data=sent, headers=JSON) as answer:
                answer.raise_for_status()
                await answer.read()

    await asyncio.gather(*(caller() for _ in range(at_once)))


async def until_idle(pid: int) -> None:
    """Wait, at most ten seconds, until the process does next to nothing: what it does behind its answers is done."""
    for _ in range(100):
        before = cpu(pid)
        await asyncio.sleep(0.1)
        if cpu(pid) - before < 0.005:
            return


async def discard(batch: Sequence[Event]) -> None:
    """Discard the events of an answer."""


async def first_token(session: aiohttp.ClientSession, url: str, model: str = "mnemoir") -> float:
    """Seconds until the first byte of a streamed answer's body."""
    sent, started = body(stream=True, model=model), time.perf_counter()
    async with session.post(f"{url}/v1/chat/completions", data=sent, headers=JSON) as answer:
        await answer.content.readany()
        took = time.perf_counter() - started
        await answer.read()
        return took


def cpu(pid: int) -> float:
    """CPU seconds of the process so far; in microseconds on Linux, else accurate to some ten milliseconds."""
    if sys.platform == "linux":
        return time.clock_gettime(~pid << 3 | 2)  # the clock id of a process, computed as in clock_getcpuclockid(3)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


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
    """Wait, at most ten seconds, until a process listens on the port."""
    for _ in range(1000):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    raise TimeoutError(f"nobody listens on port {port}")
