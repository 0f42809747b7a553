"""Tokens of model calls behind a chat, for titles and summaries, count for the user whose chat it is."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from mnemoir.core.scope import Scope
from tests.chats.chat_kit import Chats, is_summary, opened_chats, said
from tests.scripted_llm import Answer, ScriptedLLM

WANTED = {"x_mnemoir_title": "1"}
TEA = "/api/conversations/tea"
SUMMING = {"memory.strategy": "summarization", "memory.history": "server", "memory.max_history_tokens": 512}


@pytest.fixture
async def llm():
    async with ScriptedLLM() as far:
        far.default = Answer(text="Understood.", usage=(50, 10))
        far.rule(lambda asked: "You name conversations" in asked.prompt, Answer(text="Tea", usage=(7, 2)))
        far.rule(is_summary, Answer(text="They spoke of tea.", usage=(300, 20)))
        yield far


def spent(chats: Chats, user: str = "user") -> int:
    return chats.parts.chats.quotas.spent.now("default", user)[0].today.total


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """What is done behind an answer tells nobody."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.01)


async def no_title_is_made(chats: Chats) -> None:
    async def is_made() -> bool:
        return not chats.parts.chats.titles.pending(Scope(project=chats.project, user="user"))

    await until(is_made)


async def test_a_title_counts_for_the_user_of_the_chat(tmp_path, llm):
    async with opened_chats(tmp_path, llm) as chats:
        await chats.chat("Which tea in the evening?", headers=WANTED)
        await no_title_is_made(chats)
        assert (await chats.get(TEA))["title"] == "Tea"
        assert (spent(chats), spent(chats, "noa")) == (60 + 9, 0)


async def test_no_title_is_asked_for_when_a_budget_is_used_up(tmp_path, llm):
    async with opened_chats(tmp_path, llm, **{"quotas.user.tokens_day": 60}) as chats:
        await chats.chat("Which tea in the evening?", headers=WANTED)
        await no_title_is_made(chats)
        assert (await chats.get(TEA))["title"] is None
        assert spent(chats) == 60


async def test_a_summary_counts_for_the_user_of_the_chat(tmp_path, llm):
    async with opened_chats(tmp_path, llm, **SUMMING) as chats:
        assert (await chats.ask("POST", "/api/conversations", {"id": "tea", "messages": long_talk()})).status == 201
        await chats.chat("And now?", history="server")
        assert len([asked for asked in llm.requests if is_summary(asked)]) == 1
        assert spent(chats) == 320 + 60


async def test_a_window_asks_for_no_summary_when_a_budget_is_used_up_and_loses_no_message(tmp_path, llm):
    async with opened_chats(tmp_path, llm, **SUMMING, **{"quotas.user.tokens_day": 60}) as chats:
        await chats.chat("First of all?", id="other")
        assert (await chats.ask("POST", "/api/conversations", {"id": "tea", "messages": long_talk()})).status == 201
        window = await chats.get(f"{TEA}/window")
        assert window["summary"] is None
        assert window["messages"][-1]["content"] == long_talk()[-1]["content"]
        assert (spent(chats), [asked for asked in llm.requests if is_summary(asked)]) == (60, [])


def long_talk() -> list[dict]:
    """More than a window of 512 tokens holds."""
    return [said("assistant" if at % 2 else "user", f"{at} " + "word " * 60) for at in range(30)]
