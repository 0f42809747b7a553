"""What holds for each page, empty or filled, narrow or wide, light or dark: no barrier, a name, reachable by keys."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import aiohttp
import orjson
import pytest
import pytest_asyncio
from playwright.async_api import Page, TimeoutError, expect

from tests.browser.conftest import OpenWindow
from tests.browser.people_walk import look_at_people
from tests.browser.walk import Walk, refuse_all, settled
from tests.browser.ways import WAYS
from tests.browser_kit import NARROW, WIDE, Site, Window
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
_JSON = {"Content-Type": "application/json"}

EVERY_PAGE = (*PAGES, "/account", "/no-such-page")
LONG = ("שלום, مرحبا 👩‍👩‍👧‍👦 " + "w" * 480) * 20  # 10,000 characters in both directions
LONGEST_TITLE = 1000  # the server refuses a longer one
WORDY = (
    "/memories",
    "/memories?id={memory}",
    "/conversations?id=long",
    "/?conversation=long",
    "/runs",
    "/runs?id={run}",
)

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
    """The page, once it has its name, too."""
    page = await settled(window, target)
    await expect(page).to_have_title(f"{name} · Mnemoir")
    return page


async def as_talked(open_window: OpenWindow, site: Talked, **look: object) -> Window:
    """A window of the person who talked to it."""
    window = await open_window(site, **look)
    await window.page.add_init_script(f"localStorage.setItem('mnemoirUser', '{TALK['user']}')")
    return window


@every_target
async def test_a_filled_page_has_no_barrier(talked: Talked, open_window: OpenWindow, target: str) -> None:
    window = await as_talked(open_window, talked)
    page = await opened(window, target.format(**talked.names), (PAGES | OPENED)[target])
    await expect(page.get_by_role("main")).to_have_count(1)
    await expect(page.get_by_role("banner")).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await window.has_no_barrier(("light", NARROW))


@every_page
async def test_a_page_says_what_failed_and_can_be_used_again(
    talked: Talked, open_window: OpenWindow, path: str
) -> None:
    window = await as_talked(open_window, talked)
    await refuse_all(window.page)
    page = await opened(window, path, PAGES[path])
    await expect(page.get_by_role("alert").first).to_contain_text("It is broken.")
    await expect(page.get_by_role("button", name="Try again").first).to_be_visible()
    await page.unroute_all()
    with contextlib.suppress(TimeoutError):  # a page that asks again by itself may have been quicker
        await page.get_by_role("button", name="Try again").first.click(timeout=3000)
    await expect(page.get_by_role("alert").filter(has_text="It is broken.").first).not_to_be_visible()


@pytest.mark.slow
async def test_every_page_in_every_look_keeps_to_the_rules(
    talked: Talked, site: Site, open_window: OpenWindow, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = Walk(await as_talked(open_window, talked))
    window, page = walk.window, walk.page
    for target in (*EVERY_PAGE, *OPENED):
        await walk.tab_through(target.format(**talked.names))
        await walk.look_around(f"full {target}")
    for way in WAYS:
        await walk.look_into(way, **talked.names)
    for target in PAGES:
        await walk.look_while_loading(target)
    window.url = site.url
    for target in EVERY_PAGE:
        await settled(window, target)
        await walk.look_around(f"empty {target}")
    window.url = talked.url
    names = await say_long_words(talked.url)
    for target in WORDY:
        await settled(window, target.format(**names))
        await expect(page.locator("main").get_by_text("שלום").first).to_be_attached()
        await walk.look_around(f"long words {target}")
    await refuse_all(page)
    await window.look("light", WIDE)  # where the list that failed is beside the chat
    for target in PAGES:
        await settled(window, target)
        await expect(page.get_by_role("alert").first).to_contain_text("It is broken.")
        await walk.look_around(f"failed {target}")
    await page.unroute_all(behavior="ignoreErrors")
    await look_at_people(walk, site, lambda: capsys.readouterr().err)
    assert not walk.wrongs, orjson.dumps(walk.wrongs, option=orjson.OPT_INDENT_2).decode()


async def say_long_words(url: str) -> dict[str, str]:
    """Make a memory, a conversation and a run of long words; the names of memory and run."""
    user = TALK["user"]
    said = {"role": "user", "content": LONG}
    conversation = {
        "user_id": user,
        "id": "long",
        "title": LONG[:LONGEST_TITLE],
        "messages": [said, said | {"role": "assistant"}],
    }
    chat = {"model": "with-memory", "user": user, "conversation_id": "long run", "messages": [said]}
    async with aiohttp.ClientSession(url) as http:
        memory = await posted(http, "/api/memories", {"messages": [said], "user_id": user, "infer": False})
        await posted(http, "/api/conversations", conversation)
        async with http.post("/v1/chat/completions", data=BytesIO(orjson.dumps(chat)), headers=_JSON) as answer:
            answer.raise_for_status()
            run = answer.headers["X-Workflow-Run-Id"]
    return {"memory": memory["results"][0]["id"], "run": run}


async def posted(http: aiohttp.ClientSession, path: str, body: object) -> Any:
    async with http.post(path, data=BytesIO(orjson.dumps(body)), headers=_JSON) as answer:
        answer.raise_for_status()
        return await answer.json()
