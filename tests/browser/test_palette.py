"""Ctrl+K in a real browser: it must reach the page before the browser takes it, over a page with much of its own."""

import aiohttp
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, each_look
from tests.browser_kit import Site


@each_look
async def test_ctrl_k_leads_to_a_memory_from_any_page(site: Site, open_window: OpenWindow) -> None:
    fact = {"memory": "Plays the cello", "user_id": "user", "created_at": "2026-03-01"}
    async with aiohttp.ClientSession(site.url) as http:
        await http.post("/api/import", json=fact)
    window = await open_window(site)
    page = await window.go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search pages").fill("cello")
    await expect(page.get_by_role("option", name="Plays the cello")).to_be_visible()
    await window.has_no_barrier()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Plays the cello").first).to_be_visible()
