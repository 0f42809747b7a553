"""A served config tree under load, as a process of its own: crowds, idle connections, floods, long conversations."""

import asyncio
import contextlib
import json
import resource
import socket
import threading
import time
from collections import Counter
from typing import Any

import aiohttp
import psutil
import pytest
import requests

from tests.meanwhile import processor_s
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.served_tree import answering, behind, served
from tests.serving import ServerProcess
from tests.tree_kit import settle

CHAT = "/v1/chat/completions"
PLACES = 256  # server.most_active_chats
CONNECTIONS = 1000  # server.most_connections
MIB = 1024 * 1024
TICK_S = 0.01  # what the system counts processor time in


@pytest.fixture
def llm():
    """The far model, on a loop of its own."""
    with ScriptedLLM.in_thread() as threaded:
        yield threaded


@pytest.fixture
def serve(tmp_path, llm):
    """Starts a server for Ann, whose workflow is the nodes given."""
    with contextlib.ExitStack() as running:

        def start(*nodes, **main) -> ServerProcess:
            tree = served(tmp_path, llm.url, *nodes, **main)["workflows.config_dir"]
            arguments = ["--config-dir", tree, "--user", "Ann"]
            return running.enter_context(
                ServerProcess(
                    tmp_path / "data", arguments=arguments, environment={"MNEMOIR_SERVER__DEBUG_PROCESS": "true"}
                )
            )

        yield start


def chat(stream: bool = False, text: str = "Hello") -> dict:
    return {"model": "Ann", "stream": stream, "messages": [{"role": "user", "content": text}]}


def is_alive(server: ServerProcess) -> bool:
    """Whether a chat is answered."""
    answer = requests.post(server.url + CHAT, json=chat(), timeout=60)
    return bool(answer.json()["choices"][0]["message"]["content"] == "Understood.")


@pytest.mark.slow
def test_of_two_thousand_idle_connections_the_oldest_give_way_and_whoever_asks_is_served(serve):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this machine does not allow a process enough connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    server = serve()
    with contextlib.ExitStack() as held:
        idle = [held.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(2000)]
        process = psutil.Process(server.pid)
        idle[0].settimeout(60)
        assert idle[0].recv(1) == b""  # the oldest was closed, and so all have been accepted
        assert ask(idle[-1]).startswith(b"HTTP/1.1 200")
        assert is_alive(server)
        assert process.num_fds() < CONNECTIONS * 1.25 + 128
    assert is_alive(server)


def ask(connection: socket.socket) -> bytes:
    """What a connection that was idle is answered."""
    connection.settimeout(20)
    connection.sendall(b"GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection.recv(65536)


@pytest.mark.slow
async def test_of_a_thousand_chats_at_once_those_with_a_place_are_answered_and_the_rest_told_at_once(serve, llm):
    server = serve(answering(), behind())
    llm.rule(lambda asked: True, Answer(text="Understood.", silent=True))
    told: Counter[tuple[int, str | None]] = Counter()
    all_refused = asyncio.Event()

    async def one(session: aiohttp.ClientSession, number: int) -> None:
        async with session.post(server.url + CHAT, json=chat(stream=number % 2 == 0)) as answer:
            await answer.read()
            told[answer.status, answer.headers.get("Retry-After")] += 1
            if told[503, "1"] == 1000 - PLACES:
                all_refused.set()

    patient = aiohttp.ClientTimeout(total=None, sock_connect=None)
    every_client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=patient)
    async with every_client as session, asyncio.timeout(400), asyncio.TaskGroup() as clients:
        for number in range(1000):
            clients.create_task(one(session, number))
        await all_refused.wait()  # while the model has not said a word: nobody waited for a place
        assert told == {(503, "1"): 1000 - PLACES}
        llm.release()
    assert told == {(200, None): PLACES, (503, "1"): 1000 - PLACES}
    assert is_alive(server)


