"""Ctrl+K in a real browser: it must reach the page before the browser takes it, over a page with much of its own."""

import aiohttp
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, each_look
from tests.browser_kit import Site


async def _import(site: Site, *texts: str) -> None:
    async with aiohttp.ClientSession(site.url) as http:
        for text in texts:
            await http.post("/api/import", json={"memory": text, "user_id": "user", "created_at": "2026-03-01"})


@each_look
async def test_ctrl_k_leads_to_a_memory_from_any_page(site: Site, open_window: OpenWindow) -> None:
    await _import(site, "Plays the cello")
    window = await open_window(site)
    page = await window.go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("group", name="Actions").get_by_role("option", name="New chat")).to_be_visible()
    await window.has_no_barrier()
    await page.get_by_role("combobox", name="Search actions").fill("cello")
    await expect(page.get_by_role("option", name="Plays the cello")).to_be_visible()
    await window.has_no_barrier()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Plays the cello").first).to_be_visible()


async def test_a_memory_is_added_and_opened_by_keys_alone(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox")).to_be_focused()
    await page.keyboard.type("add a memory")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Memory", exact=True)).to_be_focused()
    await page.keyboard.type("Keeps bees")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.type("gm")
    bees = page.get_by_role("row", name="Keeps bees")
    await expect(bees).to_be_visible()
    await page.keyboard.press("j")
    await expect(page.get_by_role("row").nth(1)).to_be_focused()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search memories")).to_be_focused()
    await page.keyboard.press("Control+Shift+O")
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox")).to_be_focused()
    await page.keyboard.type("keyboard shortcuts")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await window.has_no_barrier()
