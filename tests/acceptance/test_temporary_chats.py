"""Nothing of a temporary chat outlives its answer: no byte of the data directory or the log holds a word of it."""

import json
from typing import Any

import pytest
import requests

from tests.acceptance.conversation_kit import answered, holds, open_place, said
from tests.acceptance.discussion_kit import ANSWER, open_house
from tests.acceptance.discussion_kit import said as marked
from tests.scripted_llm import Answer
from tests.tree_kit import eventually, run_of, settle

OPEN_WEBUI = {"X-OpenWebUI-Chat-Id": "temporary:socket-1"}
EARLIER = {"X-OpenWebUI-Chat-Id": "local:socket-1"}
CANARY = "quizzicalmarmalade"
ANSWERED = "velveteenaubergine"
TEMPORARY = pytest.mark.parametrize(
    ("headers", "body"),
    [(OPEN_WEBUI, {}), (EARLIER, {}), ({}, {"store": False}), (OPEN_WEBUI, {"store": True})],
    ids=["Open WebUI", "earlier Open WebUI", "store", "both"],
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with open_place(tmp_path_factory.mktemp("temporary"), learns=True, MEMORY_ENABLED="true") as opened:
        yield opened


def ask(place, text, headers, answer=f"It is called {ANSWERED}.", **body):
    """A chat with memory on in a conversation of its own; its whole answer."""
    place.model.ready = [Answer(text=answer)]
    sent = {"model": "any", "messages": [said(text)], "memoryEnabled": True, "session_id": "s-1", **body}
    url = f"{place.server.url}/v1/chat/completions"
    reply = place.http.post(url, json=sent, headers=headers, timeout=30)
    assert reply.status_code == 200, reply.text
    assert reply.text  # all of it has come
    return reply


def memories(place):
    """All facts of the user."""
    return place.http.get(f"{place.server.url}/api/memories/user", timeout=30).json()["results"]


@TEMPORARY
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_no_byte_of_a_temporary_chat_stays(place, headers, body, stream):
    before = place.ids(), memories(place)
    reply = ask(place, f"My lover is called {CANARY}.", headers, stream=stream, **body)
    assert reply.headers["x-memory-skipped"] == "temporary"
    assert "x-conversation-id" not in reply.headers
    run = run_of(place.server, reply.headers["x-workflow-run-id"])
    assert run["is_temporary"] is True
    settle(place.server)
    assert (place.ids(), memories(place)) == before
    assert holds(place.server.data_dir, [CANARY, ANSWERED, "socket-1"], place.server.log) == {}


@TEMPORARY
def test_the_trace_has_figures_and_no_texts(place, headers, body):
    reply = ask(place, f"My lover is called {CANARY}.", headers, **body)
    run = run_of(place.server, reply.headers["x-workflow-run-id"])
    (node,) = [node for node in run["workflows"][0]["nodes"] if node["is_responder"]]
    assert node["input_tokens"] > 0
    assert node["output_tokens"] > 0
    assert (run["asked"], node["prompt"], node["output"], node["call"], node["variables"]) == (
        [],
        None,
        None,
        None,
        [],
    )
    assert run["scope"]["conversation"] is None
    assert CANARY not in json.dumps(run)


def test_no_command_is_made_of_a_temporary_chat(place):
    reply = ask(place, f"My lover is called {CANARY}.", OPEN_WEBUI)
    run = run_of(place.server, reply.headers["x-workflow-run-id"])
    for query in ("", "?node=0"):
        command = place.http.get(f"{place.server.url}/api/runs/{run['id']}/curl{query}", timeout=30)
        assert (command.status_code, command.json()["code"]) == (404, "no_request")


@TEMPORARY
def test_the_trace_of_a_temporary_chat_that_fails_quotes_nothing(place, headers, body):
    place.model.ready = [Answer(status=400, body=json.dumps({"error": {"message": f"No {CANARY}"}}).encode())]
    sent = {"model": "any", "messages": [said(CANARY)], "memoryEnabled": True, **body}
    reply = place.http.post(f"{place.server.url}/v1/chat/completions", json=sent, headers=headers, timeout=30)
    assert reply.status_code == 400
    run = run_of(place.server, reply.headers["x-workflow-run-id"])
    assert run["status"] == "failed"
    assert CANARY not in json.dumps(run)
    assert holds(place.server.data_dir, [CANARY], place.server.log) == {}


def test_a_temporary_chat_recalls_what_is_known(place):
    known = {"messages": [said("Ada keeps nine hives of bees.")], "user_id": "user", "infer": False}
    place.http.post(f"{place.server.url}/api/memories", json=known, timeout=30).raise_for_status()
    reply = ask(place, "How many hives of bees does Ada keep?", OPEN_WEBUI)
    assert int(reply.headers["x-memory-injected"]) > 0
    assert "nine hives" in str(place.model.last_shown)


def test_a_stored_history_cannot_be_shown_in_a_temporary_chat(place):
    sent = {"model": "any", "messages": [said("Hello")], "history": "server", "session_id": "s-1"}
    reply = place.http.post(f"{place.server.url}/v1/chat/completions", json=sent, headers=OPEN_WEBUI, timeout=30)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "history"


def test_a_later_chat_under_the_same_name_is_kept(place):
    ask(place, "Hello", OPEN_WEBUI)
    reply = ask(place, "My aunt keeps bees.", {}, answer="So she does.")
    assert reply.headers["x-conversation-id"] == "s-1"
    eventually(lambda: any("aunt" in memory["memory"] for memory in memories(place)))


def test_nothing_of_a_temporary_chat_goes_into_memories_of_discussions(tmp_path):
    with open_house(tmp_path) as house:
        messages = [*marked(6), answered("m006b is more."), said(f"m007 [DiscussionId]tea[/DiscussionId] {CANARY}")]
        body: dict[str, Any] = {"model": "Ann", "messages": messages, "session_id": "tea", "store": False}
        reply = requests.post(f"{house.server.url}/v1/chat/completions", json=body, timeout=60)
        assert reply.status_code == 200, reply.text
        settle(house.server)
        assert house.model.questions("summaries") == []
        assert holds(tmp_path, [CANARY]) == {}
        assert not [path for path in tmp_path.rglob("DiscussionIds/*") if path.is_dir()]


@pytest.mark.parametrize("store", [True, False], ids=["kept", "temporary"])
def test_a_node_writes_no_file_in_a_temporary_chat(tmp_path, store):
    with open_house(tmp_path) as house:
        node = {"title": "Save", "type": "SaveCustomFile", "filepath": "said.txt", "content": CANARY}
        house.write("Workflows/Ann/Chat.json", [ANSWER, node])
        assert house.post([said("Hello")], store=store).status_code == 200
        settle(house.server)
        assert bool(list(tmp_path.rglob("said.txt"))) is store
