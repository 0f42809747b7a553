"""What a chat teaches, followed through the pictures of memory: greeting, strip, past, map, forgotten and back."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.project_kit import ask, begin
from tests.browser.test_memory_map_page import draw_around_all
from tests.browser_kit import until
from tests.narrowing import present

OLD, NEW = "Plays the cello", "Allergic to nuts"


@pytest.mark.slow
async def test_what_a_chat_taught_is_seen_in_every_picture_of_memory(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    window = await open_window(await start_site({"llm.provider": "offline"}))
    page = await begin(window, "journey", memory=True)
    long_ago = (datetime.now(UTC) - timedelta(weeks=5)).isoformat()
    await ask(window, "POST", "/api/import", "journey", {"memory": OLD, "user_id": "user", "created_at": long_ago})
    await page.get_by_role("textbox", name="Message").fill("I'm allergic to nuts.")
    await page.keyboard.press("Enter")
    await until(
        lambda: ask(window, "GET", "/api/memories/user", "journey"),
        lambda told: NEW in [memory["memory"] for memory in told["results"]],
    )

    await page.get_by_role("link", name="New chat").click()
    greeting = page.get_by_role("link", name="2 things known, 1 new this week")
    await expect(greeting).to_be_visible()
    assert round(present(await greeting.bounding_box())["height"]) == 40
    await window.axe()
    await greeting.press("Enter")

    strip = page.get_by_role("region", name="When it was learned")
    await expect(strip).to_contain_text("2 known, 1 new this week")
    table = page.get_by_role("row")
    await expect(table.filter(has_text=NEW)).to_be_visible()
    await strip.get_by_role("button", name="Look back").click()
    await page.get_by_role("slider", name="As of").press("Home")
    await expect(page.get_by_text("You are looking at the past")).to_be_visible()
    await expect(table.filter(has_text=NEW)).to_have_count(0)
    await expect(table.filter(has_text=OLD)).to_be_visible()
    await page.get_by_role("button", name="Back to now").click()
    await expect(table.filter(has_text=NEW)).to_be_visible()

    await page.get_by_role("radiogroup", name="View").get_by_text("Map").click()
    in_words = page.get_by_role("status").filter(has_text="2 memories in")
    await expect(in_words).to_be_visible()
    zoom = page.get_by_role("group", name="Zoom").get_by_role("button")
    await page.get_by_role("button", name="Zoom in").click()
    boxes = [present(await button.bounding_box()) for button in await zoom.all()]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 24
    await page.get_by_role("button", name="Show the whole map").click()
    await page.get_by_text("Lasso").click()
    await draw_around_all(page)
    await expect(page.get_by_role("status").filter(has_text="2 selected")).to_be_visible()
    await page.get_by_role("button", name="Forget").click()
    await expect(page.get_by_text("No memories yet").or_(page.get_by_text("Nothing to draw"))).to_be_visible()
    assert (await ask(window, "GET", "/api/memories/user", "journey"))["results"] == []
    await page.get_by_role("button", name="Undo").click()
    await expect(in_words).to_be_visible()
    told = (await ask(window, "GET", "/api/memories/user", "journey"))["results"]
    assert sorted(memory["memory"] for memory in told) == sorted([OLD, NEW])
