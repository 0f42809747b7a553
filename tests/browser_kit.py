"""Pages in a real browser: a window that notices what must never happen, and a look for barriers (axe)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    Request,
    expect,
)

from mnemoir.app.parts import Parts
from mnemoir.server.door.ui import STATIC
from tests.chromium import chromium
from tests.scripted_llm import ScriptedLLM

CHROMIUM = chromium()
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    # pages of the browser's own below its address bar, two in each window, though there is no screen
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
)
ROOT = Path(__file__).parents[1]
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE, NARROW = (1440, 900), (390, 844), (360, 740)
Scheme = Literal["light", "dark"]
Look = tuple[Scheme, tuple[int, int]]
T = TypeVar("T")
LOOKS: tuple[Look, ...] = (("light", WIDE), ("dark", WIDE), ("dark", NARROW), ("light", NARROW))

# browsers tell these of any answer with an error status; what the page makes of it is tested by itself
_TOLD_ANYWAY = ("Failed to load resource",)


@dataclass(frozen=True, kw_only=True)
class Site:
    """A running server with its built pages. `llm` is its model, scripted."""

    url: str
    parts: Parts
    llm: ScriptedLLM


@dataclass(kw_only=True)
class Window:
    """One page, and what it did that no page may do: errors, dialogs, requests to other hosts."""

    page: Page
    url: str
    most_looks: int | None = None  # of those that a test names; None is all
    wrongs: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Notice from now on."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.wrongs.append(f"error: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("dialog", self._on_dialog)

    async def go(self, target: str) -> Page:
        """Open an address of the site, such as "/runs?id=x"."""
        await self.page.goto(f"{self.url}{target}")
        return self.page

    async def axe(self, *allowed: str) -> None:
        """No barrier that axe calls serious or critical, but for the rules in `allowed`."""
        found = await barriers(self.page)
        assert not [barrier for barrier in found if barrier["id"] not in allowed], found

    async def has_no_barrier(self, *looks: Look) -> None:
        """In none of the looks (LOOKS without one), between which the page is changed as it stands.

        Of the looks only the first `most_looks` count.
        """
        async for _ in self.looked_at(*looks):
            await self.is_within()
            await self.axe()

    async def looked_at(self, *looks: Look) -> AsyncIterator[Look]:
        """Each of these looks (LOOKS without one) once the page has it, up to `most_looks`."""
        for scheme, size in (looks or LOOKS)[: self.most_looks]:
            await self.look(scheme, size)
            yield scheme, size

    async def look(self, scheme: Scheme, size: tuple[int, int]) -> None:
        """Change the colours and the window, and wait until the page followed."""
        await self.page.set_viewport_size({"width": size[0], "height": size[1]})
        await self.page.emulate_media(color_scheme=scheme)
        await expect(self.page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme)

    async def is_within(self) -> None:
        """Nothing makes the page wider than its window, once it has followed a change of that."""
        for _ in range(_MOST_LOOKS):
            wider = await self.page.evaluate(_OVERHANG)
            if wider <= 0:
                return
        raise AssertionError(f"the page is {wider} pixels wider than its window")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_TOLD_ANYWAY):
            self.wrongs.append(f"{message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "blob:", "data:")):
            self.wrongs.append(f"request: {request.url}")

    async def _on_dialog(self, dialog: Dialog) -> None:
        self.wrongs.append(f"dialog: {dialog.message}")
        await dialog.dismiss()


async def turn(box: Locator, *, on: bool) -> None:
    """Set a checkbox or switch, and wait: one whose state is in the address follows a moment later."""
    await expect(box).to_be_checked(checked=not on)
    await box.click()
    await expect(box).to_be_checked(checked=on)


async def until(told: Callable[[], Awaitable[T]], fits: Callable[[T], bool] = bool) -> T:
    """What is told once that fits, or at last: something that follows what the page shows a moment later."""
    for _ in range(_MOST_QUESTIONS):
        answer = await told()
        if fits(answer):
            return answer
        await asyncio.sleep(_PAUSE_S)
    return await told()


async def in_menu(page: Page) -> None:
    """The menu that was opened has the focus, and so hears the next key."""
    assert await until(lambda: page.evaluate("document.activeElement.closest('[role=menu]') !== null"))


async def at_rest(scroller: Locator) -> float:
    """Where something is scrolled to, once it is not on its way any more."""
    top: float = await scroller.evaluate(_AT_REST)
    return top


async def barriers(page: Page) -> Sequence[dict[str, Any]]:
    """What axe finds on the page as it is now: rule, help, and where; serious and critical ones."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_axe())
    await page.evaluate(_SETTLED)
    found = await page.evaluate(_RUN)
    return [
        {
            "id": each["id"],
            "help": each["help"],
            "at": [
                f"{node['target']} {node['html'][:200]} {node['failureSummary'][:300]}" for node in each["nodes"][:5]
            ],
        }
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@cache
def _axe() -> str:
    return AXE.read_text("utf-8")


_MOST_LOOKS = 60
_MOST_QUESTIONS, _PAUSE_S = 2000, 0.03
_AT_REST = """async element => {
  for (let top = NaN, still = 0; still < 6; still = element.scrollTop === top ? still + 1 : 0) {
    top = element.scrollTop;
    await new Promise(next => requestAnimationFrame(next));
  }
  return element.scrollTop;
}"""
# only a rule about sounds would look at what `preload` fetches: all style sheets, each time
_RUN = "axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => ({ violations }))"
_OVERHANG = """new Promise(look => requestAnimationFrame(() => requestAnimationFrame(
    () => look(document.documentElement.scrollWidth - window.innerWidth))))"""
# what fades in is not judged half-way
_SETTLED = """Promise.allSettled(document.getAnimations()
    .filter(animation => animation.effect?.getTiming().iterations !== Infinity)
    .map(animation => animation.finished))"""


class Profile:
    """A profile of the browser that windows have one after another.

    What was fetched and compiled stays, which is most of what a first load costs. What pages stored does not, nor any
    page that has a program.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._context: BrowserContext | None = None
        self._keeper: Page | None = None  # without a program; with the last page the process would end
        self._is_lent = False

    @contextlib.asynccontextmanager
    async def lent(self, url: str, *, alone: bool, **options: Any) -> AsyncIterator[BrowserContext]:
        """A context for one window on `url`: another one, never used, for who asks for it or comes second."""
        if alone or options or self._is_lent:
            async with await self._browser.new_context(**_OF_ALL, **options) as context:
                yield context
            return
        self._context = self._context or await self._browser.new_context(**_OF_ALL)
        self._is_lent = True
        try:
            yield self._context
        finally:
            await self._empty(self._context, url)
            self._is_lent = False

    async def _empty(self, context: BrowserContext, url: str) -> None:
        """Close the pages of the window, and clear what they stored from the page that stays."""
        try:
            keeper = self._keeper = self._keeper or await context.new_page()
            for page in context.pages:
                if page is not keeper:
                    await page.unroute_all(behavior="ignoreErrors")
                    await page.close()
            if keeper.url != f"{url}/icon.svg":
                await keeper.goto(f"{url}/icon.svg")
            await keeper.evaluate("localStorage.clear()")
        except Error:  # the server is gone, or a page: begin anew
            self._context = self._keeper = None
            await context.close()


@contextlib.asynccontextmanager
async def opened(
    profile: Profile,
    url: str,
    *,
    scheme: Scheme = "light",
    size: tuple[int, int] = WIDE,
    alone: bool = False,
    most_looks: int | None = None,
    **options: Any,
) -> AsyncIterator[Window]:
    """A window on the site; at its end nothing wrong may have happened. `most_looks` are those of Window.

    `alone`, or with `options` of a context, it is in a profile that nobody used before.
    """
    assert (STATIC / "index.html").exists(), "the web UI is not built: run `make ui`"
    async with profile.lent(url, alone=alone, **options) as context:
        window = Window(page=await context.new_page(), url=url, most_looks=most_looks)
        await window.page.emulate_media(color_scheme=scheme)
        await window.page.set_viewport_size({"width": size[0], "height": size[1]})
        window.watch()
        yield window
        assert not window.wrongs, window.wrongs


_OF_ALL: dict[str, Any] = {"reduced_motion": "reduce", "viewport": {"width": WIDE[0], "height": WIDE[1]}}
