"""A conversation changes behind its memories: what is gone goes stale, what is new is read, the rest stays."""

import pytest

from tests.acceptance.discussion_kit import marks_of, open_house, said, settled
from tests.stages import staged

LENGTH = 24


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("edits")) as opened:
        yield opened


@pytest.fixture
def house(running):
    running.model.clear()
    return running


@pytest.fixture
def talk(house, request):
    """A discussion for each test, of which everything is remembered that can be."""
    house.chat(request.node.name, said(LENGTH))
    house.remembers(request.node.name, settled(said(LENGTH)))
    house.model.clear()
    return request.node.name


def entries_of(house, talk):
    """The live chunk summaries by id."""
    return {one["id"]: one["text"] for one in house.get(talk, "/memories", limit=1000)["results"]}


def edited(messages, at, series="e"):
    """The messages with other words in the one at that place."""
    [new] = said(1, first=at + 1, series=series)
    return [*messages[:at], new, *messages[at + 1 :]]


@pytest.mark.parametrize(
    ("change", "most_read"),
    staged(
        [
            (lambda told: edited(told, 6), 2),
            (lambda told: edited(edited(told, 2), 15), 4),
            (lambda told: told[:8] + told[9:], 2),
            (lambda told: told[:8] + told[12:], 2),
            (lambda told: told[:5] + said(3, first=6, series="i") + told[5:], 6),
            (lambda told: told[:16] + said(8, first=17, series="r"), 6),
            (lambda told: edited(told, 0), 2),
        ],
        quick=3,
    ),
    ids=["edit", "two edits", "deletion", "deletions", "insertion", "regeneration", "edit of the first"],
)
def test_a_change_makes_anew_what_it_touches_and_nothing_else(house, talk, change, most_read):
    before = entries_of(house, talk)
    messages = change(said(LENGTH))
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    after = entries_of(house, talk)
    kept = [id for id in after if id in before]
    assert [after[id] for id in kept] == [before[id] for id in kept]
    for kind in ("summaries", "records"):
        assert len(house.model.shown[kind]) <= most_read, kind
        assert all(count == 1 for count in house.model.shown[kind].values()), kind
    stale = house.get(talk, "/memories", limit=1000, stale=True)["results"]
    assert len(stale) == len(before) - len(kept) + len(after)

    house.model.clear()
    house.chat(talk, messages)
    assert house.model.questions("summaries") == house.model.questions("records") == []


def test_a_change_that_is_taken_back_asks_nobody(house, talk):
    before = entries_of(house, talk)
    house.chat(talk, edited(said(LENGTH), 6))
    house.model.clear()
    house.chat(talk, said(LENGTH))
    assert house.model.questions("summaries") == house.model.questions("records") == []
    assert entries_of(house, talk) == before
    house.remembers(talk, settled(said(LENGTH)))


@pytest.mark.slow
def test_a_client_that_sends_only_its_newest_messages_loses_nothing_and_repeats_nothing(house, talk):
    for length in range(LENGTH + 4, LENGTH + 24, 4):
        house.chat(talk, said(length)[-20:])
    house.remembers(talk, settled(said(length)))
    house.chat(talk, said(length + 4))
    house.remembers(talk, settled(said(length + 4)))
    new = marks_of(said(length + 2))[LENGTH - 2 :]
    for kind in ("summaries", "records"):
        assert house.model.shown[kind] == dict.fromkeys(new, 1), kind


def test_an_old_message_may_be_edited_while_only_the_newest_are_sent(house, talk):
    messages = edited(said(LENGTH), 12)
    house.chat(talk, messages[-16:])
    house.remembers(talk, settled(messages))


def test_messages_that_repeat_each_other_are_told_apart(house, request):
    talk = request.node.name
    messages = [{**message, "content": "ok"} if at % 3 else message for at, message in enumerate(said(40))]
    for length in range(12, 41, 4):
        house.chat(talk, messages[:length])
    house.remembers(talk, settled(messages))
    sources = house.get(talk, "/memories", limit=1000, sources=True)["results"]
    words = [message["content"] for one in sources for message in one["source"]]
    assert words == [message["content"] for message in messages[:-2]]


@pytest.mark.slow
def test_memories_survive_edits_with_restarts_in_between(house, talk):
    messages = edited(said(LENGTH + 4), 6)
    house.chat(talk, messages)
    house.server.kill()
    house.server.start()
    house.model.clear()
    messages = edited(messages, 14)
    house.chat(talk, messages)
    house.remembers(talk, settled(messages))
    assert len(house.model.shown["summaries"]) <= 2
