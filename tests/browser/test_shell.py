"""The frame around all pages: navigation, titles, narrow windows, the key."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import PHONE, Scheme, Site

KEY = "a-key-of-sixteen-characters"


async def test_the_pages_are_one_click_away(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    for name in ("Memories", "Conversations", "Runs", "Workflows", "Connect", "Status", "Chat"):
        await page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        await expect(page).to_have_title(f"{name} · Mnemoir")


@pytest.mark.slow
async def test_narrow_windows_have_a_menu(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=PHONE)
    page = await window.go("/status")
    await window.is_within()
    await page.get_by_role("button", name="Pages").click()
    await page.get_by_role("dialog").get_by_role("link", name="Runs").click()
    await expect(page).to_have_title("Runs · Mnemoir")


@pytest.mark.slow
async def test_the_keyboard_reaches_the_page_at_once(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_unknown_address_says_so(site: Site, open_window: OpenWindow, scheme: Scheme) -> None:
    window = await open_window(site, scheme=scheme)
    page = await window.go("/")
    await page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
    await expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
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


@pytest.mark.slow
async def test_a_server_that_takes_its_time_leaves_no_blank_page(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    answered = asyncio.Event()

    async def wait(route: Route) -> None:
        await answered.wait()
        await route.continue_()

    await window.page.route("**/api/ui", wait)
    await window.page.route("**/assets/StatusPage*.js", wait)
    page = await window.go("/")
    await expect(page.get_by_role("status", name="Loading Mnemoir")).to_be_visible()
    answered.set()
    await expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_visible()
    answered.clear()
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Status").click()
    await expect(page.get_by_role("status", name="Loading the page")).to_be_visible()
    answered.set()
    await expect(page.get_by_role("heading", name="Status", exact=True)).to_be_visible()
    await expect(page.get_by_role("status", name="Loading the page")).to_have_count(0)


@pytest.mark.slow
async def test_a_server_that_is_gone_when_one_first_acts_is_told_of(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, alone=True)
    said = {"user_id": "user", "infer": False, "messages": [{"role": "user", "content": "Rows"}]}
    assert (await window.page.request.post(f"{site.url}/api/memories", data=said)).ok
    async with window.page.expect_response(lambda answer: "noticesShown" in answer.url):  # nobody did anything yet
        page = await window.go("/memories")
        await page.get_by_role("row", name="Rows").wait_for()
    await page.route("**", lambda route: route.abort())
    await page.get_by_role("checkbox", name="Select all loaded").check()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.get_by_role("alert").filter(has_text="Could not delete everything")).to_be_visible()
    await page.unroute_all(behavior="ignoreErrors")


@pytest.mark.slow
async def test_settings_give_the_focus_back_to_what_opened_them(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await page.get_by_role("button", name="Project default").press("Enter")
    await page.get_by_role("menuitem", name="Settings").press("Enter")
    await expect(page.get_by_role("dialog", name="Settings").get_by_role("button", name="Close")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Settings")).to_have_count(0)
    await expect(page.get_by_role("button", name="Project default")).to_be_focused()


@pytest.mark.slow
async def test_a_key_that_is_refused_in_the_middle_loses_neither_words_nor_place(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    guarded = await start_site(api_keys=[KEY])
    window = await open_window(guarded)
    await window.page.add_init_script(f"sessionStorage.setItem('mnemoirKey', '{KEY}')")
    page = await window.go("/")
    box = page.get_by_role("textbox", name="Message", exact=True)
    await expect(box).to_be_focused()
    await page.evaluate("sessionStorage.setItem('mnemoirKey', 'taken-back')")
    await box.fill("My words")
    await box.press("Enter")
    key = page.get_by_role("textbox", name="API key")
    await expect(page.get_by_role("list", name="Messages").get_by_role("button", name="Try again")).to_be_visible()
    await expect(key).to_be_focused()  # what appeared behind it has not taken the focus
    await key.fill(KEY)
    await key.press("Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(box).to_be_focused()
    await page.get_by_role("list", name="Messages").get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("article", name="Answer")).to_contain_text("Understood.")


@pytest.mark.slow
async def test_colours_that_the_reader_chose_hide_no_state(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site, forced_colors="active")).go("/status")
    track = page.locator(".mantine-Switch-track").first
    await expect(track).to_have_css("border-top-width", "1px")
    chosen = page.get_by_text("Last hour", exact=True)
    await expect(chosen.locator("xpath=ancestor-or-self::label")).to_have_css("text-decoration-line", "underline")
