"""Pages in a real browser: a window that notices what must never happen, and a look for barriers (axe)."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request, expect

from mnemoir.app.parts import Parts
from mnemoir.server.ui import STATIC
from tests.scripted_llm import ScriptedLLM

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
ROOT = Path(__file__).parents[1]
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = (1440, 900), (390, 844)
Scheme = Literal["light", "dark"]

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


async def barriers(page: Page) -> Sequence[dict[str, Any]]:
    """What axe finds on the page as it is now: rule, help, and where; serious and critical ones."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text("utf-8"))
    await page.evaluate(_SETTLED)
    found = await page.evaluate("axe.run({resultTypes: ['violations']})")
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


_MOST_LOOKS = 60
_OVERHANG = """new Promise(look => requestAnimationFrame(() => requestAnimationFrame(
    () => look(document.documentElement.scrollWidth - window.innerWidth))))"""
# what fades in is not judged half-way
_SETTLED = """Promise.allSettled(document.getAnimations()
    .filter(animation => animation.effect?.getTiming().iterations !== Infinity)
    .map(animation => animation.finished))"""


@contextlib.asynccontextmanager
async def opened(
    browser: Browser, url: str, *, scheme: Scheme = "light", size: tuple[int, int] = WIDE, **context: Any
) -> AsyncIterator[Window]:
    """A window on the site, in a profile of its own; at its end nothing wrong may have happened."""
    assert (STATIC / "index.html").exists(), "the web UI is not built: run `make ui`"
    viewport = {"width": size[0], "height": size[1]}
    profile = await browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce", **context)
    try:
        window = Window(page=await profile.new_page(), url=url)
        window.watch()
        yield window
        assert not window.wrongs, window.wrongs
    finally:
        await profile.close()
