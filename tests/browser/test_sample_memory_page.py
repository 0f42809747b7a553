"""The sample memory in a real browser: offered by an empty server, looked at, and gone again as a whole."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenWindow, StartSite


@pytest.mark.slow
async def test_an_empty_server_shows_a_sample_memory_and_forgets_it_by_one_click(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    window = await open_window(await start_site())
    page = await window.go("/memories")
    await page.get_by_role("button", name="Try it with a sample memory").click()
    await expect(page.get_by_role("status").filter(has_text="200 memories")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="Ada eats solid food")
    await expect(row).to_contain_text("Cooking for Saturday")
    await window.axe()
    await row.press("Enter")
    memory = page.get_by_role("complementary", name="Memory")
    await expect(memory).to_contain_text("Ada eats solid food since this week!")
    await page.get_by_role("button", name="Remove the sample").click()
    await expect(page.get_by_role("alert").filter(has_text="The sample memory was removed")).to_be_visible()
    await expect(page.get_by_role("button", name="Try it with a sample memory")).to_be_visible()


@pytest.mark.slow
async def test_the_week_of_the_sample_is_reviewed_by_keys_alone(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site)
    page = await window.go("/memories")
    await page.get_by_role("button", name="Try it with a sample memory").click()
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="The week’s review…").click()
    doubt = page.get_by_role("region", name="Contradicts, 1 of")
    await expect(doubt).to_be_focused()
    await window.axe()
    seen = [await decide(page), await decide(page)]
    await page.keyboard.press("u")
    await expect(page.get_by_role("region", name="Contradicts, 2 of")).to_be_focused()
    while await page.get_by_role("region", name=" of ").count():
        seen.append(await decide(page))
    assert {"Contradicts", "Ended", "Changed", "Learned", "Never recalled"} == {*seen}
    await expect(page.get_by_text("That was the week")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def decide(page: Page) -> str:
    """Keep the card at hand, and wait for the next; what kind it was."""
    card = page.get_by_role("region", name=" of ")
    name = await card.get_attribute("aria-label") or ""
    await expect(card).to_be_focused()
    await page.keyboard.press("k")
    await expect(page.get_by_role("region", name=name, exact=True)).to_have_count(0)
    return name.split(",")[0]
