"""The model fails while chats go on, or the server dies while it extracts: every turn is remembered, each once."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.remembering_model import is_extraction, learn_every_turn
from tests.scripted_llm import Answer, ScriptedLLM, ThreadedLLM, failure
from tests.serving import ServerProcess

TURNS = 60
USERS = ("mira", "tom")


def server_of(tmp_path, llm: ThreadedLLM) -> ServerProcess:
    """A server that asks `llm` for everything, and once."""
    environment = {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": llm.openai_url,
        "MNEMOIR_LLM__TRIES": "1",
        "MNEMOIR_EMBEDDING__PROVIDER": "openai",
    }
    return ServerProcess(tmp_path / "data", environment=environment)


def chat(server: ServerProcess, text: str, user: str = "mira") -> requests.Response:
    body: dict[str, Any] = {
        "model": "mnemoir",
        "messages": [{"role": "user", "content": text}],
        "user": user,
        "memoryEnabled": True,
    }
    return requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def memories(server: ServerProcess, user: str = "mira") -> list[dict]:
    """Newest first."""
    listed = requests.get(f"{server.url}/api/memories", params={"user_id": user, "limit": "1000"}, timeout=60)
    found: list[dict] = listed.json()["results"]
    return found


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)  # nothing tells a client when work behind its answer is done


@pytest.mark.slow
def test_a_server_killed_while_it_extracts_remembers_the_turn_once_after_its_restart(tmp_path):
    with ScriptedLLM.in_thread() as llm, server_of(tmp_path, llm) as server:
        asked, is_up = threading.Event(), False

        def silent_at_first(_: object) -> Answer | None:
            asked.set()
            return None if is_up else Answer(silent=True)

        seen = learn_every_turn(llm, silent_at_first)
        assert chat(server, "I live in Graz.").status_code == 200
        assert asked.wait(60)
        server.kill()
        is_up = True
        server.start()
        wait_until(lambda: bool(memories(server)))
        assert chat(server, "I row on the lake.").status_code == 200
        wait_until(lambda: len(memories(server)) > 1)
        assert [memory["memory"] for memory in memories(server)] == ["I row on the lake.", "I live in Graz."]
        (entry,) = requests.get(f"{server.url}/api/memories/{memories(server)[1]['id']}/history", timeout=60).json()[
            "results"
        ]
        assert "I live in Graz." in str(entry)
        assert seen == [["I live in Graz."], ["I live in Graz."], ["I row on the lake."]]


@pytest.mark.slow
def test_chats_go_on_while_extraction_fails_and_every_turn_is_remembered_afterwards_in_order(tmp_path):
    with ScriptedLLM.in_thread() as llm, server_of(tmp_path, llm) as server:
        is_down = True
        learn_every_turn(llm, lambda _: failure(503) if is_down else None)
        said = {user: [f"{user} tells story number {n}." for n in range(TURNS // 2)] for user in USERS}
        for n in range(TURNS // 2):
            assert [chat(server, said[user][n], user).status_code for user in USERS] == [200, 200]
        assert any(is_extraction(asked) for asked in llm.requests)
        assert [memories(server, user) for user in USERS] == [[], []]
        is_down = False
        wait_until(lambda: all(len(memories(server, user)) == TURNS // 2 for user in USERS))
        for user in USERS:
            assert [memory["memory"] for memory in reversed(memories(server, user))] == said[user]
