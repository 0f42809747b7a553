"""`make screenshots`: pictures of every page for `docs/`, wide and narrow, light and dark."""

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import aiohttp
from PIL import Image
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser_kit import ARGUMENTS, CHROMIUM
from tools.demo_site import TALK, demo_site

PICTURES = Path(__file__).parents[1] / "docs" / "images"
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
_COLOURS = 256
_SETTLING_MS = 700


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One picture: its page, and the actions before it is taken."""

    name: str
    address: str
    ready: Callable[[Page], Awaitable[None]]


async def _still(page: Page) -> None:
    """Wait until nothing is loading. Some pages follow the server, so the network never becomes idle."""
    await page.wait_for_load_state("load")
    await page.wait_for_timeout(_SETTLING_MS)
    await expect(page.locator("[role=status][aria-label^=Loading], [aria-busy=true]")).to_have_count(0)


async def _drawer(page: Page) -> None:
    await page.evaluate("localStorage.setItem('memoryEnabled', 'true')")
    await page.reload()
    await page.get_by_role("button", name="Agent Memory Enabled").first.click()
    await page.get_by_role("dialog", name="Project Long Term Memory").wait_for()
    await _still(page)


async def _run(page: Page) -> None:
    await page.get_by_role("link", name="dessert").first.click()
    await _still(page)


async def _chat(page: Page) -> None:
    await page.evaluate("localStorage.setItem('memoryEnabled', 'true')")
    await page.reload()
    await page.get_by_text(re.compile("^Learned:")).wait_for()
    await _still(page)


async def _week(page: Page) -> None:
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="The week’s review…").click()
    await page.get_by_role("region", name="Contradicts, 1 of").wait_for()
    await _still(page)


SHOTS = (
    Shot(name="chat", address="/?conversation=dinner", ready=_chat),
    Shot(name="memory-drawer", address="/?conversation=dinner", ready=_drawer),
    Shot(name="memories", address="/memories?user=sample", ready=_still),
    Shot(name="memory-map", address="/memories?user=sample&view=map", ready=_still),
    Shot(name="memory-week", address="/memories?user=sample", ready=_week),
    Shot(name="conversations", address="/conversations?id=dinner", ready=_still),
    Shot(name="runs", address="/runs", ready=_run),
    Shot(name="workflows", address="/workflows?file=Workflows/sub-workflows/Chat.json", ready=_still),
    Shot(name="connect", address="/connect", ready=_still),
    Shot(name="language-model", address="/connect?part=model", ready=_still),
    Shot(name="status", address="/status", ready=_still),
)


async def take(into: Path, only: str) -> None:
    """Take all pictures whose names begin with `only`."""
    async with demo_site() as url, async_playwright() as playwright:
        await _store_sample(url)
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for shot in SHOTS:
            if shot.name.startswith(only):
                for size in SIZES:
                    for scheme in SCHEMES:
                        picture = await _taken(browser, url, shot, size, scheme)
                        await asyncio.to_thread(_save, picture, into / f"{shot.name}-{size}-{scheme}.png")
        await browser.close()


async def _store_sample(url: str) -> None:
    """The memory that the pictures of memories show."""
    async with aiohttp.ClientSession(url) as http, http.post("/api/sample") as answer:
        answer.raise_for_status()


async def _taken(browser: Browser, url: str, shot: Shot, size: str, scheme: str) -> bytes:
    width, height = SIZES[size]
    profile = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="Europe/Vienna",
    )
    page = await profile.new_page()
    await page.add_init_script(f"localStorage.setItem('mnemoirUser', '{TALK['user']}')")
    await page.goto(f"{url}{shot.address}")
    await _still(page)
    await shot.ready(page)
    picture = await page.screenshot(animations="disabled", caret="hide")
    await profile.close()
    return picture


def _save(picture: bytes, file: Path) -> None:
    """Save as a PNG with a palette, which has a fifth of the bytes and no visible difference on these pages."""
    Image.open(BytesIO(picture)).convert("RGB").quantize(_COLOURS).save(file, "PNG", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=PICTURES)
    parser.add_argument("--only", default="", help="beginning of the names of pictures to take")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(given.into, given.only))
