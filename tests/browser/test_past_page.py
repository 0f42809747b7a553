"""Bring your past: a file is recognised, brought in, learned from and taken back, in a browser."""

import json
import re

import aiohttp
import pytest_asyncio
from playwright.async_api import FilePayload, Locator, Page, expect

from mnemoir.core.scope import Scope
from tests.browser.conftest import OpenWindow, StartSite, each_look
from tests.browser.project_kit import begin
from tests.browser_kit import Site
from tests.server.pasts import chat, export, user_says

HOMES = chat("homes", *user_says(("2022-03-01", "I live in Graz."), ("2024-03-01", "I live in Wels.")))
CHATS = export(HOMES, chat("work", *user_says(("2023-04-01", "I work at Bosch."))))
MEM0 = json.dumps(
    {"results": [{"id": "1", "memory": "Owns a boat", "hash": "h", "created_at": "2024-01-01T00:00:00Z"}]}
).encode()
TEXT = b"Rows on Sundays\nPlays the cello\n"
FOREIGN = b'{"recipes": [{"name": "Dumplings"}]}'


async def choose(page: Page, name: str, content: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    await page.locator("input[type=file]").set_input_files(file)


def imports(page: Page) -> Locator:
    return page.get_by_role("list", name="Imports").get_by_role("listitem")


async def memories(site: Site, project: str) -> list[str]:
    async with aiohttp.ClientSession(site.url) as http, http.get(f"/api/memories/user?project={project}") as answer:
        return sorted(one["memory"] for one in (await answer.json())["results"])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ruled(start_site: StartSite) -> Site:
    """A server that learns by the built-in rules."""
    return await start_site({"llm.provider": "offline"})


@each_look
async def test_a_chat_archive_is_told_imported_learned_from_and_undone(ruled: Site, open_window: OpenWindow) -> None:
    window = await open_window(ruled)
    page = await begin(window, "learner", "/past")
    await choose(page, "conversations.json", CHATS)
    await expect(page.get_by_role("status").filter(has_text="In this file: ChatGPT")).to_contain_text(
        "2 conversations with 6 messages"
    )
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_text("Imported: ChatGPT")).to_be_visible()
    one = imports(page).first  # the newest; another look of this page may have brought one before
    await one.get_by_role("button", name="Learn from it").click()
    question = page.get_by_role("status").filter(has_text="Learn from these chats?")
    await expect(question).to_contain_text("3 things that you said")
    await expect(question).to_contain_text("without calling a model")
    await window.has_no_barrier()
    await question.get_by_role("button", name="Learn", exact=True).click()
    await expect(one).to_contain_text("Learned")
    await expect(one).to_contain_text("3 of 3 turns")
    assert await memories(ruled, "learner") == ["Lives in Wels", "Works at Bosch"]
    await one.get_by_role("button", name="Undo").click()
    await page.get_by_role("dialog").get_by_role("button", name="Undo import").click()
    await expect(one).to_contain_text("Undone")
    assert await memories(ruled, "learner") == []


async def test_calls_of_a_model_are_named_before_any_and_learning_is_stopped(
    site: Site, open_window: OpenWindow
) -> None:
    page = await begin(await open_window(site), "asker", "/past")
    await choose(page, "conversations.json", CHATS)
    await page.get_by_role("button", name="Import", exact=True).click()
    asked = len(site.llm.requests)
    await imports(page).get_by_role("button", name="Learn from it").click()
    await expect(page.get_by_text("It takes 3 to 6 calls of far-model.")).to_be_visible()
    assert len(site.llm.requests) == asked
    with site.parts.chats.quotas.chatting(Scope(project="asker", user="user")):  # learning waits for the chat
        await page.get_by_role("button", name="Learn", exact=True).click()
        await expect(imports(page)).to_contain_text("0 of 3 turns")
        await expect(imports(page).get_by_role("progressbar")).to_be_attached()
        await imports(page).get_by_role("button", name="Stop").click()
        await expect(imports(page)).to_contain_text("Stopped")
    await expect(imports(page).get_by_role("button", name="Learn from it")).to_be_visible()


async def test_a_memory_file_is_recognised_and_taken_back(ruled: Site, open_window: OpenWindow) -> None:
    page = await begin(await open_window(ruled), "owner", "/past")
    await choose(page, "memories.json", MEM0)
    await expect(page.get_by_text("In this file: mem0")).to_be_visible()
    await page.get_by_role("button", name="Import", exact=True).click()
    one = imports(page).filter(has_text="mem0: 1 memory")
    await expect(one.get_by_role("button", name="Undo")).to_be_visible()
    await expect(one.get_by_role("button", name="Learn from it")).to_have_count(0)
    assert await memories(ruled, "owner") == ["Owns a boat"]
    await one.get_by_role("button", name="Undo").click()
    await page.get_by_role("dialog").get_by_role("button", name="Undo import").click()
    await expect(one).to_contain_text("Undone")
    assert await memories(ruled, "owner") == []


async def test_a_text_asks_whether_it_is_a_list_of_memories(ruled: Site, open_window: OpenWindow) -> None:
    page = await begin(await open_window(ruled), "writer", "/past")
    await choose(page, "notes.txt", TEXT)
    question = page.get_by_role("status").filter(has_text="Are these memories?")
    await question.get_by_role("button", name="Yes, they are").click()
    await expect(page.get_by_role("status").filter(has_text="In this file: a text")).to_contain_text("2 memories")
    assert await memories(ruled, "writer") == []
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(imports(page)).to_contain_text("a text: 2 memories")
    assert await memories(ruled, "writer") == ["Plays the cello", "Rows on Sundays"]


async def test_a_file_of_no_known_program_is_refused_with_what_was_looked_for(
    ruled: Site, open_window: OpenWindow
) -> None:
    page = await begin(await open_window(ruled), "cook", "/past")
    await choose(page, "recipes.json", FOREIGN)
    alert = page.get_by_role("alert").filter(has_text="This file cannot be imported")
    await expect(alert).to_contain_text("It is not an export of Mnemoir, ChatGPT")
    await expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
    await expect(imports(page)).to_have_count(0)


async def test_a_file_over_the_limit_is_not_sent(start_site: StartSite, open_window: OpenWindow) -> None:
    small = await start_site({"llm.provider": "offline"}, max_body_bytes=2**20)
    page = await begin(await open_window(small), "large", "/past")
    await expect(page.get_by_text("At most 1 MiB")).to_be_visible()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    await choose(page, "conversations.json", b" " * 2**20 + CHATS)
    await expect(page.get_by_role("status").filter(has_text=re.compile("the server takes 1 MiB"))).to_be_visible()
    assert sent == []
