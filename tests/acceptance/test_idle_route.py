"""While a server adds, searches and streams, a route that does nothing is answered all the same.

How soon is measured by the benchmarks. Here answers are counted that come while an add is under way: something that
held the event loop would let none through.
"""

import threading
from typing import Any

import pytest
import requests

from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import ServerProcess

STREAMS = 8
TURNS = [{"role": "user", "content": f"On day {n} I painted train {n % 7} in Oslo and ate soup."} for n in range(40)]


@pytest.mark.costly("it is about a load")
def test_no_work_holds_up_a_route_that_does_nothing(tmp_path):
    answered: list[int] = []
    during_adds: list[int] = []
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: True, Answer(text="word " * 400))
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.openai_url}
        with ServerProcess(tmp_path / "data", environment=environment) as server:
            workers = [threading.Thread(target=add_and_search, args=(server, answered, during_adds))]
            workers += [threading.Thread(target=chat, args=(server,)) for _ in range(STREAMS)]
            for worker in workers:
                worker.start()
            with requests.Session() as session:
                while any(worker.is_alive() for worker in workers):
                    answered.append(session.get(f"{server.url}/api/version", timeout=60).status_code)
    assert set(answered) == {200}
    assert len(answered) > 20
    assert len(during_adds) == 2
    assert min(during_adds) > 5


def add_and_search(server: ServerProcess, answered: list[int], during_adds: list[int]) -> None:
    memories = f"{server.url}/api/memories"
    for _ in range(2):
        body: dict[str, Any] = {"messages": TURNS, "user_id": "busy", "infer": False}
        before = len(answered)
        requests.post(memories, json=body, timeout=60).raise_for_status()
        during_adds.append(len(answered) - before)
        found = {"query": "who paints trains in Oslo?", "user_id": "busy"}
        requests.post(f"{memories}/search", json=found, timeout=60).raise_for_status()
    requests.get(f"{server.url}/api/export", timeout=60).raise_for_status()


def chat(server: ServerProcess) -> None:
    body: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60).raise_for_status()
