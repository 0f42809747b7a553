"""The page of memories with 10,000 of them: from a request's start until its rows are painted.

The baseline is the same request by a plain client over an open connection, asked between the page's own: what the
page adds to it is to read the answer, to make the rows, and to wait for a frame.
"""

import asyncio
import json
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from playwright.async_api import Page, async_playwright

from bench import figures
from bench.memories import texts
from bench.report import median, ms, percentile, table
from tests.browser_kit import ARGUMENTS, CHROMIUM
from tests.serving import ServerProcess

SIZE = 10_000
VISITS = 25
WALKS = 4
USER = "user"  # of a browser that chose nothing
SEARCH = "/api/memories/search"
# each request of the list and of the search with its start; what is awaited is painted in the frame that finds it
_WATCH = """
const fetched = window.fetch;
window.asked = [];
window.fetch = async (request, init) => {
  const { pathname, search } = new URL(request.url ?? request, document.baseURI);
  if (/[/]api[/]memories([/]search)?$/.test(pathname) && !/limit=1(&|$)/.test(search)) {
    const body = request.method === 'POST' ? await request.clone().text() : null;
    window.asked.push({ path: pathname + search, body, from: performance.now() });
  }
  return fetched(request, init);
};
window.painted = isThere => new Promise(resolve => {
  const look = () => {
    if (!isThere()) return requestAnimationFrame(look);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve({ ...window.asked.at(-1), until: performance.now(), count: window.asked.length });
    port2.postMessage(null);
  };
  requestAnimationFrame(look);
});
"""
_ROW = "number => painted(() => document.querySelector(`[role=row][aria-rowindex='${number}']`) !== null)"
_MARKED = """word => painted(() => document.querySelector('[data-waiting]') === null
  && document.querySelector('[role=row] mark')?.textContent.toLowerCase() === word)"""
_TO_END = "() => { const grid = document.querySelector('[role=grid]'); grid.scrollTop = grid.scrollHeight; }"

_NEWEST = datetime(2026, 1, 1, tzinfo=UTC)

Took = dict[str, list[tuple[float, float]]]


def words() -> list[str]:
    """Words that are in many of the memories, each once: what was found is shown again without a request."""
    return list(
        dict.fromkeys(
            word for text in texts(200) for word in text.lower().split(",")[0].split()[0:4:3] if word.isalpha()
        )
    )


def store_facts(url: str) -> None:
    """Store facts of two years, two hours apart."""
    lines = [
        {"memory": text, "user_id": USER, "created_at": (_NEWEST - timedelta(hours=2 * number)).isoformat()}
        for number, text in enumerate(texts(SIZE))
    ]
    requests.post(f"{url}/api/import", data="\n".join(map(json.dumps, lines)), timeout=600).raise_for_status()


class Plain:
    """The same requests without a page."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()

    def took(self, asked: dict[str, Any]) -> float:
        """Seconds from the request to its whole answer."""
        headers = {"Content-Type": "application/json"}
        method = "GET" if asked["body"] is None else "POST"
        started = time.perf_counter()
        answer = self._session.request(method, self._url + asked["path"], data=asked["body"], headers=headers)
        took = time.perf_counter() - started
        answer.raise_for_status()
        return took


class Measured:
    """What was measured on one page, by what was done."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url
        self._plain = Plain(url)
        self.took: Took = defaultdict(list)

    async def visits(self) -> None:
        """The page is opened, with its scripts at hand."""
        for visit in range(VISITS + 2):
            await self._page.goto(f"{self._url}/memories")
            await self._note("first page", await self._page.evaluate(_ROW, 2), is_kept=visit > 1)

    async def walks(self) -> None:
        """All pages one after another."""
        for _ in range(WALKS):
            await self._page.goto(f"{self._url}/memories")
            loaded = await self._page.evaluate(_ROW, 2)
            size = int(parse_qs(urlsplit(loaded["path"]).query)["limit"][0])
            for at in range(size, SIZE, size):
                await self._page.evaluate(_TO_END)
                painted = await self._page.evaluate(_ROW, at + 2)
                third = ("upper", "middle", "lower")[at * 3 // SIZE]
                await self._note(f"next page, {third} third", painted)

    async def searches(self, by: str) -> None:
        """A word is typed."""
        await self._page.goto(f"{self._url}/memories?by={by}")
        box = self._page.get_by_role("searchbox", name="Search memories")
        for count, word in enumerate(words()):
            await box.fill(word)
            painted = await self._page.evaluate(_MARKED, word)
            if painted["body"]:  # whose vector is at hand now: asked again in capitals it is made again
                painted["body"] = painted["body"].replace(word, word.upper())
            await self._note(f"search by {by}", painted, is_kept=count > 0)

    async def _note(self, name: str, painted: dict[str, Any], *, is_kept: bool = True) -> None:
        plain = await asyncio.to_thread(self._plain.took, painted)
        if is_kept:
            self.took[name].append(((painted["until"] - painted["from"]) / 1e3, plain))


async def measured(url: str) -> Took:
    """Seconds until painted, and of the route alone, by what was done."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.add_init_script(_WATCH)
        pages = Measured(page, url)
        await pages.visits()
        await pages.walks()
        await pages.searches("words")
        await pages.searches("meaning")
        await browser.close()
    return pages.took


def run() -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        store_facts(server.url)
        took = asyncio.run(measured(server.url))
    rows = []
    for name, both in took.items():
        page, route = [[each[side] for each in both] for side in (0, 1)]
        ratio = figures.keep(f"memories page: {name}", median(page) / median(route))
        told = [ms(measure) for of in (page, route) for measure in (median(of), percentile(of, 0.95))]
        rows.append([name, *told, f"{ratio:.1f}", f"{percentile(page, 0.95) / percentile(route, 0.95):.1f}"])
    header = ["", "painted", "p95", "route alone", "p95", "ratio", "of p95"]
    table(f"page of {SIZE:,} memories, from the request to painted rows", header, rows)
