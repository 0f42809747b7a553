"""Sixty-four readers that stand still: each costs a few buffers, the model is held back, and nobody else waits."""

import contextlib
import json
import socket
import time

import psutil
import requests

from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import ServerProcess

READERS = 64
QUICK = 150
MIB = 1024 * 1024
LEAST_WORTH_TELLING_S = 0.02  # below it the machine's own jitter decides


def chat(stream: bool) -> dict:
    return {"model": "mnemoir", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}


def slow_reader(port: int) -> socket.socket:
    """A client that asks for an answer without end and reads its first byte only."""
    body = json.dumps(chat(stream=True)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    reader = socket.socket()
    reader.settimeout(20)
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", port))
    reader.sendall(head.encode() + body)
    return reader


def slowest_but_one(url: str) -> float:
    """The 99th percentile of the time that a quick question takes."""
    took = []
    with requests.Session() as session:
        for _ in range(QUICK):
            began = time.perf_counter()
            assert session.post(f"{url}/v1/chat/completions", json=chat(stream=False), timeout=20).status_code == 200
            took.append(time.perf_counter() - began)
    return sorted(took)[-2]


def test_readers_that_stand_still_cost_a_few_buffers_and_nobody_elses_time(tmp_path):
    with ScriptedLLM.in_thread() as llm:
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.openai_url}
        with ServerProcess(tmp_path / "data", environment=environment) as server, contextlib.ExitStack() as held:
            alone_s = slowest_but_one(server.url)
            process = psutil.Process(server.pid)
            before = process.memory_info().rss
            llm.queue(*[Answer(pieces=["word " * 10_000], endless=True)] * READERS)
            readers = [held.enter_context(slow_reader(server.port)) for _ in range(READERS)]
            assert [reader.recv(1) for reader in readers] == [b"H"] * READERS
            beside_s = slowest_but_one(server.url)
            held_bytes = process.memory_info().rss - before
            assert held_bytes < READERS * 1.5 * MIB  # buffers of socket, client, events and reader
            slowest_but_one(server.url)
            assert process.memory_info().rss - before < held_bytes + 8 * MIB  # and no more as time goes by
            assert beside_s < max(1.5 * alone_s, LEAST_WORTH_TELLING_S)
