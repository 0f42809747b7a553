"""A user's conversations are damaged: the API says so for what they may have held, and never shows an empty list."""

import orjson

from tests.server.conversation_targets import at, begin, of
from tests.server.server_kit import asks, error_of, hello

USER = {"user_id": "mira"}
DAMAGED = (503, "storage_damaged")


async def damage(server, tmp_path) -> None:
    """Mira's file of messages is none any more, while nobody has it open."""
    await begin(server, "tea", "I drink green tea.", user_id="mira")
    await begin(server, "rye", "I bake rye bread.", user_id="otto")
    await server.parts.aclose()
    (file,) = server.parts.conversations.root.glob("*/mira/conversations.db")
    file.write_bytes(b"not a database" * 100)


async def test_what_a_damaged_file_may_have_held_is_told_and_never_an_empty_list(open_server, llm, tmp_path):
    await damage(await open_server(asks(llm)), tmp_path)
    server = await open_server(asks(llm))
    for target in (at("", **USER), of("tea", **USER), of("tea", "/messages", **USER), at("/search", q="tea", **USER)):
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


async def test_readiness_and_status_name_the_damaged_file_until_it_is_put_right(open_server, llm, tmp_path):
    await damage(await open_server(asks(llm)), tmp_path)
    server = await open_server(asks(llm))
    assert "degraded" not in await server.get("/ready")
    await server.ask("GET", at("", **USER))
    (aside,) = server.parts.conversations.root.glob("*/mira/*.corrupt-*")
    server.parts.stock._damaged._at = None  # some seconds later
    name = f"{aside.parent.parent.name}/mira/{aside.name}"
    status = await server.get("/api/status")
    assert ((await server.get("/ready"))["degraded"], status["degraded"]) == ([name], [name])
    assert [name in remark["found"] for remark in status["remarks"] if remark["about"] == "storage"] == [True]
    aside.unlink()
    server.parts.stock._damaged._at = None
    assert orjson.loads((await server.ask("GET", "/ready")).body).keys().isdisjoint({"degraded"})
    assert (await server.get(at("", **USER)))["results"] == []
