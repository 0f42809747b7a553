"""Titles that a model writes for chats begun in the web UI: when, of what, and what is left alone."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import pytest_asyncio

from mnemoir.chats.remembering import queue_of
from mnemoir.chats.titles import LONGEST_TITLE, title_in
from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import Scope
from tests.chats.chat_kit import Chats, opened_chats
from tests.scripted_llm import Answer, Asked, ScriptedLLM, failure
from tests.server.served_tree import asking, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
TEA = "/api/conversations/tea"
WANTED = {"x_mnemoir_title": "1"}
TITLE = "Tea in the evening"
told: list[Answer | str] = []  # what the model answers to who asks for a title


def is_title(asked: Asked) -> bool:
    return "You name conversations" in asked.prompt


def title_calls(chats: Chats) -> list[Asked]:
    return [asked for asked in chats.llm.requests if is_title(asked)]


def pending(chats: Chats) -> set[str]:
    return chats.parts.chats.titles.pending(Scope(project=chats.project, user="user"))


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Titles are made behind the answers, which tells nobody."""
    async with asyncio.timeout(60):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


async def titled(chats: Chats) -> str | None:
    """The title once none is being made."""

    async def is_made() -> bool:
        return "title_pending" not in await chats.get(TEA)

    await until(is_made)
    title: str | None = (await chats.get(TEA))["title"]
    return title


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("titles"), llm) as opened:
        llm.rule(is_title, lambda _: told[0])
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    """A project of its own."""
    everyones.llm.clear()
    told[:] = [TITLE]
    return everyones.anew()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_first_answer_is_followed_by_a_title_of_question_and_answer(chats, stream):
    await chats.chat("Which tea in the evening?", headers=WANTED, stream=stream)
    assert await titled(chats) == TITLE
    (call,) = title_calls(chats)
    assert call.body["messages"][-1]["content"] == (
        "<conversation>\nUser: Which tea in the evening?\n\nAssistant: Understood.\n</conversation>"
    )
    assert 512 in call.body.values()


async def test_it_is_made_once_and_for_the_first_answer_only(chats):
    await chats.chat("one", headers=WANTED)
    await titled(chats)
    await chats.ask("PATCH", TEA, {"title": None})
    await chats.chat("one", "Understood.", "two", headers=WANTED)
    await chats.chat("one", headers=WANTED, history="server", parent_id=0)
    assert await titled(chats) is None
    assert len(title_calls(chats)) == 1


@pytest.mark.parametrize(
    ("id", "headers", "body"),
    [
        ("tea", {}, {}),
        ("tea", WANTED, {"store": False}),
        (None, WANTED, {}),
        ("tea", WANTED | {"x_mnemoir_task": "trial"}, {}),
    ],
    ids=["other clients", "temporary", "not kept", "a task"],
)
async def test_no_other_chat_gets_one(chats, id, headers, body):
    assert (await chats.chat("Hello", id=id, headers=headers, **body)).status == 200
    assert pending(chats) == set()
    assert title_calls(chats) == []


@pytest.mark.parametrize(
    "answer", [failure(500), "", "<think>What to call it?"], ids=["error", "empty", "unfinished thinking"]
)
async def test_without_a_usable_answer_the_first_words_stand_for_it(chats, answer):
    told[:] = [answer]
    await chats.chat("Which tea in the evening?", headers=WANTED)
    assert await titled(chats) is None
    assert (await chats.get(TEA))["preview"] == "Which tea in the evening?"


async def test_no_answer_within_the_limit_is_none(chats, monkeypatch):
    monkeypatch.setattr("mnemoir.chats.titles._PATIENCE_S", 0.05)
    told[:] = [Answer(text=TITLE, silent=True)]
    await chats.chat("Which tea?", headers=WANTED)
    assert await titled(chats) is None
    chats.llm.release()


