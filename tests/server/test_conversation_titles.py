"""The list of conversations narrowed to those called by some words."""

import pytest

from mnemoir.server.conversations import titles
from tests.server.conversation_targets import at, begin, own_project, shared_server
from tests.server.server_kit import JSON

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()


async def called(server, q: str, **query: object) -> list[str]:
    """The ids of a page."""
    return [one["id"] for one in (await server.get(at("", q=q, **query)))["results"]]


async def test_the_title_counts_and_where_there_is_none_the_first_words(server):
    await begin(server, "one", "We spoke of TEA", title="Groceries")
    await begin(server, "two", "Which tea is green?")
    await begin(server, "three", "Hello", title="Green Tea, Ärger")
    assert await called(server, "tea green") == ["three", "two"]
    assert await called(server, "GROC") == ["one"]
    assert await called(server, "ÄRGER") == ["three"]
    assert await called(server, "100% _") == []
    assert await called(server, " ") == ["three", "two", "one"]
    assert await called(server, "tea", user_id="nobody") == []


async def test_pages_go_on_behind_the_last_one_looked_at(server, monkeypatch):
    monkeypatch.setattr(titles, "_MOST_LOOKED_AT", 3)
    monkeypatch.setattr(titles, "_AT_ONCE", 2)
    for number in range(9):
        await begin(server, f"{number}", title="tea" if number % 4 == 0 else "coffee")
    pages = []
    query: JSON = {}
    while True:
        page = await server.get(at(q="tea", limit=2, **query))
        pages.append([one["id"] for one in page["results"]])
        if page["next"] is None:
            break
        query = {"cursor": page["next"]}
    assert pages == [["8"], ["4"], ["0"]]
