"""`/docs` in a browser: what its forms send, and what they show of the answer."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import PHONE, Window

KEY = "a-key-of-sixteen-characters"


async def operation(window: Window, method: str, path: str) -> Locator:
    """One operation of the page, opened."""
    form = window.page.locator(f'form[data-method="{method}"][data-path="{path}"]')
    await window.page.locator("details", has=form).locator("summary").click()
    return form


async def test_an_operation_is_tried_with_the_key_that_the_server_asks_for(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    window = await open_window(await start_site(api_keys=[KEY]), size=PHONE)
    page = await window.go("/docs")
    search = await operation(window, "POST", "/api/memories/search")
    await search.get_by_role("button", name="Send").click()
    await expect(search.locator("pre")).to_contain_text("A valid API key is needed")
    await page.get_by_label("Key, kept until").fill(KEY)
    await search.get_by_role("button", name="Send").click()
    await expect(search.locator("pre")).to_contain_text('"results": []')
    await window.is_within()


@pytest.mark.slow
async def test_a_streamed_answer_and_a_path_are_shown(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    window = await open_window(site)
    await window.go("/docs")
    chat = await operation(window, "POST", "/v1/chat/completions")
    await chat.get_by_label("Body").fill('{"stream": true, "messages": [{"role": "user", "content": "Hi"}]}')
    await chat.get_by_role("button", name="Send").click()
    await expect(chat.locator("pre")).to_contain_text("data: [DONE]")
    listed = await operation(window, "GET", "/api/memories/{user_id}")
    await listed.get_by_role("button", name="Send").click()
    await expect(listed.locator("pre")).to_contain_text('"total": 0')


@pytest.mark.slow
async def test_it_has_no_barrier(start_site: StartSite, open_window: OpenWindow) -> None:
    for scheme in ("light", "dark"):
        window = await open_window(await start_site(api_keys=[KEY]), size=PHONE, scheme=scheme)
        await window.go("/docs")
        await operation(window, "POST", "/api/memories/search")
        await window.axe()
