"""What holds for each page, empty or filled, narrow or wide, light or dark: no barrier, a name, reachable by keys."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, TimeoutError, expect

from tests.browser.conftest import OpenWindow, each_look
from tests.browser.reachable import tab_through
from tests.browser_kit import NARROW, PHONE, WIDE, Site, Window
from tests.stages import staged
from tools.demo_site import TALK, demo_site

PAGES = {
    "/": "Chat",
    "/memories": "Memories",
    "/conversations": "Conversations",
    "/runs": "Runs",
    "/workflows": "Workflows",
    "/connect": "Connect",
    "/keys": "People and keys",
    "/status": "Status",
    "/past": "Bring your past",
}
# one of each thing that a page shows when its address names it
OPENED = {
    "/?conversation=dinner": "Chat",
    "/conversations?id=dinner": "Conversations",
    "/memories?id={memory}": "Memories",
    "/runs?id={run}": "Runs",
    "/runs?compare={run},{other_run}": "Runs",
}
FAILING = '{"detail": "It is broken.", "error": "It is broken.", "code": "internal_error", "request_id": "req1"}'

every_page = pytest.mark.parametrize("path", staged(PAGES, quick=["/memories"]))
every_target = pytest.mark.parametrize("target", staged([*PAGES, *OPENED], quick=[*PAGES, "/?conversation=dinner"]))


@dataclass(frozen=True, kw_only=True)
class Talked:
    """A server that was talked to, and what may be opened of it."""

    url: str
    names: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talked() -> AsyncIterator[Talked]:
    async with demo_site() as url, aiohttp.ClientSession(url) as http:
        async with http.get(f"/api/memories/{TALK['user']}") as answer:
            memories = (await answer.json())["results"]
        async with http.get("/api/runs") as answer:
            runs = (await answer.json())["results"]
        names = {"memory": memories[0]["id"], "run": runs[0]["id"], "other_run": runs[1]["id"]}
        yield Talked(url=url, names=names)


async def opened(window: Window, target: str, name: str) -> Page:
    """The page, once it has its name and nothing of it is being loaded."""
    page = await window.go(target)
    await expect(page).to_have_title(f"{name} · Mnemoir")
    await expect(page.locator("main")).not_to_be_empty()
    await expect(page.locator("main .mantine-Loader-root")).to_have_count(0)
    return page


async def as_talked(open_window: OpenWindow, site: Talked, **look: object) -> Window:
    """A window of the person who talked to it."""
    window = await open_window(site, **look)
    await window.page.add_init_script(f"localStorage.setItem('mnemoirUser', '{TALK['user']}')")
    return window


@each_look
@every_target
async def test_a_filled_page_has_no_barrier(talked: Talked, open_window: OpenWindow, target: str) -> None:
    window = await as_talked(open_window, talked)
    page = await opened(window, target.format(**talked.names), (PAGES | OPENED)[target])
    await expect(page.get_by_role("main")).to_have_count(1)
    await expect(page.get_by_role("banner")).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await window.has_no_barrier(("light", NARROW), ("dark", PHONE), ("light", WIDE), ("dark", WIDE))


@pytest.mark.slow
@every_page
async def test_an_empty_page_has_no_barrier(site: Site, open_window: OpenWindow, path: str) -> None:
    window = await open_window(site)
    await opened(window, path, PAGES[path])
    await window.has_no_barrier(("dark", PHONE), ("light", WIDE))


@pytest.mark.parametrize(
    ("target", "size"),
    staged(
        [*((target, WIDE) for target in (*PAGES, *OPENED)), *((path, PHONE) for path in PAGES)],
        quick=0,
    ),
)
async def test_the_tab_key_visits_every_control_and_shows_where_it_is(
    talked: Talked, open_window: OpenWindow, target: str, size: tuple[int, int]
) -> None:
    window = await as_talked(open_window, talked, size=size)
    page = await opened(window, target.format(**talked.names), (PAGES | OPENED)[target])
    walk = await tab_through(page)
    assert len(walk.visited) > 3
    assert (walk.missed, walk.unseen) == ([], [])


@every_page
async def test_a_page_says_what_failed_and_can_be_used_again(
    talked: Talked, open_window: OpenWindow, path: str
) -> None:
    async def refuse(route: Route) -> None:
        if "/api/ui" in route.request.url:
            await route.continue_()
        else:
            await route.fulfill(status=500, content_type="application/json", body=FAILING)

    window = await as_talked(open_window, talked)
    for pattern in ("**/api/**", "**/health", "**/ready", "**/v1/**"):
        await window.page.route(pattern, refuse)
    page = await opened(window, path, PAGES[path])
    await expect(page.get_by_role("alert").first).to_contain_text("It is broken.")
    await window.is_within()
    await window.axe()
    await expect(page.get_by_role("button", name="Try again").first).to_be_visible()
    await page.unroute_all()
    with contextlib.suppress(TimeoutError):  # a page that asks again by itself may have been quicker
        await page.get_by_role("button", name="Try again").first.click(timeout=3000)
    await expect(page.get_by_role("alert").filter(has_text="It is broken.").first).not_to_be_visible()
