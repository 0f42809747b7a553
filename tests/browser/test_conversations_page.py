"""The Conversations page: search, branches, windows, and what is remembered of a conversation."""

import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Page, expect

from tests.browser import foreign_chats, talks
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.project_kit import begin
from tests.browser.sign_in_kit import invited, joined
from tests.browser_kit import NARROW, WIDE, Site, at_rest
from tests.scripted_llm import Answer
from tests.server.served_tree import served
from tests.stages import staged

TABS = ("", "&tab=window&budget=900&strategy=hybrid", "&tab=discussion", "&tab=nodes")
MOST_IN_SIGHT = 60  # messages that are in the page at once, of thousands


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(start_site: StartSite) -> Site:
    """A server with one conversation of each kind."""
    started = await start_site()
    await talks.begin_all(started)
    return started


async def agree(page: Page, action: str) -> None:
    """Say yes to the question that is asked."""
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name=action, exact=True).click()
    await expect(dialog).to_have_count(0)


async def test_the_list_leads_to_a_conversation_and_back(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations")
    row = page.get_by_role("list", name="Conversations").locator('a[href$="?id=tea"]')
    await expect(row).to_contain_text("Which tea")
    await expect(row).to_contain_text("4 messages")
    await expect(row).to_contain_text("kitchen")
    await row.click()
    await expect(page.get_by_role("heading", name="Which tea")).to_be_visible()
    await expect(page).to_have_url(re.compile("id=tea$"))
    await page.go_back()
    await expect(page.get_by_role("heading", name="Select a conversation")).to_be_visible()


async def choose_file(page: Page, name: str, content: bytes) -> None:
    """Give a file to the dialog of the import."""
    dialog = page.get_by_role("dialog", name="Import conversations")
    file: FilePayload = {"name": name, "mimeType": "application/json", "buffer": content}
    await dialog.locator("input[type=file]").set_input_files(file)


@pytest.mark.parametrize(
    ("name", "content"),
    staged([("conversations.json", foreign_chats.CHATGPT), ("chat-export.json", foreign_chats.OPEN_WEBUI)], quick=1),
    ids=["ChatGPT", "Open WebUI"],
)
async def test_chats_of_another_program_are_imported_and_read(
    site: Site, open_window: OpenWindow, name: str, content: bytes
) -> None:
    window = await open_window(site)
    page = await begin(window, f"imported-{name}", "/conversations")
    await page.get_by_role("button", name="Import…").click()
    await choose_file(page, name, content)
    dialog = page.get_by_role("dialog", name="Import conversations")
    await expect(dialog.get_by_role("status")).to_contain_text("2 conversations with 5 messages")
    await window.has_no_barrier()
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await expect(dialog.get_by_text("Imported")).to_be_visible()
    await dialog.get_by_role("button", name="Done").click()
    rows = page.get_by_role("list", name="Conversations").get_by_role("link")
    await expect(rows).to_have_count(2)
    await rows.filter(has_text="Weekend in Lisbon").click()
    await expect(page.get_by_role("article").filter(has_text="Take the tram to Sintra.")).to_be_visible()
    await page.get_by_role("button", name="Import…").click()
    await choose_file(page, name, content)
    await expect(dialog.get_by_role("status")).to_contain_text("2 skipped")
    await expect(dialog.get_by_role("button", name="Import", exact=True)).to_be_disabled()


@pytest.mark.parametrize(
    ("mode", "found"), staged([("Both", "green"), ("Words", "green"), ("Meaning", "green")], quick=1)
)
async def test_messages_are_found_and_opened_where_they_stand(
    site: Site, open_window: OpenWindow, mode: str, found: str
) -> None:
    page = await (await open_window(site)).go("/conversations")
    await page.get_by_role("textbox", name="Search in all messages").fill("green tea")
    await page.get_by_role("radiogroup", name="Search by").get_by_text(mode, exact=True).click()
    hits = page.get_by_role("list", name="Found messages").locator('a[href*="id=tea&"]').filter(has_text="You drink")
    hit = hits.filter(has=page.locator("mark").filter(has_text=found))
    await expect(hit).to_be_visible()
    await hit.click()
    await expect(page.locator("article[data-chosen]")).to_contain_text("You drink green tea.")


@pytest.mark.slow
async def test_filters_narrow_what_is_found(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?q=tea&mode=keyword")
    hits = page.get_by_role("list", name="Found messages").get_by_role("link")
    await expect(hits.filter(has_text="assistant").first).to_be_visible()
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_label("Said by").select_option("user")
    await expect(hits.filter(has_text="assistant")).to_have_count(0)
    await expect(hits.first).to_be_visible()
    await page.get_by_label("To (inclusive)").fill("2020-01-01")
    await expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


@pytest.mark.slow
async def test_branches_are_switched_and_taken(site: Site, open_window: OpenWindow) -> None:
    await talks.begin_branched(site, "branched")
    page = await (await open_window(site)).go("/conversations?id=branched")
    await expect(page.get_by_role("list", name="Branches").get_by_role("listitem")).to_have_count(5)
    answer = page.get_by_role("article").filter(has_text="You drink green tea.")
    await expect(answer.get_by_role("group", name="Branch 2 of 2")).to_be_visible()
    await answer.get_by_role("button", name="Previous branch").click()
    await expect(page.get_by_text("This is not the branch that chats continue on.")).to_be_visible()
    await expect(page.get_by_role("article").filter(has_text="You drink black tea.")).to_be_visible()
    await expect(page.get_by_role("article").filter(has_text="And how long?")).to_have_count(0)
    await page.get_by_role("button", name="Continue with this branch").click()
    await expect(page.get_by_text("This is not the branch that chats continue on.")).to_have_count(0)
    told = await talks.ask(site, "GET", "/branched/messages")
    assert told["results"][-1]["content"] == "You drink black tea."
    await page.get_by_role("list", name="Branches").get_by_role("button").filter(has_text="And how hot?").click()
    await expect(page.get_by_role("article").filter(has_text="At 70 degrees.")).to_be_visible()


@pytest.mark.slow
async def test_a_message_is_pinned_and_begins_a_conversation_of_its_own(site: Site, open_window: OpenWindow) -> None:
    await talks.begin_branched(site, "copied")
    page = await (await open_window(site)).go("/conversations?id=copied")
    answer = page.get_by_role("article").filter(has_text="You drink green tea.")
    await answer.get_by_role("button", name="Pin (keep in windows)").click()
    await expect(answer.get_by_role("img", name="Pinned")).to_be_visible()
    await answer.get_by_role("button", name="New conversation from here").click()
    await expect(page.get_by_role("article")).to_have_count(2)
    await expect(page).not_to_have_url(re.compile("id=copied"))


@pytest.mark.slow
async def test_a_small_budget_shows_what_is_kept_and_dropped(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=window&tab=window")
    legend = page.get_by_role("list", name="Legend")
    await expect(legend).to_contain_text("30 messages")
    await page.get_by_label("Budget in tokens").fill("400")
    await expect(legend).to_contain_text("Dropped")
    held = page.get_by_role("toolbar", name="What the window holds").get_by_role("button")
    assert 0 < await held.count() < 10
    await expect(page.get_by_role("article").last).to_contain_text("Kept")
    await page.get_by_role("toolbar", name="Status of the messages").get_by_role("button").first.click()
    await expect(page.locator("article[data-state=dropped]").first).to_contain_text("Number 0:")
    await expect(page).to_have_url(re.compile("budget=400"))


@pytest.mark.slow
async def test_a_summary_is_shown_with_what_it_stands_for(site: Site, open_window: OpenWindow) -> None:
    site.llm.default = Answer(text="They talked about pots.")
    address = "/conversations?id=window&tab=window&budget=1400&strategy=summarization"
    page = await (await open_window(site)).go(address)
    await page.get_by_role("button", name="Summarise").click()
    legend = page.get_by_role("list", name="Legend")
    for state in ("Summary", "Summarised", "Kept"):
        await expect(legend).to_contain_text(state)
    await page.get_by_text("Summary up to message").click()
    await expect(page.get_by_text("They talked about pots.")).to_be_visible()


@pytest.mark.slow
async def test_what_would_be_recalled_for_a_question_is_shown(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=window&tab=window&budget=400&strategy=simple")
    await page.get_by_label("Recalled for the question").fill("Green tea, from a pot.")
    await expect(page.get_by_text("Recalled for the question:")).to_contain_text("memory.rag.enabled is off")
    await expect(page.get_by_role("listitem").filter(has_text="user Green tea, from a pot.")).to_be_visible()
    await expect(page.get_by_role("list", name="Legend")).to_contain_text("Recalled")


@pytest.mark.slow
async def test_node_memories_are_cleared_after_a_question(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=nodes")
    await page.get_by_role("tab", name="Nodes").click()
    answer = page.get_by_role("article", name="Answer")
    await answer.get_by_role("button", name="Show all 6 messages").click()
    await expect(answer.get_by_role("list", name="What the node remembers")).to_contain_text("Bread?")
    await page.get_by_role("button", name="Clear Answer…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(answer).to_be_visible()
    await page.get_by_role("button", name="Clear Answer…").click()
    await agree(page, "Clear")
    await expect(answer).to_have_count(0)
    await expect(page.get_by_role("article", name="Check")).to_be_visible()
    await page.get_by_role("button", name="Clear all…").click()
    await agree(page, "Clear")
    await expect(page.get_by_role("heading", name="No node memories")).to_be_visible()


@pytest.mark.slow
async def test_discussion_memory_is_shown_and_forgotten(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=tea-time&tab=discussion")
    await expect(page.get_by_text("All about tea.")).to_be_visible()
    await page.get_by_text("Records (2)").click()
    await expect(page.get_by_role("list", name="Records")).to_contain_text("The pot is from Kyoto.")
    await page.get_by_text("Chunk summaries (2)").click()
    summaries = page.get_by_role("list", name="Chunk summaries")
    first = summaries.get_by_role("article").filter(has_text="She likes tea.")
    await first.get_by_text("From 1 message").click()
    await expect(first).to_contain_text("She likes tea. I said.")
    await first.get_by_role("button", name="Forget this chunk…").click()
    await agree(page, "Forget")
    await expect(first).to_have_count(0)
    await expect(summaries).to_contain_text("It is green.")


@pytest.mark.slow
async def test_who_signed_in_by_password_is_told_that_the_clients_key_opens_a_discussion(
    start_site: StartSite, open_window: OpenWindow, tmp_path: Path
) -> None:
    site = await start_site(served(tmp_path, "http://127.0.0.1:9", user={"encryptUsingApiKey": True}))
    window = await open_window(site, alone=True)
    await joined(window, invited(site), "Mira")
    page = window.page
    _, key = site.parts.access.api_keys.create(role="write", user="mira", by="test")
    app = {"Authorization": f"Bearer {key}"}
    summary = {"text": "She likes tea.", "hash": "", "number": 1}
    discussion = {"format": "mnemoir-discussion", "version": 1, "chunk_summaries": [summary]}
    talk = {"id": "tea", "title": "Which tea", "messages": talks.said("Which tea do I drink?")}
    bodies: dict[str, Any] = {"conversations": talk, "discussions/tea/import": discussion}
    for path, body in bodies.items():
        answer = await page.request.post(f"{site.url}/api/{path}", data=body, headers=app)
        assert answer.ok, await answer.text()

    await window.go("/conversations?id=tea&tab=discussion")
    await expect(page.get_by_role("heading", name="Only the client’s key opens this")).to_be_visible()
    await window.has_no_barrier(("light", WIDE), ("dark", NARROW))
    await page.evaluate("key => sessionStorage.setItem('mnemoirKey', key)", key)
    await page.reload()
    await expect(page.get_by_role("article")).to_contain_text("She likes tea.")


@pytest.mark.slow
async def test_a_rebuild_without_a_config_tree_says_why_not(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=tea-time&tab=discussion")
    await page.get_by_role("button", name="Rebuild…").click()
    await expect(page.get_by_role("alert")).to_contain_text("--config-dir")


@pytest.mark.slow
async def test_a_conversation_is_renamed_tagged_and_deleted_after_a_question(
    site: Site, open_window: OpenWindow
) -> None:
    await talks.begin(site, "a/b %?", "To be forgotten.", "Yes.")
    page = await (await open_window(site)).go("/conversations?id=a%2Fb%20%25%3F")
    await page.get_by_role("button", name="More about this conversation").click()
    await page.get_by_role("menuitem", name="Edit details…").click()
    await page.get_by_label("Title").fill("Passing")
    await page.get_by_role("combobox", name="Tags").fill("old")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="Passing")).to_be_visible()
    await expect(page.get_by_role("list", name="Conversations")).to_contain_text("Passing")
    await page.get_by_role("button", name="More about this conversation").click()
    await page.get_by_role("menuitem", name="Delete…").click()
    await agree(page, "Delete")
    await expect(page.get_by_role("heading", name="Select a conversation")).to_be_visible()
    await expect(page.get_by_role("link").filter(has_text="Passing")).to_have_count(0)


@pytest.mark.slow
async def test_a_conversation_is_saved_as_markdown(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=tea")
    await page.get_by_role("button", name="More about this conversation").click()
    async with page.expect_download() as saving:
        await page.get_by_role("menuitem", name="Markdown").click()
    saved = await saving.value
    assert saved.suggested_filename == "tea.md"
    assert "You drink **green** tea." in (await saved.path()).read_text("utf-8")


@pytest.mark.slow
async def test_thousands_of_messages_scroll_with_few_in_the_page(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=long")
    newest = page.get_by_role("article").filter(has_text=f"Message {talks.LONG - 1} of")
    await expect(newest).to_be_in_viewport()
    transcript = page.get_by_role("group", name="Transcript")
    await transcript.evaluate("element => element.scrollTo(0, element.scrollHeight / 2)")
    await expect(newest).to_have_count(0)
    await expect(page.get_by_role("article").first).to_be_visible()
    assert await page.get_by_role("article").count() < MOST_IN_SIGHT
    await transcript.focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("article").filter(has_text="Message 0 of")).to_be_in_viewport()


def asked_for(page: Page, below: str) -> list[str]:
    """The requests from now on whose address has that in it."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if below in request.url else None)
    return found


@pytest.mark.slow
async def test_one_small_request_shows_the_end_or_what_is_around_a_message(
    site: Site, open_window: OpenWindow
) -> None:
    messages = (await talks.ask(site, "GET", "/long/messages?limit=1000&around=0"))["results"]
    window = await open_window(site)
    pages = asked_for(window.page, "/long/messages")
    page = await window.go("/conversations?id=long")
    await expect(page.get_by_role("article").filter(has_text=f"Message {talks.LONG - 1} of")).to_be_in_viewport()
    assert len(pages) == 1
    await page.goto(f"{site.url}/conversations?id=long&message={messages[700]['id']}")
    await expect(page.locator("article[data-chosen]").filter(has_text="Message 700 of")).to_be_in_viewport()
    place = page.get_by_role("listitem").filter(has_text="Message 700 of")
    await expect(place).to_have_attribute("aria-posinset", "701")
    await expect(place).to_have_attribute("aria-setsize", str(talks.LONG))
    assert len(pages) == 2


@pytest.mark.slow
async def test_a_transcript_goes_on_in_both_directions_and_to_its_ends(site: Site, open_window: OpenWindow) -> None:
    messages = (await talks.ask(site, "GET", "/long/messages?limit=1000&around=0"))["results"]
    page = await (await open_window(site)).go(f"/conversations?id=long&message={messages[700]['id']}")
    transcript = page.get_by_role("group", name="Transcript")
    await expect(page.locator("article[data-chosen]")).to_be_in_viewport()
    for key, number in (("PageUp", 640), ("PageDown", 760)):
        sought = page.get_by_role("article").filter(has_text=f"Message {number} of")
        await transcript.focus()
        for _ in range(200):
            if await sought.count():
                break
            await page.keyboard.press(key)
            await at_rest(transcript)
        await expect(sought).to_have_count(1)
    for key, number in (("Home", 0), ("End", talks.LONG - 1)):
        await page.keyboard.press(key)
        await expect(page.get_by_role("article").filter(has_text=f"Message {number} of")).to_be_in_viewport()


@pytest.mark.slow
async def test_window_marks_are_right_far_from_the_end(site: Site, open_window: OpenWindow) -> None:
    messages = (await talks.ask(site, "GET", "/long/messages?limit=1000&around=0"))["results"]
    pinned = messages[500]["id"]
    await talks.ask(site, "PATCH", f"/long/messages/{pinned}", {"pinned": True})
    address = f"/conversations?id=long&tab=window&strategy=hybrid&budget=300&message={pinned}"
    page = await (await open_window(site)).go(address)
    await expect(page.locator("article[data-chosen]")).to_have_attribute("data-state", "retained")
    for near in (499, 501):
        other = page.get_by_role("article").filter(has_text=f"Message {near} of")
        await expect(other).to_have_attribute("data-state", "dropped")
    await expect(page.get_by_role("list", name="Legend")).to_contain_text("Retained")


@pytest.mark.slow
async def test_what_somebody_wrote_harms_nothing(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/conversations?id=hostile")
    await expect(page.get_by_role("article").first).to_contain_text("<script>")
    await expect(page.get_by_text("U+202E").first).to_be_visible()
    for tab in ("Window", "Discussion", "Nodes"):
        await page.get_by_role("tab", name=tab).click()
        await expect(page.get_by_role("tabpanel")).to_be_visible()
    await page.goto(f"{site.url}/conversations?q=%3Cscript%3E&mode=keyword")
    await expect(page.get_by_role("list", name="Found messages")).to_contain_text("<script>")
    assert await page.evaluate("window.harmed") is None
    assert await page.locator("a[href^='javascript']").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("id", ["window", "tea", "tea-time"])
async def test_no_look_at_a_conversation_has_a_barrier(site: Site, open_window: OpenWindow, id: str) -> None:
    window = await open_window(site)
    for tab in TABS:
        page = await window.go(f"/conversations?q=tea&id={id}{tab}")
        await expect(page.get_by_role("tabpanel")).to_be_visible()
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        await window.has_no_barrier(("light", WIDE), ("dark", WIDE), ("light", NARROW))


@pytest.mark.slow
@pytest.mark.parametrize("path", ["?q=tea", "?id=hostile"])
async def test_it_fits_into_a_narrow_window(site: Site, open_window: OpenWindow, path: str) -> None:
    window = await open_window(site, size=NARROW)
    page = await window.go(f"/conversations{path}")
    await expect(page.get_by_role("link").first).to_be_visible()
    await window.is_within()
    await window.axe()


@pytest.mark.slow
async def test_in_a_narrow_window_branches_are_a_click_away(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site, size=NARROW)).go("/conversations?id=tea")
    await page.get_by_role("button", name="Branches").click()
    await page.get_by_role("dialog").get_by_role("button").filter(has_text="And how hot?").click()
    await expect(page.get_by_role("article").filter(has_text="At 70 degrees.")).to_be_visible()
    await page.get_by_role("link", name="All conversations").click()
    await expect(page.get_by_role("list", name="Conversations")).to_be_visible()
