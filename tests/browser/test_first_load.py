"""What a browser fetches before one can chat."""

import aiohttp
import pytest
from playwright.async_api import Response, expect

from tests.browser.conftest import OpenWindow
from tests.browser_kit import Site
from tests.stages import staged

MOST_SCRIPT = 310_000  # bytes as they cross the wire, compressed; 44,000 of them show formatted text


@pytest.mark.parametrize("address", staged(["/?conversation=tea", "/"], quick=1))
async def test_the_chat_needs_less_than_310_kb_of_script(site: Site, open_window: OpenWindow, address: str) -> None:
    said = [{"role": "user", "content": "Which tea?"}, {"role": "assistant", "content": "*Green* tea."}]
    async with aiohttp.ClientSession(site.url) as http:
        await http.post("/api/conversations", json={"id": "tea", "messages": said})
    window = await open_window(site, alone=True)
    scripts: list[Response] = []
    window.page.on("response", lambda answer: scripts.append(answer) if answer.url.endswith(".js") else None)
    page = await window.go(address)
    await expect(page.get_by_role("textbox", name="Message")).to_be_editable()
    await expect(page.locator("em", has_text="Green")).to_have_count(1 if "tea" in address else 0)
    assert scripts
    assert {answer.headers["content-encoding"] for answer in scripts} == {"gzip"}
    sizes = [int(answer.headers["content-length"]) for answer in scripts]
    assert sum(sizes) < MOST_SCRIPT, sizes


@pytest.mark.slow
async def test_other_pages_bring_their_own_script(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, alone=True)
    page = await window.go("/")
    await page.wait_for_load_state("networkidle")
    async with page.expect_response(lambda answer: "MemoriesPage" in answer.url):
        await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Memories").click()
