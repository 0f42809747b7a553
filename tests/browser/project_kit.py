"""A window that works in a project of its own, so that tests on one server do not see each other's data."""

import json
from typing import Any
from urllib.parse import quote

from playwright.async_api import Page

from tests.browser_kit import Window

_SET = """(({ project, memory }) => {
  if (!location.protocol.startsWith('http') || localStorage.getItem('mnemoirProject')) return;
  localStorage.setItem('mnemoirProject', project);
  if (memory) localStorage.setItem('memoryEnabled', 'true');
})"""


async def begin(window: Window, project: str, target: str = "/", *, memory: bool = False) -> Page:
    """Open an address in a project, at first as if this browser had been there before."""
    chosen = json.dumps({"project": project, "memory": memory})
    await window.page.add_init_script(f"{_SET}({chosen})")
    return await window.go(target)


async def ask(window: Window, method: str, path: str, project: str, body: Any = None, **query: str) -> Any:
    """What the server answers to another program, in that project; the JSON of a success."""
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in {"project": project, **query}.items())
    answer = await window.page.request.fetch(f"{window.url}{path}?{asked}", method=method, data=body)
    assert answer.ok, await answer.text()
    return await answer.json()


async def learn(window: Window, project: str, *facts: str) -> list[str]:
    """Memories of the default user, word for word, the last one the newest; their ids."""
    ids = []
    for fact in facts:
        body = {"user_id": "user", "infer": False, "messages": [{"role": "user", "content": fact}]}
        ids.append((await ask(window, "POST", "/api/memories", project, body))["results"][0]["id"])
    return ids


async def say(window: Window, project: str, id: str, *texts: str, **more: Any) -> None:
    """A conversation in which that was said, by user and assistant in turn."""
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    await ask(window, "POST", "/api/conversations", project, {"id": id, "messages": messages, **more})
