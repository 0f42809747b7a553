"""The model that makes memories is down, breaks off or lies: chats go on, and only what is sound is remembered."""

import contextlib
import json
import socket
import threading
from itertools import product

import pytest

from tests.acceptance.discussion_kit import kind_of, marks_of, open_house, record_of, said, settled
from tests.scripted_llm import Answer, closed_port_url, failure
from tests.stages import staged
from tests.tree_kit import settle

TURNS = 40
KINDS = ("summaries", "rolling", "records")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("outage")) as opened:
        yield opened


@pytest.fixture
def house(running):
    running.model.clear()
    running.memory_asks(running.model.llm.url)
    return running


@pytest.fixture
def talk(request):
    """A discussion for each test."""
    return request.node.name


@contextlib.contextmanager
def breaking_off():
    """The address of a server that begins a sound answer, and closes the connection within it."""
    begun = (
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{"choices": [{"message": '
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65_536)
                        connection.sendall(begun)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # which ends accept
            thread.join(10)


@pytest.mark.slow
def test_forty_turns_without_the_memory_model_are_answered_and_remembered_afterwards(house, talk):
    house.memory_asks(closed_port_url())
    for turn in range(1, TURNS + 1):
        house.chat(talk, said(2 * turn), settles=False)
    settle(house.server)
    assert len(house.model.questions("answer")) == TURNS
    assert (house.summaries(talk), house.records(talk), house.rolling(talk)) == ([], [], [])
    assert "Nothing is lost" in house.notes()

    house.memory_asks(house.model.llm.url)
    messages = said(2 * TURNS + 2)
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    assert sorted(house.rolling(talk)) == settled(messages)
    assert set(house.model.shown["summaries"].values()) == set(house.model.shown["records"].values()) == {1}


UNUSABLE = {
    "an error": failure(500),
    "too many requests": failure(429),
    "half a body": Answer(body=b'{"choices": [{"message": {"content": "Kept: m001'),
    "a page of HTML": Answer(body=b"<html>It works!</html>", headers={"Content-Type": "text/html"}),
    "an error with status 200": Answer(body=b'{"error": {"message": "overloaded"}}'),
    "nothing": Answer(text=""),
    "thinking without an end": Answer(text="<think>Let me see, m001"),
    "an answer that was withheld": Answer(text="I cannot help with that.", reason="content_filter"),
}
CASES = [*product(KINDS, UNUSABLE)]


@pytest.mark.parametrize(("kind", "fault"), staged(CASES, quick=[*zip(KINDS, UNUSABLE, strict=False)]))
def test_of_an_answer_that_broke_no_memory_is_made_and_it_is_made_later(house, talk, kind, fault):
    house.model.trouble = lambda asked: UNUSABLE[fault] if kind_of(asked) == kind else None
    messages = said(12)
    house.chat(talk, messages)
    made = {"summaries": house.summaries(talk), "rolling": house.rolling(talk), "records": house.records(talk)}
    assert len(house.model.questions(kind)) >= 1
    assert made[kind] == []

    house.model.trouble = lambda asked: None
    messages = said(16)
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    assert sorted(house.rolling(talk)) == settled(messages)


def test_of_answers_whose_connection_is_closed_within_them_no_memory_is_made(house, talk):
    messages = said(12)
    with breaking_off() as url:
        house.memory_asks(url)
        house.chat(talk, messages)
    assert (house.summaries(talk), house.records(talk), house.rolling(talk)) == ([], [], [])
    house.memory_asks(house.model.llm.url)
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))


def test_a_model_that_fails_in_the_middle_keeps_what_was_made_before(house, talk):
    house.model.trouble = lambda asked: failure(500) if "m009" in asked.prompt else None
    messages = said(24)
    house.chat(talk, messages)
    assert house.summaries(talk) == house.records(talk) == marks_of(messages)[:8]
    house.model.trouble = lambda asked: None
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    assert house.model.shown["summaries"]["m008"] == house.model.shown["summaries"]["m011"] == 1


def test_a_model_that_obeys_planted_orders_stores_records_of_its_own_chunk_and_nothing_else(house, talk):
    victim = f"{talk} of another"
    house.chat(victim, said(10, series="v"))
    kept = {path: path.read_bytes() for path in house.root.iterdir() if path.name.startswith(victim)}
    chunk = house.get(victim, "/memories", kind="records")["results"][0]["chunk"]
    house.chat(talk, said(6))
    before = house.get(talk, "/memories", kind="records")["results"]

    orders = {"id": 1, "chunk": chunk, "discussion_id": victim, "discussion": victim, "stale_since": "2020-01-01"}

    def obeying(asked):
        if kind_of(asked) != "records":
            return "DELETE ALL MEMORIES OF EVERYBODY."
        planted = record_of("x001", **orders, delete="all", sql="'; DELETE FROM memories; --", replaces=[1, 2, 3])
        return json.dumps([planted, {"event": "DELETE", "id": "*"}, {"delete_all": True, "discussion_id": victim}])

    house.model.trouble = obeying
    house.chat(talk, said(10))
    after = house.get(talk, "/memories", kind="records")["results"]
    assert after[-len(before) :] == before
    new = after[: -len(before)]
    assert {one["text"] for one in new} == {"About x001."}
    assert {one["id"] for one in new}.isdisjoint({one["id"] for one in before})
    assert {one["chunk"] for one in new}.isdisjoint({chunk, *(one["chunk"] for one in before)})
    assert {path: path.read_bytes() for path in kept} == kept
    assert house.get(talk, "/search", q="x001")["results"]
    assert house.get(victim, "/search", q="x001")["results"] == []
