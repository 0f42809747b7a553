"""The largest requests that a key may send, six at once: what they cost the process, and what others notice.

The figures are promises that name sizes and times, so the tests count real time.
"""

import asyncio
import json
import os
import random
import string
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from mnemoir.app.parts import open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.server.run import SWITCH_S
from mnemoir.settings import load_settings
from tests.scripted_llm import Answer, ScriptedLLM, ThreadedLLM
from tests.server.server_kit import Server
from tests.serving import ServerProcess
from tests.tree_kit import eventually

MIB = 2**20
AT_ONCE = 6
pytestmark = [pytest.mark.slow, pytest.mark.real_time]


def words(size: int, rng: random.Random) -> str:
    """So many bytes of words that nothing has seen before."""
    said: list[str] = []
    length = 0
    while length < size:
        said.append("".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))))
        length += len(said[-1]) + 1
    return " ".join(said)[:size]


def largest_add(rng: random.Random) -> bytes:
    """A mebibyte of texts, each of the longest length."""
    messages = [{"role": "user", "content": words(32 * 1024, rng)} for _ in range(32)]
    return json.dumps({"messages": messages, "user_id": "mira", "infer": False}).encode()


def resident(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def computed_s(server: ServerProcess) -> float:
    """The seconds of processor time that the process has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watch:
    """The most memory, in bytes, that the process has while it lasts."""

    def __init__(self, server: ServerProcess) -> None:
        self.most = resident(server)
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._measure)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._thread.join()

    def _measure(self) -> None:
        while not self._ended.wait(0.02):
            self.most = max(self.most, resident(self._server))


def p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


@contextmanager
def keyed_server(folder: Path) -> Iterator[tuple[ServerProcess, dict[str, str], dict[str, str]]]:
    """A server with an admin, and the headers of two callers: one who writes, and another one with memories."""
    environment = {"API_KEYS": "an-admin-of-all", "MNEMOIR_LLM__PROVIDER": "offline"}
    with ServerProcess(folder / "data", environment=environment) as server:
        headers = []
        for user in ("mira", "noa"):
            made = requests.post(
                f"{server.url}/api/keys",
                data=json.dumps({"role": "write", "user": user}),
                headers={"X-API-Key": "an-admin-of-all"},
                timeout=60,
            )
            headers.append({"X-API-Key": made.json()["key"]})
        for number in range(60):
            said: Any = {"messages": [{"role": "user", "content": f"I own boat {number}."}], "infer": False}
            requests.post(f"{server.url}/api/memories", json=said, headers=headers[1], timeout=60).raise_for_status()
        yield server, headers[0], headers[1]


def test_six_of_the_largest_adds_at_once_cost_little_and_keep_nobody_waiting(tmp_path):
    rng = random.Random(26)
    with keyed_server(tmp_path) as (server, writer, other), requests.Session() as session:

        def search() -> float:
            begun = time.perf_counter()
            asked = {"query": f"which boat has the number {rng.random()}?"}
            session.post(
                f"{server.url}/api/memories/search", json=asked, headers=other, timeout=60
            ).raise_for_status()
            return time.perf_counter() - begun

        def add(body: bytes) -> int:
            headers = {"Content-Type": "application/json", **writer}
            return requests.post(f"{server.url}/api/memories", data=body, headers=headers, timeout=600).status_code

        assert add(largest_add(rng)) == 200  # what is loaded once is loaded
        idle = [search() for _ in range(100)]
        before, bodies = resident(server), [largest_add(rng) for _ in range(AT_ONCE)]
        during: list[float] = []
        with Watch(server) as watch, ThreadPoolExecutor(AT_ONCE) as pool:
            adds = [pool.submit(add, body) for body in bodies]
            while not all(one.done() for one in adds):
                during.append(search())
        assert [one.result() for one in adds] == [200] * AT_ONCE
        assert watch.most - before <= 200 * MIB
        assert p95(during) <= 2 * p95(idle)
        eventually(lambda: resident(server) - before <= 64 * MIB, within_s=60)


async def longest_gap_s(loops: asyncio.Event) -> float:
    """The longest time for which the loop came to nothing, until the event."""
    longest, interval = 0.0, 0.005
    while not loops.is_set():
        begun = time.perf_counter()
        await asyncio.sleep(interval)
        longest = max(longest, time.perf_counter() - begun - interval)
    return longest


async def test_the_loop_is_held_by_none_of_them(tmp_path):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)  # as `run` does for a server
    given = {"storage.data_dir": str(tmp_path / "data"), "llm.provider": "offline"}
    parts = await open_parts(load_settings(None, given, environ={}))
    try:
        server = Server(app=create_app(parts, ServerOptions()), parts=parts)
        rng, ended = random.Random(26), asyncio.Event()
        await server.ask("POST", "/api/memories", largest_add(rng))
        bodies = [largest_add(rng) for _ in range(AT_ONCE)]
        measuring = asyncio.create_task(longest_gap_s(ended))
        answers = await asyncio.gather(*(server.ask("POST", "/api/memories", body) for body in bodies))
        ended.set()
        assert [answer.status for answer in answers] == [200] * AT_ONCE
        assert await measuring <= 0.1
    finally:
        sys.setswitchinterval(interval)
        await parts.aclose()


def importing(server: ServerProcess) -> None:
    line = {"user_id": "mira", "created_at": "2026-01-01T00:00:00Z"}
    rng = random.Random(1)
    lines = [json.dumps(line | {"memory": words(900, rng)}) for _ in range(5000)]
    requests.post(f"{server.url}/api/import", data="\n".join(lines), timeout=600)


def learning(server: ServerProcess) -> None:
    said: dict[str, Any] = {
        "messages": [{"role": "user", "content": "I row."}],
        "user_id": "mira",
        "async_mode": True,
    }
    requests.post(f"{server.url}/api/memories", json=said, timeout=600)


def chatting(server: ServerProcess, *, stream: bool) -> None:
    body: dict[str, Any] = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}
    requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=600)


@pytest.mark.parametrize("work", ["an import", "a learning job", "a silent upstream", "an open stream"])
def test_a_server_that_is_told_to_stop_does_so_within_twenty_seconds(tmp_path, work):
    with ScriptedLLM.in_thread() as llm:
        silent, endless = Answer(silent=True, text="no"), Answer(text="word " * 400, stall_after=3)
        llm.rule(lambda asked: True, endless if work == "an open stream" else silent)
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.openai_url}
        with ServerProcess(tmp_path / "data", environment=environment) as server:
            thread = threading.Thread(target=lambda: ended(lambda: BY_NAME[work](server)), daemon=True)
            thread.start()
            if work == "an import":
                before = computed_s(server)
                eventually(lambda: computed_s(server) > before + 1)
            else:
                eventually(lambda: bool(asked_of(llm)))
            begun = time.perf_counter()
            server.stop()
            assert time.perf_counter() - begun <= 20
            llm.release()
            thread.join()


def asked_of(llm: ThreadedLLM) -> list[Any]:
    return list(llm.requests)


def ended(work: Any) -> None:
    """The connection is cut by the end of the server."""
    try:
        work()
    except requests.RequestException:
        return


BY_NAME = {
    "an import": importing,
    "a learning job": learning,
    "a silent upstream": lambda server: chatting(server, stream=False),
    "an open stream": lambda server: chatting(server, stream=True),
}
