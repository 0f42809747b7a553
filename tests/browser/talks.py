"""Conversations to be looked at in a browser: with branches, very long, hostile, with all kinds of memories."""

from typing import Any

import aiohttp

from mnemoir.conversations.nodes.keys import node_key
from mnemoir.core.scope import Scope
from mnemoir.storage.objects.local import LocalObjects
from tests.browser_kit import Site
from tests.server.server_kit import JSON
from tests.server.test_discussion_routes import remember
from tests.server.test_node_memory_routes import document

OWNER = Scope(project="default", user="user")
LONG = 2000  # messages of "long"
HOSTILE = (
    "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>",
    "[press](javascript:window.harmed=3) ![p](https://foreign.example/p.png) \u202egnirts desrever\u200b\U000e0041",
    "<svg onload='window.harmed = 4'>",
)


async def ask(site: Site, method: str, path: str, body: object = None) -> Any:
    """The JSON of a request that must succeed; `path` is below `/api/conversations`."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"{site.url}/api/conversations{path}", json=body) as answer,
    ):
        assert answer.ok, await answer.text()
        return await answer.json()


def said(*texts: str) -> list[JSON]:
    """Messages of a user and an assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


async def begin(site: Site, id: str, *texts: str, **more: object) -> None:
    """A conversation in which that was said."""
    await ask(site, "POST", "", {"id": id, "messages": said(*texts), **more})


async def begin_branched(site: Site, id: str = "tea") -> list[int]:
    """A question with two answers, the second of which goes on with two questions; ids in the order of saying."""
    await begin(site, id, "Which tea do I drink?", "You drink black tea.", title="Which tea", tags=["kitchen"])
    first, second = [one["id"] for one in (await ask(site, "GET", f"/{id}/messages"))["results"]]
    ids = [first, second]
    for parent, texts in ((0, ("You drink **green** tea.",)), (2, ("And how hot?", "At 70 degrees."))):
        body = {"parent_id": ids[parent], "messages": said("", *texts)[1:] if parent == 0 else said(*texts)}
        ids += [one["id"] for one in (await ask(site, "POST", f"/{id}/messages", body))["results"]]
    body = {"parent_id": ids[2], "messages": said("And how long?", "Two minutes.")}
    return ids + [one["id"] for one in (await ask(site, "POST", f"/{id}/messages", body))["results"]]


async def begin_all(site: Site) -> None:
    """One of each kind: tea, window, long, hostile, nodes, tea-time."""
    await begin_branched(site)
    words = [f"Number {number}: {'a longer message about tea, pots and cups. ' * 6}" for number in range(30)]
    await begin(site, "window", *words, title="About pots")
    await begin(site, "hostile", *HOSTILE, title="<b>bold</b> \u202eltr", tags=["<i>tag</i>"])
    await begin(site, "nodes", "Soup?", "Yes.", title="Dinner")
    objects = LocalObjects(site.parts.chats.conversations.folder_of(OWNER) / "objects")
    rounds = (("run_1", "Soup?", "Yes."), ("run_2", "Bread?", "No."), ("run_3", "<b>Salt</b>?", "A little."))
    objects.save(node_key("user", "nodes", "user/cooking/Answer"), document(*rounds))
    objects.save(node_key("user", "nodes", "user/cooking/Check"), document(("run_1", "Is that right?", "Yes.")))
    await begin(site, "tea-time", "Green tea, from a pot.", "With pleasure.", title="Tea time")
    await remember(site)
    await ask(site, "POST", "/tea/flush")  # of all conversations, so the long one comes later: nobody searches it
    await begin(site, "long", *(f"Message {number} of a long talk." for number in range(LONG)), title="A long talk")
