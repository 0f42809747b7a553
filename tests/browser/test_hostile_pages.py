"""Hostile texts wherever a text can be stored: each page shows them, and none is obeyed.

The kit fails a test for every dialog, every request to another host and every complaint of the browser, such as one
about the Content-Security-Policy.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.hostile_texts import FILE, MARKED, NAME, SAID, TITLE
from tests.browser_kit import Window
from tests.scripted_llm import Asked, failure
from tests.server.served_tree import answering, before, served
from tests.stages import staged
from tests.workflows.nodes.pictures import image, png

NARROW = (360, 740)
USER = "user"  # whose pages are open
PICTURE = image(png(filler=b"coffee")).url.partition(",")[2]
SHORT = {name: text for name, text in SAID.items() if name != "harm-long"}
# each page with what it must show of it
TARGETS = {
    "/": "",
    "/?conversation={conversation}": "harm-end",
    "/?conversation=seen": "harm-bidi",
    "/memories": "harm-",  # further rows come as one scrolls
    "/memories?id={memory}": "harm-",
    "/memories?q=harm": "harm-",
    "/conversations": "harm-title",
    "/conversations?id={conversation}": "harm-",
    "/conversations?id=seen": "harm-bidi",
    "/conversations?q=harm-bidi": "",
    "/runs": "",
    "/runs?id={run}": "harm-bidi",
    "/runs?id={failed}": "harm-error",
    "/runs?compare={run},{failed}": "",
    "/workflows": "",
    "/connect": "",
    "/keys": "",
    "/status": "",
    "/runs?id={nonsense}": "",
    "/conversations?id={nonsense}": "",
    "/memories?id={nonsense}": "",
    "/?conversation={nonsense}": "",
}
QUICK = (
    *("/?conversation={conversation}", "/memories", "/conversations?id=seen", "/runs?id={run}", "/workflows"),
    *("/connect", "/status"),
)
# a file with a name of its own comes in by an import
IMPORTED = (
    {"format": "mnemoir-conversation", "version": 1, "session": {"id": "files", "title": TITLE}},
    {
        "id": 1,
        "parent_id": None,
        "role": "user",
        "content": "harm-file",
        "files": [{"type": "image", "filename": FILE, "mime_type": "image/png", "base64_data": PICTURE}],
        "head": True,
    },
)


@dataclass(frozen=True, kw_only=True)
class Harmed:
    """A server full of hostile texts, and what may be opened of it."""

    url: str
    names: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def harmed(start_site: StartSite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Harmed]:
    folder = tmp_path_factory.mktemp("tree")
    site = await start_site(tree_in(folder, "http://127.0.0.1:9"))
    tree_in(folder, site.llm.url)  # read anew when it changed
    site.llm.rule(lambda asked: "harm-error" in asked.prompt, failure(500, f"harm-error {NAME}\u202e"))
    site.llm.rule(lambda asked: True, reply)
    async with aiohttp.ClientSession(site.url, headers={"User-Agent": NAME}) as http:
        await remember(http)
        runs = await talk(http)
        yield Harmed(url=site.url, names=await names_in(http, runs))


def tree_in(folder: Path, url: str) -> dict[str, object]:
    """Settings of a server for Ann, whose workflow and its nodes are called hostile things."""
    nodes = [before() | {"title": TITLE}, answering() | {"title": f"Answer {NAME}"}]
    named = {
        f"Workflows/Ann/{quoted}.json": [answering()] for quoted in ("<img src=x onerror=alert(17)>", "a\u202eb")
    }
    return served(folder, url, *nodes, files=named)


def reply(asked: Asked) -> str:
    """What was said last, said back."""
    return next((text for name, text in SHORT.items() if name in asked.prompt), "Hello.")


async def remember(http: aiohttp.ClientSession) -> None:
    for user in (USER, NAME):
        for text in SAID.values():
            said = {"messages": [{"role": "user", "content": text, "name": NAME}], "user_id": user, "infer": False}
            await posted(http, "/api/memories", said | {"metadata": {NAME: TITLE}, "run_id": NAME})


async def talk(http: aiohttp.ClientSession) -> dict[str, str]:
    """Conversations, and chats; the runs of these by the words that each text begins with."""
    picture = {"type": "image_url", "image_url": {"url": image(png(filler=b"tea")).url}}
    messages: list[dict[str, Any]] = [
        {"role": role, "content": text} for text in SAID.values() for role in ("user", "assistant")
    ]
    messages.append({"role": "user", "content": [{"type": "text", "text": "harm-end"}, picture]})
    body = {"user_id": USER, "id": NAME, "title": TITLE, "tags": [NAME, "\u202e"], "messages": messages}
    await posted(http, "/api/conversations", body)
    seen = [{"role": "user", "content": SAID["harm-hidden"]}, {"role": "assistant", "content": SAID["harm-bidi"]}]
    await posted(http, "/api/conversations", body | {"id": "seen", "messages": seen})
    await posted(http, f"/api/conversations/import?user_id={USER}", b"\n".join(map(orjson.dumps, IMPORTED)))
    runs = {}
    for name, text in (SHORT | {"harm-error": "harm-error"}).items():
        chat = {"model": "mnemoir", "user": USER, "memoryEnabled": True, "conversation_id": "chat " + NAME}
        asked = chat | {"messages": [{"role": "user", "content": text}]}
        told = await posted(http, "/v1/chat/completions", asked, 500, 502)
        runs[name] = told["X-Workflow-Run-Id"]
    return runs


async def posted(http: aiohttp.ClientSession, target: str, body: object, *allowed: int) -> Mapping[str, str]:
    # as a stream: of large bodies in one piece aiohttp would warn
    sent = BytesIO(body if isinstance(body, bytes) else orjson.dumps(body))
    async with http.post(target, data=sent, headers={"Content-Type": "application/json"}) as answer:
        assert answer.status in (200, 201, *allowed), await answer.text()
        return answer.headers


async def names_in(http: aiohttp.ClientSession, runs: Mapping[str, str]) -> dict[str, str]:
    async with http.get(f"/api/memories/{USER}?limit=1000") as answer:
        memories = (await answer.json())["results"]
    return {
        "memory": next(memory["id"] for memory in memories if memory["memory"].startswith("harm-bidi")),
        "run": runs["harm-bidi"],
        "failed": runs["harm-error"],
        "conversation": quote(NAME, safe=""),
        "nonsense": quote("no <such> " + NAME + "\u202e", safe=""),
    }


# what a page may hold of such texts: words. Marks of CodeMirror and inputs hold what is typed there.
_FOUND = r"""() => {
  const wrong = [];
  if (window.harmed) wrong.push(`ran: ${window.harmed}`);
  for (const each of document.querySelectorAll('main script, main iframe, main object, main embed, main form[action],'
    + ' main base, main meta, main link, main style:not([data-mantine-styles]), [onerror], [onload], [onfocus],'
    + ' [onclick]'))
    wrong.push(`element: ${each.outerHTML.slice(0, 200)}`);
  for (const each of document.querySelectorAll('a[href], area[href]'))
    if (!['http:', 'https:', 'mailto:', 'blob:'].includes(each.protocol)) wrong.push(`link: ${each.outerHTML}`);
    else if (each.host !== location.host && each.protocol !== 'mailto:' && !each.relList.contains('noopener'))
      wrong.push(`opener: ${each.outerHTML}`);
  for (const image of document.querySelectorAll('img, source, video, audio'))
    if (image.src && !image.src.startsWith('blob:') && new URL(image.src).origin !== location.origin)
      wrong.push(`picture: ${image.src.slice(0, 200)}`);
  const unseen = new RegExp('[\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\u0000-\\u0008'
    + '\\u000b\\u000c\\u000e-\\u001f\\u007f]|[\\u{e0000}-\\u{e01ef}]', 'u');
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode;
    if (unseen.test(node.data) && !node.parentElement.closest('textarea, script, style, [hidden]'))
      wrong.push(`unseen: ${JSON.stringify(node.data.slice(0, 80))} in ${node.parentElement.outerHTML.slice(0, 99)}`);
  }
  if (getComputedStyle(document.body).display === 'none') wrong.push('hidden');
  if (document.baseURI !== `${location.origin}/`) wrong.push(`base: ${document.baseURI}`);
  return wrong.slice(0, 20);
}"""


async def shows(window: Window, target: str, word: str) -> Page:
    """The page, when it shows the word and has nothing more to load."""
    page = await window.go(target)
    await expect(page.locator("main")).not_to_be_empty()
    if word:
        await expect(page.locator("main").get_by_text(word).first).to_be_attached()
    await expect(page.locator("main .mantine-Loader-root")).to_have_count(0)
    return page


# scrolls every part of the page that scrolls from its end to its beginning, and stops in between
_SCROLL = """async () => {
  const frames = () => new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)));
  const parts = [...document.querySelectorAll('main, main *')].filter(each =>
    each.scrollHeight > each.clientHeight + 40 && /auto|scroll/.test(getComputedStyle(each).overflowY));
  const found = new Set();
  for (const part of parts.slice(0, 6))
    for (let at = part.scrollHeight, left = 40; left > 0 && at > 0; at -= part.clientHeight * 0.9, left--) {
      part.scrollTop = at;
      await frames();
      for (const wrong of FOUND()) found.add(wrong);
    }
  return [...found];
}"""


async def found_in(page: Page) -> list[str]:
    """What is wrong with the page, wherever one scrolls to."""
    return [*await page.evaluate(_FOUND), *await page.evaluate(_SCROLL.replace("FOUND", f"({_FOUND})"))]


@pytest.mark.parametrize("target", staged(TARGETS, quick=QUICK))
async def test_hostile_texts_are_words_on_every_page(harmed: Harmed, open_window: OpenWindow, target: str) -> None:
    window = await open_window(harmed, size=NARROW)
    page = await shows(window, target.format(**harmed.names), TARGETS[target])
    assert await found_in(page) == []
    await window.is_within()
    assert page.url.startswith(harmed.url)


@pytest.mark.parametrize(
    "target",
    staged(
        ["/memories", "/memories?id={memory}", "/?conversation={conversation}", "/conversations?id={conversation}"],
        quick=1,
    ),
)
async def test_what_cannot_be_seen_is_shown(harmed: Harmed, open_window: OpenWindow, target: str) -> None:
    window = await open_window(harmed)
    page = await shows(window, target.format(**harmed.names), "harm-")
    for mark in MARKED:
        await expect(page.get_by_text(mark, exact=True).first).to_be_visible()


async def test_the_memory_drawer_shows_them_as_words(harmed: Harmed, open_window: OpenWindow) -> None:
    window = await open_window(harmed, size=NARROW)
    await window.page.add_init_script("localStorage.setItem('memoryEnabled', 'true')")
    page = await window.go("/")
    await page.get_by_role("button", name="Agent Memory Enabled").first.click()
    drawer = page.get_by_role("dialog", name="Project Long Term Memory")
    await expect(drawer.get_by_text(MARKED[0], exact=True).first).to_be_visible()
    assert await found_in(page) == []
    await window.is_within()


@pytest.mark.slow
async def test_names_of_users_and_projects_are_words_too(harmed: Harmed, open_window: OpenWindow) -> None:
    window = await open_window(harmed, size=NARROW)
    for name in ("mnemoirUser", "mnemoirProject"):
        await window.page.add_init_script(f"localStorage.setItem('{name}', {orjson.dumps(NAME).decode()})")
    for target in ("/", "/memories", "/conversations", "/connect", "/status"):
        page = await shows(window, target, "")
        assert await found_in(page) == []
        await window.is_within()
