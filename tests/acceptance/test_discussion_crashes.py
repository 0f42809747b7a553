"""The server dies, stops or is not alone while memories are made: none is lost, none is there twice."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.acceptance.discussion_kit import marks_of, open_house, said, settled, shown_in
from tests.serving import ServerProcess
from tests.tree_kit import eventually, settle

KILLS = 10
KINDS = ("summaries", "records")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("crashes")) as opened:
        yield opened


@pytest.fixture
def house(running):
    running.model.clear()
    return running


@pytest.fixture
def talk(request):
    """A discussion for each test."""
    return request.node.name


@pytest.mark.slow
def test_ten_kills_while_memories_are_made_lose_no_turn_and_make_every_memory_once(house, talk):
    rng = random.Random(12)
    asked_before: dict[str, Any] = {
        kind: {} for kind in KINDS
    }  # how often a model was asked about what was remembered at a restart
    for count in range(KILLS):
        messages = said(24 + 16 * count)  # which are at least eight new chunks each time
        # the call of a model is open, or its answer is just being stored
        during = KINDS[count % 2]
        reached = house.model.at_question(rng.randint(1, 8), kind=during, is_silent=count % 4 < 2)
        house.chat(talk, messages, settles=False)
        assert reached.wait(60)
        house.server.kill()
        house.server.start()
        for kind, found in zip(KINDS, (house.summaries(talk), house.records(talk)), strict=True):
            assert found == marks_of(messages)[: len(found)]
            asked = {mark: house.model.shown[kind][mark] for mark in found}
            # what is remembered is not lost, and no model is asked about it again
            assert {mark: asked[mark] for mark in asked_before[kind]} == asked_before[kind]
            asked_before[kind] = asked
    house.model.trouble = lambda asked: None
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    assert sorted(house.rolling(talk)) == settled(messages)
    for kind, before in asked_before.items():
        assert {mark: house.model.shown[kind][mark] for mark in before} == before


def test_a_message_during_a_making_is_answered_at_once_and_makes_nothing_twice(house, talk):
    first, second = said(20), said(24)
    reached = house.model.at_question(2)
    house.chat(talk, first, settles=False)
    assert reached.wait(60)
    house.chat(talk, second, settles=False)
    house.chat(talk, second, settles=False)
    assert len(house.model.questions("answer")) == 3
    house.model.trouble = lambda asked: None
    house.model.llm.release()
    settle(house.server)
    house.chat(talk, second)
    house.remembers(talk, settled(second))
    assert set(house.model.shown["summaries"].values()) == {1}


@pytest.mark.slow
def test_a_server_that_stops_stores_the_chunk_under_way_and_does_not_make_the_rest(house, talk):
    messages = said(800)  # enough that the rest cannot be made while the server closes its connections
    reached = house.model.at_question(3)
    house.chat(talk, messages, settles=False)
    assert reached.wait(60)
    stopping = threading.Thread(target=house.server.stop)
    stopping.start()
    eventually(lambda: not is_up(house.server.url))
    house.model.llm.release()
    stopping.join(60)
    asked = [mark for question in house.model.questions("summaries") for mark in shown_in(question)]
    assert 6 <= len(asked) < len(settled(messages))
    house.server.start()
    assert house.summaries(talk) == asked == marks_of(messages)[: len(asked)]


@pytest.mark.slow
def test_a_server_whose_model_says_nothing_any_more_stops_all_the_same(house, talk):
    messages = said(12)
    reached = house.model.at_question(2)
    house.chat(talk, messages, settles=False)
    assert reached.wait(60)
    house.server.stop()  # fails when it does not end
    house.model.clear()
    house.server.start()
    assert house.summaries(talk) == marks_of(messages)[:2]
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))


@pytest.mark.slow
def test_two_servers_on_one_discussion_answer_both_and_lose_and_double_nothing(house, talk):
    arguments = [str(house.folder / "Public"), "Ann"]
    with ServerProcess(house.folder / "data-2", arguments=arguments) as other, ThreadPoolExecutor(2) as at_once:

        def chat(url, messages):
            body = {"messages": messages, "metadata": {"session_id": talk}}
            return requests.post(f"{url}/v1/chat/completions", json=body, timeout=60).status_code

        for count in range(4, 40, 4):
            told = at_once.map(lambda server: chat(server.url, said(count)), (house.server, other))  # noqa: B023
            assert list(told) == [200, 200]
        settle(house.server)
        settle(other)
        house.chat(talk, said(40))
        house.remembers(talk, settled(said(40)))
        assert sorted(house.rolling(talk)) == settled(said(40))
    shown = house.model.shown
    assert set(shown["summaries"].values()) == set(shown["records"].values()) == {1}


def is_up(url):
    try:
        return requests.get(f"{url}/health", timeout=60).ok
    except requests.ConnectionError:
        return False
