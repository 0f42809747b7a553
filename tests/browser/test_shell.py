"""The frame around all pages: navigation, titles, narrow windows, the key."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import PHONE, Scheme, Site

KEY = "a-key-of-sixteen-characters"


async def test_the_pages_are_one_click_away(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    for name in ("Memories", "Conversations", "Runs", "Workflows", "Connect", "Status", "Chat"):
        await page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        await expect(page).to_have_title(f"{name} · Mnemoir")


async def test_narrow_windows_have_a_menu(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=PHONE)
    page = await window.go("/status")
    await window.is_within()
    await page.get_by_role("button", name="Pages").click()
    await page.get_by_role("dialog").get_by_role("link", name="Runs").click()
    await expect(page).to_have_title("Runs · Mnemoir")


async def test_the_keyboard_reaches_the_page_at_once(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Skip to the page")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_unknown_address_says_so(site: Site, open_window: OpenWindow, scheme: Scheme) -> None:
    window = await open_window(site, scheme=scheme)
    page = await window.go("/")
    await page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
    await expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    await window.axe()


async def test_a_server_with_a_key_asks_for_it(start_site: StartSite, open_window: OpenWindow) -> None:
    guarded = await start_site(api_keys=[KEY])
    window = await open_window(guarded)
    page = await window.go("/status")
    await page.get_by_label("API key").last.fill("a-wrong-key-of-any-length")
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_text("A valid API key is needed")).to_be_visible()
    await window.axe()
    await page.get_by_label("API key").last.fill(KEY)
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await expect(page.get_by_label("API key")).to_have_count(0)
