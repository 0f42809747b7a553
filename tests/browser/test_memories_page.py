"""The memories page in a real browser: found, explained, put right, deleted and taken back, joined, forgotten."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import PHONE, Site, Window, turn, until
from tests.narrowing import present

HOSTILE = (
    "<img src=x onerror=alert(1)> <script>alert(2)</script> [click](javascript:alert(3)) "
    "![pixel](http://tracker.example/x.png) \u202egnp.exe \u200bhidden"
)
FACTS = (
    "Lives in Graz, near the river",
    "Rows every morning before work",
    "Rows each morning before work",
    "Is allergic to nuts",
    "Prefers Python for data work",
    "Plays the viola in an orchestra",
)


async def ask(site: Site, method: str, target: str, body: object = None) -> Any:
    """The JSON of a request that must succeed."""
    sent = io.BytesIO(body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode())
    async with aiohttp.ClientSession() as http, http.request(method, site.url + target, data=sent) as answer:
        told = await answer.json()
        assert answer.ok, told
        return told


async def remember(site: Site, user: str, *texts: str, **more: object) -> list[str]:
    """Facts of a user, the first the newest, learned nine hours apart; their ids."""
    now = datetime.now(UTC)
    lines = [
        {
            "id": f"mem_{user}_{at}",
            "memory": text,
            "user_id": user,
            "created_at": (now - timedelta(hours=1 + 9 * at)).isoformat(),
        }
        | more
        for at, text in enumerate(texts)
    ]
    await ask(site, "POST", "/api/import", "\n".join(json.dumps(line) for line in lines).encode())
    return [str(line["id"]) for line in lines]


async def told(site: Site, user: str) -> list[str]:
    """What the server holds of a user."""
    page = await ask(site, "GET", f"/api/memories?user_id={user}&limit=1000")
    return [memory["memory"] for memory in page["results"]]


def row(page: Page, text: str) -> Locator:
    """The row of a memory."""
    return page.get_by_role("row").filter(has_text=text)


async def opened(window: Window, target: str) -> Page:
    """The page, once its list is there."""
    page = await window.go(target)
    await expect(page.get_by_role("grid", name="Memories").get_by_role("row").nth(1)).to_be_visible()
    return page


@pytest.mark.slow
async def test_the_list_is_narrowed_by_the_filters_and_the_address_tells_which(
    site: Site, open_window: OpenWindow
) -> None:
    await remember(site, "filters", *FACTS)
    await remember(site, "filters-b", "Likes rum")
    (said,) = await remember(site, "filters-c", "I said this.", role="user", metadata={"session_id": "boats"})
    page = await opened(await open_window(site), "/memories?user=filters")
    await expect(page.get_by_role("status")).to_have_text("6 memories")
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_label("Age", exact=True).select_option(label="Last 24 hours")
    await expect(page.get_by_role("status")).to_have_text("3 memories")
    await page.get_by_label("Order", exact=True).select_option(label="Oldest first")
    await expect(page.get_by_role("row").nth(1)).to_contain_text("Rows each morning")
    await expect(page).to_have_url(re.compile(r"age=1.*order=created_asc"))
    await page.go_back()
    await expect(page.get_by_role("row").nth(1)).to_contain_text("Lives in Graz")
    await page.get_by_label("Kind", exact=True).select_option(label="Messages")
    await expect(page.get_by_role("heading", name="No matches")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Show all").click()
    await expect(page.get_by_role("status")).to_have_text("6 memories")
    await page.get_by_role("button", name="Filters").click()
    user = page.get_by_role("combobox", name="User")
    await user.fill("filters-c")
    await user.press("Enter")
    await expect(row(page, "I said this.")).to_be_visible()
    await page.get_by_label("Learned in conversation").fill("boats")
    await page.get_by_label("Learned in conversation").press("Enter")
    await expect(page).to_have_url(re.compile("source=boats"))
    await page.keyboard.press("Escape")
    await row(page, "I said this.").click()
    await expect(page).to_have_url(re.compile(f"id={said}"))


@pytest.mark.slow
async def test_one_row_of_controls_leaves_the_search_two_fifths_of_it(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "calm", *FACTS)
    window = await open_window(site)
    page = await opened(window, "/memories?user=calm")
    search, filters = page.get_by_role("searchbox"), page.get_by_role("button", name="Filters")
    for width in (1440, 820):
        await window.look("light", (width, 900))
        box, button = await search.bounding_box(), await filters.bounding_box()
        assert box
        assert button
        assert box["width"] >= 0.4 * (width - 32)
        assert abs(box["y"] - button["y"]) < 4


@pytest.mark.slow
async def test_phones_fold_all_but_the_search(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "folded", *FACTS)
    page = await opened(await open_window(site, size=PHONE), "/memories?user=folded&age=1")
    await expect(page.get_by_role("searchbox", name="Search memories")).to_be_visible()
    await expect(page.get_by_text("folded in default")).to_be_visible()
    hidden = (page.get_by_role("combobox", name="User"), page.get_by_label("Age", exact=True))
    for field in hidden:
        await expect(field).to_be_hidden()
    await page.get_by_role("button", name="Filters (1)").click()
    for field in hidden:
        await expect(field).to_be_visible()
    await page.get_by_label("Age", exact=True).select_option(label="Any age")
    await expect(page.get_by_role("button", name="Filters", exact=True)).to_be_visible()
    await expect(page.get_by_role("status")).to_have_text("6 memories")


@pytest.mark.slow
async def test_the_filters_narrow_a_search_by_meaning_too(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "narrowed", *FACTS)
    said = "I row in the morning, too."
    line = {"memory": said, "user_id": "narrowed", "created_at": "2026-01-01", "role": "user"}
    boats = line | {"metadata": {"session_id": "boats"}}
    await ask(site, "POST", "/api/import", json.dumps(boats).encode())
    page = await opened(await open_window(site), "/memories?user=narrowed&q=rowing+in+the+morning")
    await expect(row(page, "morning before work").first).to_be_visible()
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_label("Learned in conversation").fill("boats")
    await page.get_by_label("Learned in conversation").press("Enter")
    await expect(page.get_by_role("row").nth(1)).to_contain_text("I row in the morning")
    await expect(page.get_by_role("status")).to_contain_text("1 found")
    await page.get_by_label("Kind", exact=True).select_option(label="Facts")
    await expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Search all").click()
    await expect(row(page, "morning before work").first).to_be_visible()


@pytest.mark.slow
async def test_a_search_says_why_each_memory_was_found(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "search", *FACTS)
    page = await opened(await open_window(site), "/memories?user=search")
    box = page.get_by_role("searchbox", name="Search memories")
    await box.fill("what sport does she do in the morning?")
    await box.press("Enter")
    first = page.get_by_role("row").nth(1)
    await expect(first).to_contain_text("Rows e")
    await expect(first).to_contain_text(re.compile(r"Score 0\.\d\d, Words .*Meaning"))
    await expect(first.locator("mark").first).to_have_text(re.compile("morning", re.IGNORECASE))
    await first.get_by_text(re.compile(r"^0\.\d\d$")).hover()
    await expect(page.get_by_text("Similarity of meaning (cosine)")).to_be_visible()
    await expect(page.get_by_title(re.compile("date: no date named"))).to_be_visible()
    await page.get_by_role("radiogroup", name="Search by").get_by_text("Words", exact=True).click()
    await box.fill("VIOLA")
    await box.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("1 memory")
    await box.press("Escape")
    await expect(page.get_by_role("status")).to_have_text("6 memories")


@pytest.mark.slow
async def test_an_edit_is_kept_and_its_history_shows_word_by_word_what_changed(
    site: Site, open_window: OpenWindow
) -> None:
    await remember(site, "edit", *FACTS)
    page = await opened(await open_window(site), "/memories?user=edit")
    await row(page, "Lives in Graz").click()
    panel = page.get_by_role("complementary", name="Memory")
    await panel.get_by_role("button", name="Edit").click()
    words = panel.get_by_label("Memory text")
    await words.fill("Lives in Vienna, near the river")
    await words.press("Control+Enter")
    await expect(panel.locator("del")).to_have_text("Graz")
    await expect(panel.locator("ins")).to_have_text("Vienna")
    await expect(row(page, "Lives in Vienna")).to_be_visible()
    await panel.get_by_role("button", name="Restore this version").click()
    await expect(row(page, "Lives in Graz")).to_be_visible()
    assert "Lives in Graz, near the river" in await told(site, "edit")


@pytest.mark.slow
async def test_the_words_a_memory_came_from_are_shown_in_their_conversation(
    site: Site, open_window: OpenWindow
) -> None:
    said = [
        {"role": role, "content": text}
        for role, text in (
            ("user", "Good morning!"),
            ("assistant", "What are you up to?"),
            ("user", "I row every morning."),
            ("assistant", "On the Mur?"),
        )
    ]
    await ask(site, "POST", "/api/conversations?user_id=sources", {"id": "boats", "messages": said})
    learned = {"messages": said[2:3], "user_id": "sources", "metadata": {"session_id": "boats"}}
    site.llm.reply_json({"facts": ["Rows every morning"]})
    await ask(site, "POST", "/api/memories", learned)
    page = await opened(await open_window(site), "/memories?user=sources")
    await row(page, "Rows every morning").click()
    sources = page.get_by_role("region", name="Sources")
    await expect(sources.get_by_text("I row every morning.")).to_be_visible()
    await expect(sources.get_by_text("On the Mur?")).to_have_count(0)
    await sources.get_by_role("button", name="Show context").click()
    await expect(sources.get_by_text("On the Mur?")).to_be_visible()
    link = sources.get_by_role("link", name="Open conversation")
    await expect(link).to_have_attribute("href", re.compile(r"/conversations\?id=boats&message=\d+$"))


@pytest.mark.slow
async def test_weeks_are_drawn_over_to_narrow_the_list_and_an_earlier_day_shows_what_held_then(
    site: Site, open_window: OpenWindow
) -> None:
    now = datetime.now(UTC)
    [moved, *_] = await remember(site, "weeks", *FACTS, created_at=(now - timedelta(weeks=20)).isoformat())
    await remember(
        site, "weeks", "Sails at weekends", id="mem_sails", created_at=(now - timedelta(weeks=5)).isoformat()
    )
    await ask(site, "PATCH", f"/api/memories/{moved}?user_id=weeks", {"memory": "Lives in Linz"})
    page = await opened(await open_window(site), "/memories?user=weeks")
    strip = page.get_by_role("region", name="When it was learned")
    await expect(strip).to_contain_text("7 known")
    weeks = strip.get_by_role("group", name="Weeks shown")
    box = present(await weeks.bounding_box())
    assert round(present(await strip.bounding_box())["height"]) == 96
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
    await page.mouse.up()
    await expect(page.get_by_role("status")).to_have_text("1 memory")
    await expect(row(page, "Sails at weekends")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("status")).to_have_text("7 memories")
    await strip.get_by_role("button", name="Look back").click()
    day = page.get_by_role("slider", name="As of")
    await day.focus()
    await page.keyboard.press("Home")
    await expect(row(page, FACTS[0])).to_be_visible()
    await expect(page.get_by_text("You are looking at the past")).to_be_visible()
    await expect(page.get_by_role("button", name="Add a memory")).to_have_count(0)
    await row(page, FACTS[0]).click()
    panel = page.get_by_role("complementary", name="Memory")
    await expect(panel).to_contain_text("This held until")
    await expect(panel.get_by_role("button", name=re.compile("Edit|Delete|Restore"))).to_have_count(0)
    await page.get_by_role("button", name="Back to now").click()
    await expect(row(page, "Lives in Linz")).to_be_visible()


async def test_a_deletion_is_undone_and_a_link_to_a_deleted_memory_restores_it(
    site: Site, open_window: OpenWindow
) -> None:
    ids = await remember(site, "undo", *FACTS)
    window = await open_window(site)
    page = await opened(window, "/memories?user=undo")
    for text in FACTS[:2]:
        await turn(row(page, text).get_by_role("checkbox"), on=True)
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("status")).to_have_text("4 memories")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("status")).to_have_text("6 memories")
    assert sorted(await told(site, "undo")) == sorted(FACTS)
    await ask(site, "DELETE", f"/api/memories/{ids[3]}?user_id=undo")
    await opened(window, f"/memories?user=undo&id={ids[3]}")
    await page.get_by_role("button", name="Restore").click()
    await expect(row(page, FACTS[3])).to_be_visible()


@pytest.mark.slow
async def test_selected_memories_are_tagged_and_moved_and_all_of_it_is_undone(
    site: Site, open_window: OpenWindow
) -> None:
    await remember(site, "bulk", *FACTS)
    window = await open_window(site, size=PHONE)
    page = await opened(window, "/memories?user=bulk")
    for text in FACTS[:2]:
        await turn(row(page, text).get_by_role("checkbox"), on=True)
    await page.get_by_role("button", name="Tag…").click()
    await page.get_by_role("combobox", name="Add tags").fill("river")
    await page.keyboard.press("Enter")
    await window.axe()
    await page.get_by_role("button", name="Tag 2").click()
    await expect(row(page, FACTS[1])).to_contain_text("river")
    for text in FACTS[:2]:
        await turn(row(page, text).get_by_role("checkbox"), on=True)
    await window.is_within()
    await page.get_by_role("button", name="Move…").click()
    await page.get_by_role("combobox", name="Project").fill("sea")
    await page.get_by_role("button", name="Move 2").click()
    await expect(page.get_by_role("status")).to_have_text("4 memories")
    there = await ask(site, "GET", "/api/memories?user_id=bulk&project=sea")
    assert sorted(memory["memory"] for memory in there["results"]) == sorted(FACTS[:2])
    await page.get_by_role("button", name="Undo").last.click()
    await expect(page.get_by_role("status")).to_have_text("6 memories")
    assert (await ask(site, "GET", "/api/memories?user_id=bulk&project=sea"))["total"] == 0


@pytest.mark.slow
async def test_duplicates_are_merged_and_the_merge_is_undone(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "merge", *FACTS)
    page = await opened(await open_window(site), "/memories?user=merge")
    await page.get_by_role("button", name="Duplicates").click()
    dialog = page.get_by_role("dialog", name="Duplicates")
    await expect(dialog.get_by_text("1 group among 6 facts")).to_be_visible()
    await dialog.get_by_label("Merged text").fill("Rows every single morning")
    await dialog.get_by_role("button", name="Merge 2 into one").click()
    await expect(dialog.get_by_text("No duplicates")).to_be_visible()
    assert sum("Rows" in text for text in await told(site, "merge")) == 1
    await page.keyboard.press("Escape")
    await expect(row(page, "Rows every single morning")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("status")).to_have_text("6 memories")
    assert sorted(await told(site, "merge")) == sorted(FACTS)


async def test_what_is_exported_is_forgotten_and_imported_again(
    site: Site, open_window: OpenWindow, tmp_path: Path
) -> None:
    await remember(site, "there", *FACTS)
    page = await opened(await open_window(site), "/memories?user=there")
    await page.get_by_role("button", name="More").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("menuitem", name="Export").click()
    saved = tmp_path / "memories.jsonl"
    await (await downloading.value).save_as(saved)
    assert len(saved.read_text("utf-8").splitlines()) == len(FACTS)
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Delete all memories").click()
    dialog = page.get_by_role("dialog", name="Delete all memories")
    sure = dialog.get_by_role("button", name="Delete all memories")
    await expect(sure).to_be_disabled()
    await dialog.get_by_label("Type the user").fill("there")
    await sure.click()
    await expect(page.get_by_role("heading", name="No memories yet")).to_be_visible()
    assert await told(site, "there") == []
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Import").click()
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("dialog").get_by_role("button", name="File").click()
    await (await choosing.value).set_files(saved)
    await page.get_by_role("dialog").get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_text("6 added, 0 skipped.")).to_be_visible()
    assert sorted(await told(site, "there")) == sorted(FACTS)


@pytest.mark.slow
@pytest.mark.timeout(600)  # ten thousand are brought in first
async def test_of_ten_thousand_memories_only_those_in_sight_are_in_the_page(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site(quick_vectors=True)
    await remember(site, "many", *(f"Remembers number {n}" for n in range(10_000)))
    page = await opened(await open_window(site), "/memories?user=many")
    await expect(page.get_by_role("status")).to_have_text("10,000 memories")
    grid = page.get_by_role("grid", name="Memories")
    await expect(grid).to_have_attribute("aria-rowcount", "10001")
    most = 0
    for _ in range(20):
        await grid.evaluate("grid => grid.scrollBy(0, 4000)")
        most = max(most, await page.get_by_role("row").count())
    assert 10 < most < 100
    last = page.get_by_text("Remembers number 9999", exact=True)

    async def at_the_end() -> int:
        await grid.evaluate("grid => grid.scrollTo(0, grid.scrollHeight)")
        return await last.count()

    assert await until(at_the_end)
    await expect(last).to_be_visible()
    assert await page.get_by_role("row").count() < 100


@pytest.mark.slow
async def test_a_hostile_memory_is_words_and_nothing_else(site: Site, open_window: OpenWindow) -> None:
    (memory_id,) = await remember(site, "hostile", HOSTILE, metadata={"session_id": HOSTILE, "a": HOSTILE})
    window = await open_window(site)
    for target in ("", f"&id={memory_id}", "&view=timeline", "&q=click"):
        page = await opened(window, f"/memories?user=hostile{target}")
        await expect(page.get_by_text("<script>alert(2)</script>").first).to_be_visible()
        await expect(page.get_by_text("U+202E").first).to_be_visible()
        await expect(page.get_by_text("U+200B").first).to_be_visible()
        assert await page.locator("main img, main script, main a[href^=javascript]").count() == 0
    await window.is_within()


@pytest.mark.slow
async def test_the_keyboard_alone_is_enough(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "keys", *FACTS)
    page = await opened(await open_window(site), "/memories?user=keys")
    await page.get_by_role("checkbox", name="Select all loaded").focus()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("row").nth(1)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("row").nth(3)).to_be_focused()
    await page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Memory")
    await expect(panel.get_by_text(FACTS[2]).first).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(panel).to_have_count(0)
    await page.keyboard.press("Home")
    await page.keyboard.press("Space")
    await expect(page.get_by_role("status")).to_have_text("1 selected")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Space")
    await expect(page.get_by_role("status")).to_have_text("2 selected")
    await page.keyboard.press("Delete")
    await expect(page.get_by_role("status")).to_have_text("4 memories")
    await expect(page.get_by_role("row").nth(1)).to_be_focused()
    await page.keyboard.press("End")
    await expect(page.get_by_role("row").nth(4)).to_be_focused()
    assert sorted(await told(site, "keys")) == sorted(FACTS[2:])


ADDRESSES = ("", "&id={id}", "&id={id}&own=yes", "&at=2020-01-05", "&from=2020-01-06", "&view=timeline", "&q=morning")


@pytest.mark.slow
@pytest.mark.parametrize("address", ADDRESSES)
async def test_no_barrier_and_nothing_wider_than_the_window(
    site: Site, open_window: OpenWindow, address: str
) -> None:
    ids = await remember(site, "looks", *FACTS)
    window = await open_window(site)
    page = await window.go(f"/memories?user=looks{address.format(id=ids[0])}")
    if "at=" in address:
        await expect(page.get_by_text("You are looking at the past")).to_be_visible()
    elif "own=" in address:
        await expect(page.get_by_text("No run is kept yet.")).to_be_visible()
    else:
        await expect(page.get_by_text("morning before work").first).to_be_visible()
    if "own=" not in address:
        await expect(page.get_by_role("region", name="When it was learned")).to_contain_text(
            re.compile("known|learned")
        )
    if "id=" in address:
        await expect(page.get_by_text("Sources")).to_be_visible()
    await window.has_no_barrier()


@pytest.mark.slow
async def test_no_barrier_among_duplicates(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "alike", *FACTS)
    window = await open_window(site)
    page = await window.go("/memories?user=alike")
    await page.get_by_role("button", name="Duplicates").click()
    await expect(page.get_by_role("button", name="Merge 2 into one")).to_be_visible()
    await window.has_no_barrier()
