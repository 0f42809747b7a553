"""Answers as Markdown, where only a browser shows whether they can be read."""

import aiohttp
import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser_kit import NARROW, WIDE, Site

ANSWER = r"""Its integral is $$\int x^2\,dx = \frac{x^3}{3} + C$$ and costs $5 to $10.

| City | Departure | Arrival | Connection | Price |
|---|---|---|---|---|
| Copenhagen | 10:45 Hauptbahnhof | 19:30 Thessaloniki | Gothenburg Central | 184 EUR |
"""
_LINES = """cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getClientRects().length;
}"""


async def lines(cell: Locator) -> int:
    """On how many lines the words of a cell stand."""
    return int(await cell.evaluate(_LINES))


@pytest.mark.slow
async def test_a_wide_table_scrolls_and_a_formula_is_set(site: Site, open_window: OpenWindow) -> None:
    said = [{"role": "user", "content": "Which trains?"}, {"role": "assistant", "content": ANSWER}]
    async with aiohttp.ClientSession(site.url) as http:
        await http.post("/api/conversations", json={"id": "trains", "messages": said})
    window = await open_window(site)
    page = await window.go("/?conversation=trains")
    await expect(page.locator("math mfrac")).to_be_visible()
    await page.evaluate("document.fonts.ready")
    assert await page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
    await expect(page.get_by_text("costs $5 to $10.")).to_be_visible()
    for size in (WIDE, NARROW):
        await window.look("light", size)
        assert await lines(page.get_by_role("cell", name="Copenhagen")) == 1
        assert await lines(page.get_by_role("cell", name="184 EUR")) <= 2
        await window.is_within()
    table = page.get_by_role("region", name="Table")
    assert await table.evaluate("region => region.scrollWidth > region.clientWidth")
