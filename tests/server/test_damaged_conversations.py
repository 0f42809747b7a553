"""A user's conversations are damaged: the API says so for what they may have held, and never shows an empty list."""

import aiohttp
import orjson
import pytest

from tests.conversations.session_kit import damage_a_page
from tests.server.conversation_targets import at, begin, of
from tests.server.server_kit import asks, error_of, hello

USER = {"user_id": "mira"}
BY_WORDS = {"memory.vector_store.enabled": False}  # else what makes vectors may find the damage first
DAMAGED = (503, "storage_damaged")


async def damage(server, tmp_path) -> None:
    """Mira's file of messages is none any more, while nobody has it open."""
    await begin(server, "tea", "I drink green tea.", user_id="mira")
    await begin(server, "rye", "I bake rye bread.", user_id="otto")
    await server.parts.aclose()
    (file,) = server.parts.chats.conversations.root.glob("*/mira/conversations.db")
    file.write_bytes(b"not a database" * 100)


async def test_what_a_damaged_file_may_have_held_is_told_and_never_an_empty_list(open_server, llm, tmp_path):
    await damage(await open_server(asks(llm)), tmp_path)
    server = await open_server(asks(llm))
    lists = (at("", **USER), at("/search", q="tea", **USER), at("/export", **USER))
    for target in (*lists, of("tea", **USER), of("tea", "/messages", **USER), of("tea", "/export", **USER)):
        refused = await server.ask("GET", target)
        assert (error_of(refused), target) == (DAMAGED, target)
        assert str(tmp_path) not in refused.body.decode()
    assert error_of(await server.ask("DELETE", of("tea", **USER))) == DAMAGED
    answer = await server.ask("POST", "/v1/chat/completions", hello(user="mira", conversation_id="new"))
    assert answer.status == 200
    listed = await server.get(at("", **USER))
    assert ([one["id"] for one in listed["results"]], listed["degraded"]) == (["new"], ["damaged"])
    theirs = await server.get(at("", user_id="otto"))
    assert ("degraded" in theirs, len(theirs["results"])) == (False, 1)
    assert error_of(await server.ask("GET", of("tea", user_id="otto"))) == (404, "conversation_not_found")


async def test_an_export_of_all_ends_with_a_line_about_the_file_that_was_set_aside(open_server, llm, tmp_path):
    await damage(await open_server(asks(llm)), tmp_path)
    server = await open_server(asks(llm))
    await begin(server, "new", "I drink coffee.", user_id="mira")
    (aside,) = server.parts.chats.conversations.root.glob("*/mira/*.corrupt-*")
    exported = (await server.ask("GET", at("/export", **USER))).body
    last = orjson.loads(exported.splitlines()[-1])
    assert (last["missing"], last["damaged_file"]) == ([], aside.name)
    assert (await server.post(at("/import", user_id="ann"), exported))["conversations"] == 1
    assert b"damaged_file" not in (await server.ask("GET", at("/export", user_id="otto"))).body


async def begin_three(server) -> None:
    """Three conversations of Mira's in a file of which a page is damaged that only the middle one has a part of."""
    for id in ("a", "b", "c"):
        await begin(server, id, *(f"{id}{number} {'x' * 1000}" for number in range(40)), user_id="mira")
    await server.parts.aclose()
    damage_a_page(next(server.parts.chats.conversations.root.glob("*/mira/conversations.db")))


async def test_damage_that_is_found_within_an_export_is_told_at_its_end(open_server, llm):
    await begin_three(await open_server(asks(llm) | BY_WORDS))
    server = await open_server(asks(llm) | BY_WORDS)
    exported = (await server.ask("GET", at("/export", **USER))).body
    last = orjson.loads(exported.splitlines()[-1])
    assert {gap["id"] for gap in last["missing"]} == {"a", "b"}
    (aside,) = server.parts.chats.conversations.root.glob("*/mira/*.corrupt-*Z")
    assert last["damaged_file"] == aside.name
    assert exported.count(b"c39 ") == 1


async def test_the_export_of_one_conversation_that_proves_damaged_is_broken_off(listen, open_server, llm, http):
    await begin_three(await open_server(asks(llm) | BY_WORDS))
    server = await listen(asks(llm) | BY_WORDS)
    async with http.get(server.url + of("b", "/export", **USER)) as answer:
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()


async def test_readiness_and_status_name_the_damaged_file_until_it_is_put_right(open_server, llm, tmp_path):
    await damage(await open_server(asks(llm)), tmp_path)
    server = await open_server(asks(llm))
    assert "degraded" not in await server.get("/ready")
    await server.ask("GET", at("", **USER))
    (aside,) = server.parts.chats.conversations.root.glob("*/mira/*.corrupt-*")
    server.parts.chats.stock._damaged._at = None  # some seconds later
    name = f"{aside.parent.parent.name}/mira/{aside.name}"
    status = await server.get("/api/status")
    assert ((await server.get("/ready"))["degraded"], status["degraded"]) == ([name], [name])
    assert [name in remark["found"] for remark in status["remarks"] if remark["about"] == "storage"] == [True]
    aside.unlink()
    server.parts.chats.stock._damaged._at = None
    assert orjson.loads((await server.ask("GET", "/ready")).body).keys().isdisjoint({"degraded"})
    assert (await server.get(at("", **USER)))["results"] == []
