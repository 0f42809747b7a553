"""Sixty-four readers that stand still: each costs a few buffers, the model is held back, and nobody else waits."""

import contextlib
import json
import socket

import psutil
import pytest
import requests

from tests.meanwhile import processor_s
from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import ServerProcess

READERS = 64
QUICK = 150
MIB = 1024 * 1024


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


def cost_of_quick_questions(server: ServerProcess) -> float:
    """The processor time the server takes for them, all of which are answered."""
    before = processor_s(server)
    with requests.Session() as session:
        for _ in range(QUICK):
            answer = session.post(f"{server.url}/v1/chat/completions", json=chat(stream=False), timeout=60)
            assert answer.status_code == 200
    return processor_s(server) - before


@pytest.mark.slow
@pytest.mark.real_time
def test_readers_that_stand_still_cost_a_few_buffers_and_nobody_elses_time(tmp_path):
    with ScriptedLLM.in_thread() as llm:
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.openai_url}
        with ServerProcess(tmp_path / "data", environment=environment) as server, contextlib.ExitStack() as held:
            cost_of_quick_questions(server)  # the first of all prepare what is kept
            alone_s = cost_of_quick_questions(server)
            process = psutil.Process(server.pid)
            before = process.memory_info().rss
            llm.queue(*[Answer(pieces=["word " * 10_000], endless=True)] * READERS)
            readers = [held.enter_context(slow_reader(server.port)) for _ in range(READERS)]
            assert [reader.recv(1) for reader in readers] == [b"H"] * READERS
            beside_s = cost_of_quick_questions(server)
            held_bytes = process.memory_info().rss - before
            assert held_bytes < READERS * 1.5 * MIB  # buffers of socket, client, events and reader
            later_s = cost_of_quick_questions(server)
            assert process.memory_info().rss - before < held_bytes + 8 * MIB  # and no more as time goes by
            assert min(beside_s, later_s) < 2 * alone_s  # the first of them ran while the buffers were filled
