"""The map of memories in a real browser: seen, drawn around, forgotten and taken back, and moved by keys."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.test_memories_page import remember, told
from tests.browser_kit import PHONE, Site

FACTS = ("Bakes rye bread", "Sells rye bread", "Plays the cello", "Tunes the cello", "Feeds the bees", "Keeps bees")


async def test_what_a_lasso_holds_is_forgotten_and_taken_back(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "mapper", *FACTS)
    window = await open_window(site)
    page = await window.go("/memories?user=mapper")
    await page.get_by_role("radiogroup", name="View").get_by_text("Map").click()
    await expect(page.get_by_role("status").filter(has_text="6 memories in")).to_be_visible()
    await window.axe()
    await page.get_by_text("Lasso").click()
    await draw_around_all(page)
    await expect(page.get_by_role("status").filter(has_text="6 selected")).to_be_visible()
    await page.get_by_role("button", name="Forget").click()
    await expect(page.get_by_text("No memories yet").or_(page.get_by_text("Nothing to draw"))).to_be_visible()
    assert await told(site, "mapper") == []
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("status").filter(has_text="6 memories in")).to_be_visible()
    assert sorted(await told(site, "mapper")) == sorted(FACTS)


@pytest.mark.slow
async def test_the_map_is_moved_and_its_groups_are_chosen_by_keys(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    await remember(site, "keys", *FACTS)
    window = await open_window(site)
    page = await window.go("/memories?user=keys&view=map")
    picture = page.get_by_role("application", name="Map of memories")
    await picture.focus()
    label = picture.get_by_role("button", name="cello")
    before = await label.bounding_box()
    await page.keyboard.press("ArrowDown")
    after = await label.bounding_box()
    assert before is not None
    assert after is not None
    assert round(before["y"] - after["y"]) == 60
    await label.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status").filter(has_text="selected")).to_be_visible()
    await picture.focus()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("status").filter(has_text="6 memories in")).to_be_visible()


@pytest.mark.slow
async def test_a_finger_draws_a_lasso_and_its_next_tap_counts(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "finger", *FACTS)
    window = await open_window(site, size=PHONE, has_touch=True)
    page = await window.go("/memories?user=finger&view=map")
    await expect(page.get_by_role("status").filter(has_text="6 memories in")).to_be_visible()
    await page.get_by_text("Lasso").tap()
    await draw_by_finger(page)
    await expect(page.get_by_role("status").filter(has_text="6 selected")).to_be_visible()
    await page.get_by_role("button", name="Forget").tap()
    await expect(page.get_by_text("No memories yet").or_(page.get_by_text("Nothing to draw"))).to_be_visible()


async def draw_by_finger(page: Page) -> None:
    finger = await page.context.new_cdp_session(page)
    left, top, right, bottom = await corners(page)
    for x, y in ((left, top), (right, top), (right, bottom), (left, bottom), (left, top + 20)):
        kind = "touchStart" if (x, y) == (left, top) else "touchMove"
        await finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    await finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


async def draw_around_all(page: Page) -> None:
    left, top, right, bottom = await corners(page)
    await page.mouse.move(left, top)
    await page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 20)):
        await page.mouse.move(x, y, steps=4)
    await page.mouse.up()


async def corners(page: Page) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the map, five pixels within its edge."""
    box = await page.get_by_role("application", name="Map of memories").bounding_box()
    assert box is not None
    return box["x"] + 5, box["y"] + 5, box["x"] + box["width"] - 5, box["y"] + box["height"] - 5
