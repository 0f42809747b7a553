"""What a browser needs to install the pages as an app, and what they show while the server is gone."""

import aiohttp
from playwright.async_api import Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser_kit import Site


async def test_a_browser_finds_a_manifest_and_its_icons(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/memories")
    session = await page.context.new_cdp_session(page)
    found = await session.send("Page.getAppManifest")
    assert found["url"] == f"{site.url}/manifest.webmanifest"
    assert found["errors"] == []
    icons = {icon["src"]: icon["sizes"] for icon in await page.evaluate("m => JSON.parse(m).icons", found["data"])}
    icons["./touch-icon.png"] = "180x180"
    async with aiohttp.ClientSession(site.url) as http:
        for address, size in icons.items():
            answer = await http.get(address.removeprefix("."))
            assert answer.status == 200
            body = await answer.read()
            if address.endswith(".png"):
                width, height = (int.from_bytes(body[at : at + 4]) for at in (16, 20))
                assert f"{width}x{height}" == size


async def test_the_browser_frames_the_page_in_the_colour_of_the_chosen_scheme(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go("/memories")
    colours = "[...document.querySelectorAll('meta[name=theme-color]')].map(one => one.content)"
    await expect(page.get_by_role("heading", name="Memories", exact=True)).to_be_visible()
    shell = "getComputedStyle(document.documentElement).getPropertyValue('--surface-shell')"
    seen = set()
    for word in ("dark", "light"):
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("combobox")).to_be_focused()
        await page.keyboard.type(f"{word} appearance")
        await page.keyboard.press("Enter")
        await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", word)
        colour = await page.evaluate(shell)
        await page.wait_for_function(f"colour => {colours}.every(one => one === colour)", arg=colour)
        seen.add(colour)
    assert len(seen) == 2


async def test_a_bar_stands_there_while_the_server_is_gone(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/status")
    await expect(page.get_by_role("heading", name="Status")).to_be_visible()

    async def cut(route: Route) -> None:
        await route.abort("connectionrefused")

    await page.route("**/api/**", cut)
    await page.route("**/health", cut)
    bar = page.get_by_role("alert").filter(has_text="The server does not answer.")
    await expect(bar).to_be_visible()
    await window.has_no_barrier()
    await page.unroute("**/api/**")
    await page.unroute("**/health")
    await expect(bar).to_have_count(0)
