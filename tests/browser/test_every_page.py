"""What holds for each page, empty and filled, narrow and wide, light and dark: no barrier, one name, reachable by keys."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser.reachable import tab_through
from tests.browser_kit import PHONE, WIDE, Scheme, Site, Window
from tools.demo_site import TALK, demo_site

PAGES = {
    "/": "Chat",
    "/memories": "Memories",
    "/conversations": "Conversations",
    "/runs": "Runs",
    "/workflows": "Workflows",
    "/connect": "Connect",
    "/status": "Status",
}
NARROW = (360, 740)
# one of each thing that a page shows when it is named in its address
OPENED = ["/?conversation=dinner", "/conversations?id=dinner", "/memories?id={memory}", "/runs?id={run}"]

every_page = pytest.mark.parametrize("path", PAGES)
every_look = pytest.mark.parametrize("scheme", ["light", "dark"])
every_size = pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])


class Demo(Site):
    """A server that was talked to, in a process of its own."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def demo() -> AsyncIterator[str]:
    async with demo_site() as url:
        yield url


async def settled(page: Page) -> None:
    """Until the page has its heading, and nothing of it is being loaded."""
    await expect(page.get_by_role("heading", level=1)).to_be_attached()
    await expect(page.locator("main").get_by_role("status", name="Loading")).to_have_count(0)
    await page.evaluate("document.fonts.ready")


async def opened_page(window: Window, target: str) -> Page:
    page = await window.go(target)
    await settled(page)
    return page
