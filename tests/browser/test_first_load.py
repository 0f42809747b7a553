"""What a browser fetches before one can chat."""

import asyncio
import contextlib

import aiohttp
import pytest
from playwright.async_api import Error, Response, Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser_kit import Site
from tests.stages import staged

# bytes as they cross the wire; 44,000 of the script show formatted text
MOST = {"script": 300_000, "stylesheet": 42_000, "font": 50_000}


async def _let_go(route: Route, when: asyncio.Event) -> None:
    await when.wait()
    with contextlib.suppress(Error):  # the page may be gone
        await route.continue_()


@pytest.mark.parametrize("address", staged(["/?conversation=tea", "/"], quick=1))
async def test_the_chat_needs_few_bytes(site: Site, open_window: OpenWindow, address: str) -> None:
    said = [{"role": "user", "content": "Which tea?"}, {"role": "assistant", "content": "*Green* tea."}]
    async with aiohttp.ClientSession(site.url) as http:
        await http.post("/api/conversations", json={"id": "tea", "messages": said})
    window = await open_window(site, alone=True)
    answers: list[Response] = []
    shown = asyncio.Event()
    # what draws notices comes half a second later: on a busy machine that is before the page is there
    await window.page.route("**/noticesShown-*", lambda route: _let_go(route, shown))
    window.page.on("response", lambda answer: answers.append(answer))
    page = await window.go(address)
    await expect(page.get_by_role("textbox", name="Message")).to_be_editable()
    await expect(page.locator("em", has_text="Green")).to_have_count(1 if "tea" in address else 0)
    await page.evaluate("document.fonts.ready")
    scripts = [answer for answer in answers if answer.request.resource_type == "script"]
    assert scripts
    assert {answer.headers["content-encoding"] for answer in scripts} == {"gzip"}
    shown.set()
    for kind, most in MOST.items():
        sizes = [int(one.headers["content-length"]) for one in answers if one.request.resource_type == kind]
        assert 0 < sum(sizes) <= most, (kind, sizes, [a.url for a in answers if a.request.resource_type == kind])


@pytest.mark.slow
async def test_other_pages_bring_their_own_script(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, alone=True)
    page = await window.go("/")
    await page.wait_for_load_state("networkidle")
    async with page.expect_response(lambda answer: "MemoriesPage" in answer.url):
        await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Memories").click()
