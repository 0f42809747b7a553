"""Chats as apps send them, and the processes they are sent to."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import aiohttp
import orjson
import psutil

from mnemoir.core.events import Event

JSON = {"Content-Type": "application/json"}


def new_session() -> aiohttp.ClientSession:
    """A client with as many connections as it takes."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


def body(*, stream: bool, model: str = "mnemoir") -> bytes:
    """One request as an app would send it: a system prompt and a short conversation."""
    messages = [{"role": "system", "content": "You are a helpful assistant. " * 20}]
    messages += [{"role": role, "content": "some words of talk " * 10} for role in ("user", "assistant", "user")]
    return orjson.dumps({"model": model, "messages": messages, "stream": stream})


async def load(
    session: aiohttp.ClientSession, url: str, count: int, *, stream: bool, at_once: int = 8, model: str = "mnemoir"
) -> None:
    """`count` requests, `at_once` under way at a time. Each answer is read to its end."""
    sent, left = body(stream=stream, model=model), iter(range(count))

    async def caller() -> None:
        for _ in left:
            async with session.post(f"{url}/v1/chat/completions", data=sent, headers=JSON) as answer:
                answer.raise_for_status()
                await answer.read()

    await asyncio.gather(*(caller() for _ in range(at_once)))


async def discard(batch: Sequence[Event]) -> None:
    """Takes the events of an answer that nobody reads."""


async def first_token(session: aiohttp.ClientSession, url: str, model: str = "mnemoir") -> float:
    """Seconds until the first byte of a streamed answer's body."""
    sent, started = body(stream=True, model=model), time.perf_counter()
    async with session.post(f"{url}/v1/chat/completions", data=sent, headers=JSON) as answer:
        await answer.content.readany()
        took = time.perf_counter() - started
        await answer.read()
        return took


def cpu(pid: int) -> float:
    """Seconds of processor time the process has used; to the microsecond on Linux, else to some ten milliseconds."""
    if sys.platform == "linux":
        return time.clock_gettime(~pid << 3 | 2)  # the clock of a process, as clock_getcpuclockid(3) makes its number
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
