"""What would be recalled, in a real browser: asked by keys alone, from the menu and from the week's review."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.test_memories_page import remember
from tests.browser_kit import Site


@pytest.mark.slow
async def test_what_a_chat_would_be_given_is_asked_by_keys_alone(site: Site, open_window: OpenWindow) -> None:
    await remember(site, "asker", "Has a dog called Rex", "Plays the violin")
    window = await open_window(site)
    page = await window.go("/memories?user=asker")
    await page.get_by_role("button", name="More").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="The week’s review…").press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="What would be recalled for …").press("Enter")
    field = page.get_by_role("textbox", name="Question")
    await expect(field).to_be_focused()
    await page.keyboard.type("Whose dog is it?")
    await expect(page.get_by_role("status").filter(has_text="1 fits, 1 more given")).to_be_visible()
    await window.axe()
    fitting = page.get_by_role("region", name="Fits the question")
    await fitting.get_by_role("link", name="Has a dog called Rex").press("Enter")
    await expect(page.get_by_role("complementary", name="Memory")).to_contain_text("Has a dog called Rex")
    await page.get_by_role("button", name="More").press("Enter")
    await page.get_by_role("menuitem", name="What would be recalled for …").press("Enter")
    await expect(field).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="More")).to_be_focused()