async def test_a_title_that_the_user_gave_meanwhile_stays(chats):
    told[:] = [Answer(text=TITLE, silent=True)]
    await chats.chat("Which tea?", headers=WANTED)
    (listed,) = (await chats.get("/api/conversations"))["results"]
    assert (listed["title_pending"], (await chats.get(TEA))["title_pending"]) == (True, True)
    await chats.ask("PATCH", TEA, {"title": "My tea"})
    chats.llm.release()
    assert await titled(chats) == "My tea"


async def test_a_title_that_was_there_before_stays_and_nothing_is_asked(chats):
    await chats.ask("POST", "/api/conversations", {"id": "tea", "title": "My tea"})
    await chats.chat("Which tea?", headers=WANTED)
    assert await titled(chats) == "My tea"
    assert title_calls(chats) == []


async def test_a_conversation_forgotten_meanwhile_stays_forgotten(chats):
    told[:] = [Answer(text=TITLE, silent=True)]
    await chats.chat("Which tea?", headers=WANTED)
    await chats.ask("DELETE", TEA)
    chats.llm.release()

    async def is_over() -> bool:
        return not pending(chats)

    await until(is_over)
    assert await chats.ids() == []


async def test_it_is_neither_a_message_nor_a_run_nor_learned_from(tmp_path, chats):
    async with opened_chats(tmp_path, chats.llm) as place:
        await place.chat("Which tea?", headers=WANTED, memoryEnabled=True)
        assert await titled(place) == TITLE
        assert [role for role, _ in await place.lines()] == ["user", "assistant"]
        assert len((await place.get("/api/runs"))["results"]) == 1
        jobs = await place.parts.upkeep.background.waiting(
            queue_of(Scope(project=place.project, user="user")), limit=9
        )
        assert [job for job in jobs if "evening" in str(job.payload)] == []


@pytest.mark.parametrize(
    ("settings", "asked"),
    [({"server.generated_titles": False}, 0), ({"llm.provider": "offline"}, 0), ({}, 1)],
    ids=["switched off", "no model", "by default"],
)
async def test_it_needs_the_setting_and_a_language_model(tmp_path, chats, settings, asked):
    async with opened_chats(tmp_path, chats.llm, **settings) as place:
        await place.chat("Which tea?", headers=WANTED)
        await titled(place)
        assert len(title_calls(place)) == asked


@pytest.mark.parametrize(("endpoint", "title"), [(None, None), ("Main", TITLE)], ids=["by default", "named"])
async def test_with_a_config_tree_an_endpoint_is_asked_if_one_is_named(tmp_path, chats, endpoint, title):
    tree = served(tmp_path, chats.llm.url) | {"server.title_endpoint": endpoint}
    async with opened_chats(tmp_path, chats.llm, **tree) as place:
        await place.chat("Which {tea}?", headers=WANTED)
        assert await titled(place) == title
        assert [call.body["model"] for call in title_calls(place)] == (["far"] if endpoint else [])
        assert len((await place.get("/api/runs"))["results"]) == 1


async def test_an_endpoint_that_is_not_there_is_refused_at_the_start(tmp_path, chats):
    tree = served(tmp_path, chats.llm.url, asking()) | {"server.title_endpoint": "Gone"}
    with pytest.raises(SettingsError, match=r"server\.title_endpoint: .*Gone"):
        async with opened_chats(tmp_path, chats.llm, **tree):
            pass


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        (TITLE, TITLE),
        ('\n  **"Tea in the evening."**\nBecause you asked.', TITLE),
        ("Title: Tea", "Tea"),
        ("**Title:** Tea", "Tea"),
        ("Tea: an introduction", "Tea: an introduction"),
        ("<think>A title…</think>Tea", "Tea"),
        ("<think>A title…", ""),
        ("Tea\u202e\u200b", "Tea"),
        (" \n ", ""),
        ("word " * 30, " ".join(["word"] * 12) + "…"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
async def test_a_title_is_one_line_of_at_most_sixty_characters(answer, title):
    assert title_in(answer) == title
    assert len(title) <= LONGEST_TITLE