@pytest.mark.real_time
@pytest.mark.slow
@pytest.mark.parametrize("content", ["turn {n}", "turn {n} " + "word " * 190], ids=["short turns", "almost 10 MiB"])
def test_ten_thousand_turns_are_cut_to_the_context_and_nobody_else_waits_for_it(serve, llm, content):
    server = serve(answering(lastMessagesToSendInsteadOfPrompt=20_000), maxContextTokenSize=4000)
    turns = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": content.format(n=n).strip()} for n in range(9_999)
    ]
    body = json.dumps({"model": "Ann", "stream": True, "messages": turns}).encode()
    assert len(body) < 10 * MIB
    is_alive(server)
    assert any(answered_during(server, body) for _ in range(5))  # a busy machine may miss it once
    sent = [message["content"] for message in llm.requests[-1].body["messages"]]
    assert sent == [turn["content"] for turn in turns[-len(sent) :]]
    assert 1 < len(sent) < 1000
    assert cost_of(server, turns) < 10 * (cost_of(server, turns[:2_500]) + TICK_S)


def answered_during(server: ServerProcess, body: bytes) -> int:
    """How many questions of others were answered while that chat was worked on."""
    worker = threading.Thread(target=requests.post, args=(server.url + CHAT, body), kwargs={"timeout": 60})
    worker.start()
    meanwhile = 0
    with requests.Session() as session:
        while worker.is_alive():
            assert session.get(f"{server.url}/api/version", timeout=60).status_code == 200
            meanwhile += worker.is_alive()
    return meanwhile


def cost_of(server: ServerProcess, turns: list[dict[str, str]]) -> float:
    """The processor time a chat of these turns takes: four times as many may cost four times as much, not sixteen."""
    before = processor_s(server)
    body: dict[str, Any] = {"model": "Ann", "stream": True, "messages": turns}
    assert requests.post(server.url + CHAT, json=body, timeout=60).status_code == 200
    settle(server)
    return processor_s(server) - before


async def requests_of(server: ServerProcess, count: int) -> None:
    """Half of them streamed, one in twenty cut off, sixteen at a time."""
    numbers = iter(range(count))

    async def some(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            async with session.post(server.url + CHAT, json=chat(stream=number % 2 == 0)) as answer:
                assert answer.status == 200
                if number % 20 == 0:
                    await answer.content.readany()
                    answer.close()
                else:
                    assert b"Understood" in (await answer.read()).replace(b" ", b"")

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(some(session) for _ in range(16)))


@pytest.mark.slow
async def test_hundreds_of_requests_leave_neither_memory_nor_descriptors_nor_threads(serve):
    server = serve(answering(), behind())
    process = psutil.Process(server.pid)
    await requests_of(server, 400)
    before, descriptors, threads = process.memory_info().rss, process.num_fds(), process.num_threads()
    await requests_of(server, 1200)
    assert await asyncio.to_thread(is_alive, server)
    assert process.num_threads() <= threads + 1
    assert process.num_fds() <= descriptors + 16  # connections to the model are kept for the next call
    assert process.memory_info().rss - before < 16 * MIB
    await asyncio.to_thread(settle, server)  # every run ends, also those whose client was cut off


@pytest.mark.real_time
@pytest.mark.slow
def test_a_flood_of_bad_requests_and_failing_workflows_fills_no_log(serve):
    server = serve(answering("Nowhere"))
    bodies = ("{", '{"messages": 7}', json.dumps(chat()), json.dumps(chat(stream=True)))
    statuses: Counter[int] = Counter()
    began = time.monotonic()
    with requests.Session() as session:
        for number in range(2400):
            statuses[session.post(server.url + CHAT, data=bodies[number % 4], timeout=60).status_code] += 1
    assert statuses == {400: 1200, 500: 1200}
    whiles = (time.monotonic() - began) // 10 + 2  # ten seconds each; of one kind of line at most 500 in it
    assert server.log.read_text().count("\n") < 500 * whiles + 100
