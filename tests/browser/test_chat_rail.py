"""The rail of conversations beside the chat, and the pane of files at its other side."""

import asyncio
import base64
import operator
import re
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import Download, FilePayload, Locator, Page, expect

from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.scope import Scope
from tests.browser import foreign_chats
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.project_kit import ask, begin, learn, say
from tests.browser_kit import PHONE, WIDE, Look, Site, Window, in_menu, until
from tests.conversations.session_kit import behind_the_back
from tests.workflows.nodes.pictures import png

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> \u202egnp.exe\u200b " + "x" * 900


def rail(page: Page) -> Locator:
    """The list, whether it stands beside the chat or in a drawer."""
    return page.get_by_role("list", name="Conversations")


async def titles(page: Page) -> list[str]:
    """Of the rows in sight, from the top."""
    return await rail(page).get_by_role("link").all_inner_texts()


def file_of(site: Site, project: str) -> Path:
    """Where the default user's conversations are."""
    return site.parts.chats.conversations.folder_of(Scope(project=project, user="user")) / SESSIONS_FILE


async def content_of(download: Download) -> bytes:
    """What was downloaded."""
    return await asyncio.to_thread((await download.path()).read_bytes)


async def send_picture(window: Window, project: str, id: str, content: bytes) -> None:
    url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    await ask(window, "POST", f"/api/conversations/{id}/messages", project, {"messages": [message]})


