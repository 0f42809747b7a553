"""Two keys on one server: what one of them holds keeps the other's chats waiting no more than a second.

The loud one holds streams that it does not read, heads that it never ends, and live feeds: each by itself, then all.
While these come, all of the other's chats are answered; how many of the crowd's steps lie before one of another key
is counted in `tests/server/test_turns.py`, as seconds then say more about the machine.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.settings import load_settings
from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import ServerProcess

STREAMS, HEADS, FEEDS = 260, 1400, 1300
CHATS = 200
LOUD = ["word " * 4000] * 41  # 800 kB fill all buffers to a client that reads nothing
MOST_S = 1.0
MOST_DESCRIPTORS = 1000 * 1.25 + 256 + 128  # of clients, some of them being refused; of models; other files
MOST_BYTES = 400 * 1024 * 1024  # more than the server took before
CHAT = "/v1/chat/completions"

pytestmark = [pytest.mark.slow, pytest.mark.real_time]


def body_of(text: str, *, stream: bool) -> bytes:
    return json.dumps({"stream": stream, "messages": [{"role": "user", "content": text}]}).encode()


def held(port: int, sent: bytes) -> socket.socket:
    """A connection on which so much was sent, and from which nothing is read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", port))
    with contextlib.suppress(OSError):  # refused, as there are too many
        client.sendall(sent)
    return client


def stream(key: str) -> bytes:
    body = body_of("loud", stream=True)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def feed(key: str) -> bytes:
    return f"GET /api/runs/live HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n\r\n".encode()


def half_a_head(key: str) -> bytes:
    return f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nX-Slow: ".encode()


def chats(port: int, key: str, count: int = CHATS) -> list[tuple[int, float]]:
    """The status and the seconds of each of so many chats, one after the other, on connections of their own."""
    told = []
    for _ in range(count):
        began = time.perf_counter()
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", CHAT, body_of("quiet", stream=False), {"X-API-Key": key})
            answer = connection.getresponse()
            answer.read()
        told.append((answer.status, time.perf_counter() - began))
    return told


@contextlib.contextmanager
def many_descriptors() -> Iterator[None]:
    """Room in this process for all that the loud key holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def new_keys(data_dir: Path) -> tuple[str, str]:
    file = AccessFile(load_settings(None, {"storage.data_dir": str(data_dir)}, environ={}))
    with contextlib.closing(file):
        keys = ApiKeys(file)
        return keys.create(role="write", by="test")[1], keys.create(role="write", by="test")[1]


def hold(port: int, crowd: list[bytes], pipe: Connection) -> None:
    """Open and hold the crowd's connections, in a process of its own, which leaves the processor to the server."""
    os.nice(19)
    with many_descriptors(), contextlib.ExitStack() as holding:
        for sent in crowd:
            holding.enter_context(held(port, sent))
        pipe.send("all are held")
        pipe.recv()


@contextlib.contextmanager
def coming(port: int, crowd: list[bytes]) -> Iterator[Connection]:
    """A crowd that begins to come; its pipe has something to tell when all of it is held."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=hold, args=(port, crowd, there), daemon=True)
    process.start()
    try:
        yield here
    finally:
        here.send("enough")
        process.join()


def test_what_one_key_holds_keeps_another_waiting_no_longer_than_a_second(tmp_path):
    loud, quiet = new_keys(tmp_path / "data")
    crowds = {
        "streams": [stream(loud)] * STREAMS,
        "heads": [half_a_head(loud)] * HEADS,
        "feeds": [feed(loud)] * FEEDS,
    }
    crowds["all at once"] = [sent for crowd in crowds.values() for sent in crowd]
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: "loud" in asked.prompt, Answer(pieces=LOUD, stall_after=len(LOUD) - 1))
        llm.script.default = Answer(text="yes")
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.openai_url}
        with ServerProcess(tmp_path / "data", environment=environment) as server:
            process = psutil.Process(server.pid)
            chats(server.port, quiet)
            before = process.memory_info().rss
            for name, crowd in crowds.items():
                with coming(server.port, crowd) as pipe:
                    while_coming = chats(server.port, quiet, 1)
                    while not pipe.poll():
                        while_coming += chats(server.port, quiet, 1)
                    while_coming += chats(server.port, quiet, 20)  # the model still fills the streams
                    told = chats(server.port, quiet)
                    grown, descriptors = process.memory_info().rss - before, process.num_fds()
                took = sorted(seconds for _, seconds in told)
                p99 = took[len(took) * 99 // 100]
                print(
                    f"{name}: while they come {len(while_coming)} chats, "
                    f"longest {max(seconds for _, seconds in while_coming):.1f} s, then p99 {p99 * 1e3:.0f} ms, "
                    f"longest {took[-1] * 1e3:.0f} ms, "
                    f"{grown / 2**20:.0f} MiB more, {descriptors} descriptors"
                )
                assert {status for status, _ in [*while_coming, *told]} == {200}, name
                assert p99 <= MOST_S, name
                assert (grown <= MOST_BYTES, descriptors <= MOST_DESCRIPTORS) == (True, True), name
