"""The web UI in a real browser: time until the user can type and loaded bytes, compared with an empty page."""

import asyncio
import tempfile
import time
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from bench.report import median, ms, table
from tests.browser_kit import ARGUMENTS, CHROMIUM
from tests.serving import ServerProcess

LOADS = 9
COMPOSER = "textarea:not([disabled])"
_SCRIPT_BYTES = """performance.getEntriesByType('resource')
    .filter(entry => entry.name.endsWith('.js')).reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""


async def load_times(browser: Browser, url: str, ready: str) -> tuple[list[float], int]:
    """Seconds from navigation to the element `ready`, each in a new profile; and the bytes of compressed scripts."""
    took, size = [], 0
    for _ in range(LOADS):
        profile = await browser.new_context()
        page = await profile.new_page()
        started = time.perf_counter()
        await page.goto(url, wait_until="commit")
        await page.wait_for_selector(ready)
        took.append(time.perf_counter() - started)
        await page.wait_for_load_state("networkidle")
        size = int(await page.evaluate(_SCRIPT_BYTES))
        await profile.close()
    return took[1:], size


async def measured(url: str) -> None:
    """Measure and print the table."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        chat, size = await load_times(browser, url, COMPOSER)
        plain, _ = await load_times(browser, f"{url}/docs", "h1")
        await browser.close()
    table(
        "web UI, first visit",
        ["", "measured", "baseline", "ratio"],
        [
            [
                "address to a place to type (median)",
                ms(median(chat)),
                f"{ms(median(plain))} (/docs, a page without script)",
                f"{median(chat) / median(plain):.1f}",
            ],
            ["script, compressed", f"{size / 1000:.0f} kB", "", ""],
        ],
    )


def run() -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        asyncio.run(measured(server.url))
