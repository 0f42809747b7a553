"""One walk over pages in all their looks, which notes whatever breaks a rule, by the name of what was looked at."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any

from playwright.async_api import Error, Page, Route, expect

from tests.browser.looks import measured
from tests.browser.reachable import tab_through
from tests.browser.ways import Way
from tests.browser_kit import PHONE, WIDE, Look, Window, barriers

TABLET = (820, 1180)
# both schemes and all widths; what changes between two neighbours is one of the two
LOOKS: tuple[Look, ...] = (
    *(("light", PHONE), ("dark", PHONE), ("dark", TABLET)),
    *(("light", TABLET), ("light", WIDE), ("dark", WIDE)),
)
FAILING = '{"detail": "It is broken.", "error": "It is broken.", "code": "internal_error", "request_id": "req1"}'
_OF_DATA = ("**/api/**", "**/health", "**/ready", "**/v1/**")


async def settled(window: Window, target: str) -> Page:
    """The page, once nothing of it is being loaded."""
    page = await window.go(target)
    await expect(page.locator("main")).not_to_be_empty()
    await expect(page.locator("main .mantine-Loader-root")).to_have_count(0)
    return page


async def refuse_all(page: Page) -> None:
    """Each request of the page to the server's routes fails from now on."""

    async def refuse(route: Route) -> None:
        if "/api/ui" in route.request.url:
            await route.continue_()
        else:
            await route.fulfill(status=500, content_type="application/json", body=FAILING)

    for pattern in _OF_DATA:
        await page.route(pattern, refuse)


@contextlib.asynccontextmanager
async def answers_held_back(page: Page) -> AsyncIterator[None]:
    """No request of the page to the server's routes is answered within; then all are."""
    is_over = asyncio.Event()

    async def wait(route: Route) -> None:
        if "/api/ui" not in route.request.url:
            await is_over.wait()
        with contextlib.suppress(Error):  # the page may be gone
            await route.continue_()

    for pattern in _OF_DATA:
        await page.route(pattern, wait)
    try:
        yield
    finally:
        is_over.set()
        for pattern in _OF_DATA:
            await page.unroute(pattern, wait)


class Walk:
    """What one window saw. `wrongs` has what is not as it should be, by what was looked at."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.page = window.page
        self.wrongs: dict[str, dict[str, Any]] = defaultdict(dict)

    async def look_around(self, name: str, looks: Sequence[Look] = LOOKS) -> None:
        """Note what is wrong with the page as it stands, in each look."""
        for scheme, size in looks:
            await self.window.look(scheme, size)
            found: dict[str, Any] = {}
            try:
                await self.window.is_within()
            except AssertionError as exc:
                found["overflow"] = str(exc)
            found |= (await measured(self.page)).wrongs()
            if barred := await barriers(self.page):
                found["axe"] = barred
            if found:
                self.wrongs[f"{name}, {scheme}, {size[0]} px"] = found

    async def tab_through(self, target: str) -> None:
        """Open the page; note what the Tab key leaves out, as in a trap, and where one does not see where it is."""
        for size in (PHONE, WIDE):
            await self.page.set_viewport_size({"width": size[0], "height": size[1]})
            await settled(self.window, target)
            walk = await tab_through(self.page)
            found = {"not reached": walk.missed, "focus not seen": walk.unseen}
            if len(walk.visited) <= 3:
                found["all that was reached"] = walk.visited
            if any(found.values()):
                self.wrongs[f"full {target}, by keys, {size[0]} px"] = found

    async def look_while_loading(self, target: str) -> None:
        """Look at the page before the server has answered anything of it."""
        async with answers_held_back(self.page):
            await self.window.go(target)
            await expect(self.page.locator("main").get_by_role("status").first).to_be_attached()
            await self.look_around(f"loading {target}")

    async def look_into(self, way: Way, **names: str) -> None:
        """Go the way on a wide page, and look at what opens."""
        await settled(self.window, way.target.format(**names))
        await self.window.look("light", WIDE)
        await way.go(self.page)
        await self.look_around(f"opened {way.name}")