@pytest.mark.slow
async def test_conversations_stand_below_their_day_and_open_with_a_click(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    for id, title in (("cake", "Birthday cake"), ("a/b?c", "Tea")):
        await say(window, "days", id, f"About {title}", "Good.", title=title)
    now = datetime.now(UTC)
    with behind_the_back(file_of(site, "days")) as file:
        then = (now - timedelta(days=400)).replace(tzinfo=None).isoformat(timespec="microseconds")
        file.execute("UPDATE sessions SET updated_at = ? WHERE id = 'cake'", (then,))
    page = await begin(window, "days")
    headings = rail(page).get_by_role("heading")
    await expect(headings).to_have_count(2)
    assert await titles(page) == ["Tea", "Birthday cake"]
    assert (await headings.all_inner_texts())[0] == "Today"
    await rail(page).get_by_role("link", name="Tea").click()
    await expect(page).to_have_url(re.compile(r"conversation=a%2Fb%3Fc"))
    await expect(page.get_by_role("region", name="Chat")).to_contain_text("About Tea")
    await expect(rail(page).get_by_role("link", name="Tea")).to_have_attribute("aria-current", "page")
    await page.get_by_role("link", name="New chat").click()
    await expect(rail(page).locator("[aria-current]")).to_have_count(0)


@pytest.mark.slow
async def test_chats_of_another_program_are_imported_from_the_menu_of_the_rail(
    site: Site, open_window: OpenWindow
) -> None:
    window = await open_window(site)
    page = await begin(window, "imported")
    await page.get_by_role("button", name="More about conversations").click()
    await page.get_by_role("menuitem", name="Import chats…").click()
    dialog = page.get_by_role("dialog", name="Import conversations")
    file: FilePayload = {"name": "chatgpt.zip", "mimeType": "application/zip", "buffer": foreign_chats.CHATGPT_ZIP}
    await dialog.locator("input[type=file]").set_input_files(file)
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await dialog.get_by_role("button", name="Done").click()
    await expect(rail(page).get_by_role("link", name="Bread")).to_be_visible()
    await rail(page).get_by_role("link", name="Weekend in Lisbon").click()
    await expect(page.get_by_role("region", name="Chat")).to_contain_text("Take the tram to Sintra.")


@pytest.mark.slow
async def test_a_new_chat_is_there_as_soon_as_it_is_answered(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await say(window, "live", "cake", "About cake", "Good.", title="Birthday cake")
    page = await begin(window, "live")
    await expect(rail(page).get_by_role("link")).to_have_count(1)
    await page.get_by_role("textbox", name="Message").fill("How deep is the sea?")
    await page.keyboard.press("Enter")
    first = rail(page).get_by_role("link").first
    await expect(first).to_have_text("How deep is the sea?")
    await expect(first).to_have_attribute("aria-current", "page")


@pytest.mark.slow
async def test_keys_alone_move_rename_and_delete(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    for name in ("One", "Two", "Three"):
        await say(window, "keys", name, f"About {name}", title=name)
    page = await begin(window, "keys")
    await expect(rail(page).get_by_role("link")).to_have_count(3)
    await rail(page).get_by_role("link", name="Three").focus()
    await page.keyboard.press("ArrowDown")
    await expect(rail(page).get_by_role("link", name="Two")).to_be_focused()
    await page.keyboard.press("F2")
    field = page.get_by_role("textbox", name="Conversation name")
    await expect(field).to_be_focused()
    await page.keyboard.type("Number two")
    await page.keyboard.press("Enter")
    renamed = rail(page).get_by_role("link", name="Number two")
    await expect(renamed).to_be_focused()
    await page.keyboard.press("Delete")
    question = page.get_by_role("dialog", name="Delete this conversation?")
    await expect(question).to_contain_text("This cannot be undone")
    await page.keyboard.press("Escape")
    await expect(question).to_have_count(0)
    await expect(renamed).to_be_visible()
    await renamed.focus()
    await page.keyboard.press("Delete")
    await question.get_by_role("button", name="Delete").press("Enter")
    await expect(rail(page).get_by_role("link")).to_have_text(["Three", "One"])
    await expect(page.get_by_role("group", name="Conversations")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(rail(page).get_by_role("link", name="Three")).to_be_focused()
    left = (await ask(window, "GET", "/api/conversations", "keys"))["results"]
    assert {one["id"]: one["title"] for one in left} == {"One": "One", "Three": "Three"}


@pytest.mark.slow
async def test_a_question_that_is_left_gives_the_focus_back_to_the_menu(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await say(window, "left", "tea", "I drink tea", "Noted.", title="Tea")
    page = await begin(window, "left")
    await rail(page).get_by_role("link", name="Tea").hover()
    more = page.get_by_role("button", name="More about Tea")
    await more.press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(more).to_be_focused()


@pytest.mark.slow
async def test_the_menu_renames_exports_and_deletes_what_is_on_the_screen(
    site: Site, open_window: OpenWindow
) -> None:
    window = await open_window(site)
    await say(window, "menu", "tea", "I drink tea", "Noted.", title="Tea: green / black")
    page = await begin(window, "menu", "/?conversation=tea")
    link = rail(page).get_by_role("link", name="Tea: green / black")
    more = page.get_by_role("button", name="More about Tea: green / black")
    await link.hover()
    await more.press("Enter")
    await in_menu(page)
    await page.keyboard.press("Home")
    await expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    for _ in range(2):
        await page.keyboard.press("ArrowDown")
    async with page.expect_download() as downloading:
        await page.keyboard.press("Enter")
    download = await downloading.value
    assert download.suggested_filename == "Tea-green-black.md"
    assert b"I drink tea" in await content_of(download)
    await more.click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.get_by_role("textbox", name="Conversation name").fill("Coffee")
    await page.keyboard.press("Enter")
    await rail(page).get_by_role("link", name="Coffee").hover()
    await page.get_by_role("button", name="More about Coffee").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No conversations yet")).to_be_visible()
    await expect(page).to_have_url(f"{window.url}/")


async def test_a_conversation_is_forgotten_with_what_was_learned_from_it(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    offline = await start_site({"llm.provider": "offline"})
    window = await open_window(offline)
    turn = {"messages": [{"role": "user", "content": "I'm allergic to nuts."}], "memoryEnabled": True}
    await ask(window, "POST", "/v1/chat/completions", "forget", turn | {"conversation_id": "tea", "user": "user"})
    await until(lambda: ask(window, "GET", "/api/memories/user", "forget"), lambda told: told["total"] > 0)
    page = await begin(window, "forget", memory=True)
    await page.get_by_role("button", name="Agent Memory Enabled").click()
    known = page.get_by_role("region", name="Memories").get_by_role("listitem")
    await expect(known).to_have_count(1)
    await page.keyboard.press("Escape")
    await rail(page).get_by_role("link").focus()
    await page.keyboard.press("Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No conversations yet")).to_be_visible()
    await page.get_by_role("button", name="Agent Memory Enabled").click()
    await expect(page.get_by_text("No memories yet")).to_be_visible()


@pytest.mark.slow
async def test_a_search_looks_at_titles_and_at_what_was_said(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await say(window, "search", "tea", "Which cup is best?", "A thin one of porcelain.", title="About tea")
    await say(window, "search", "roof", "How steep must a roof be?", "Steep enough for tea to run off.", title="Roof")
    page = await begin(window, "search")
    await page.get_by_role("searchbox", name="Search conversations").fill("TEA")
    await expect(page.get_by_role("region", name="Titles").get_by_role("link")).to_have_text(["About tea"])
    hits = page.get_by_role("region", name="Messages").get_by_role("link")
    await expect(hits.first).to_contain_text("Steep enough for tea to run off.")
    await expect(hits.first.locator("mark")).to_have_text("tea")
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("region", name="Titles").get_by_role("link")).to_be_focused()
    await hits.first.click()
    await expect(page).to_have_url(re.compile(r"conversation=roof&message=\d+"))
    await page.get_by_role("button", name="Clear search").click()
    await expect(rail(page).get_by_role("link")).to_have_count(2)


@pytest.mark.slow
async def test_a_search_for_what_was_never_spoken_of_finds_nothing(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await say(window, "unrelated", "cat", "My cat sleeps all day long.", "Cats do that.", title="Pets")
    await ask(window, "POST", "/api/conversations/cat/flush", "unrelated")
    page = await begin(window, "unrelated")
    box = page.get_by_role("searchbox", name="Search conversations")
    hits = page.get_by_role("region", name="Messages").get_by_role("link")
    await box.fill("a resting kitten")
    await expect(hits.first).to_contain_text("My cat sleeps")
    await box.fill("medieval siege weapons")
    await expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


@pytest.mark.slow
async def test_ten_thousand_conversations_scroll_with_few_rows_in_the_page(
    site: Site, open_window: OpenWindow
) -> None:
    window = await open_window(site)
    await say(window, "many", "first", "Hello", title="The first of all")
    with behind_the_back(file_of(site, "many")) as file:
        file.execute(
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9999) "
            "INSERT INTO sessions (id, created_at, updated_at, system_prompt, metadata) "
            "SELECT 'many' || x, '2020-01-01', "
            "strftime('%Y-%m-%dT%H:%M:%S.000000', 1577836800 + x * 60, 'unixepoch'), "
            """ '', '{"user": "user", "tags": [], "title": "Talk ' || x || '", "custom": {}}' FROM n"""
        )
    page = await begin(window, "many")
    await expect(rail(page).get_by_role("link", name="The first of all")).to_be_visible()
    scroller = page.get_by_role("group", name="Conversations")

    async def height() -> int:
        found: int = await scroller.evaluate("each => each.scrollHeight")
        return found

    for _ in range(8):  # page after page
        before = await height()
        await scroller.evaluate("each => { each.scrollTop = each.scrollHeight }")
        assert await until(height, partial(operator.lt, before)) > before
        assert await rail(page).get_by_role("listitem").count() < 80
    await scroller.evaluate("each => { each.scrollTop = 0 }")
    await expect(rail(page).get_by_role("link", name="The first of all")).to_be_in_viewport()
    await page.get_by_role("searchbox", name="Search conversations").fill("talk 7654")
    await expect(page.get_by_role("region", name="Titles").get_by_role("link", name="Talk 7654")).to_be_visible()


@pytest.mark.slow
async def test_files_of_this_chat_and_of_others_are_listed_and_shown(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    here, elsewhere = png(filler=b"here"), png(filler=b"elsewhere")
    for id, picture in (("tea", here), ("cake", elsewhere)):
        await say(window, "files", id, f"About {id}", title=id)
        await send_picture(window, "files", id, picture)
    page = await begin(window, "files", "/?conversation=tea")
    files = page.get_by_role("button", name="Files", exact=True)
    await expect(files).to_have_attribute("aria-expanded", "false")
    await files.click()
    await expect(files).to_have_attribute("aria-expanded", "true")
    pane = page.get_by_role("complementary", name="Files")
    own = pane.get_by_role("region", name="This chat").get_by_role("button")
    await expect(own).to_have_text([re.compile(rf"PNG picture{len(here)} B")])
    await expect(pane.get_by_role("region", name="Other chats").get_by_role("button")).to_have_count(1)
    await own.click()
    dialog = page.get_by_role("dialog", name="PNG picture")
    await expect(dialog.get_by_role("img", name="PNG picture")).to_be_visible()
    assert await dialog.locator("img").evaluate("each => each.src.startsWith('blob:') && each.naturalWidth > 0")
    async with page.expect_download() as downloading:
        await dialog.get_by_role("button", name="Download").click()
    assert await content_of(await downloading.value) == here
    await page.keyboard.press("Escape")
    await pane.get_by_role("region", name="Other chats").get_by_role("button").click()
    await page.get_by_role("link", name="Go to chat").click()
    await expect(page).to_have_url(re.compile("conversation=cake"))
    await files.click()
    await expect(pane).to_have_count(0)


@pytest.mark.slow
async def test_a_project_kept_in_files_shows_them(
    start_site: StartSite, open_window: OpenWindow, tmp_path: Path
) -> None:
    filed = await start_site({"storage.backend": "file", "storage.workspace_root": str(tmp_path / "workspace")})
    window = await open_window(filed)
    await learn(window, "default", "Drinks <b>tea</b>")
    page = await begin(window, "default")
    await page.get_by_role("button", name="Files", exact=True).click()
    await page.get_by_role("region", name="Project").get_by_role("button", name="memories.json").click()
    shown = page.get_by_role("region", name="Code, json")
    await expect(shown).to_contain_text('"memory": "Drinks <b>tea</b>"')
    assert await shown.locator("b").count() == 0


@pytest.mark.slow
async def test_another_project_has_other_conversations(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await say(window, "here", "tea", "I drink tea", "Noted.", title="Tea")
    await say(window, "there", "cake", "I bake cake", "Noted.", title="Cake")
    await learn(window, "there", "Bakes cake")
    page = await begin(window, "here", "/?conversation=tea")
    await expect(page.get_by_role("region", name="Chat")).to_contain_text("I drink tea")
    await page.get_by_role("button", name="Project here").click()
    await page.get_by_role("menuitem", name="there").click()
    await expect(rail(page).get_by_role("link")).to_have_text(["Cake"])
    await expect(page).to_have_url(f"{window.url}/")


@pytest.mark.slow
async def test_a_hostile_title_is_a_title(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=(360, 740))
    await say(window, "hostile", "mean", "Hello", "Hi.", title=HOSTILE)
    page = await begin(window, "hostile")
    await page.get_by_role("button", name="Conversations", exact=True).click()
    link = rail(page).get_by_role("link")
    await expect(link).to_contain_text("<img src=x onerror=")
    for mark in ("U+202E", "U+200B"):
        await expect(link.get_by_text(mark, exact=True)).to_have_count(1)
    assert await link.locator("img").count() == 0
    assert "owned" not in await page.title()
    await window.is_within()


@pytest.mark.slow
async def test_on_a_phone_the_rail_is_a_drawer(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=PHONE)
    await say(window, "phone", "tea", "I drink tea", "Noted.", title="Tea")
    page = await begin(window, "phone")
    await expect(rail(page)).to_have_count(0)
    await page.get_by_role("button", name="Conversations", exact=True).click()
    await rail(page).get_by_role("link", name="Tea").click()
    await expect(rail(page)).to_have_count(0)
    await expect(page.get_by_role("region", name="Chat")).to_contain_text("I drink tea")
    await page.get_by_role("button", name="Files", exact=True).click()
    await expect(page.get_by_role("dialog", name="Files")).to_contain_text("No files yet")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await window.is_within()


@pytest.mark.slow
@pytest.mark.parametrize("size", [pytest.param(WIDE, id="wide"), pytest.param(PHONE, id="phone")])
async def test_nobody_is_shut_out(site: Site, open_window: OpenWindow, size: tuple[int, int]) -> None:
    window, project = await open_window(site, size=size), f"look-{uuid.uuid4().hex}"
    looks: tuple[Look, ...] = (("dark", size), ("light", size))
    await say(window, project, "tea", "I drink tea", "Noted.", title="Tea")
    await send_picture(window, project, "tea", png(filler=b"tea"))
    page = await begin(window, project, "/?conversation=tea")
    await page.get_by_role("button", name="Files", exact=True).click()
    await expect(page.get_by_role("region", name="This chat").get_by_role("button")).to_be_visible()
    await window.has_no_barrier(*looks)
    if size == PHONE:
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Conversations", exact=True).click()
    await rail(page).get_by_role("link", name="Tea").hover()
    await page.get_by_role("button", name="More about Tea").click()
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_visible()
    await window.has_no_barrier(*looks)
    await page.get_by_role("menuitem", name="Delete").click()
    await expect(page.get_by_role("dialog", name="Delete this conversation?")).to_be_visible()
    await window.has_no_barrier(*looks)
    await page.get_by_role("dialog", name="Delete this conversation?").get_by_role("button", name="Cancel").click()
    await page.get_by_role("searchbox", name="Search conversations").fill("tea")
    await expect(page.get_by_role("region", name="Messages").get_by_role("link").first).to_be_visible()
    await window.has_no_barrier(*looks)
