"""The sample memory in a real browser: offered by an empty server, looked at, and gone again as a whole."""

import pytest
from playwright.async_api import expect

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
