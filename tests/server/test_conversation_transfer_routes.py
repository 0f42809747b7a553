"""Conversations carried away and back, and pruned."""

import orjson
import pytest

from tests.server.conversation_targets import (
    CONVERSATIONS,
    add,
    at,
    begin,
    of,
    own_project,
    shared_server,
    thread,
    told,
)
from tests.server.server_kit import JSON, Server, error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "chatml": "text/plain; charset=utf-8",
}


async def exported(server: Server, target: str) -> bytes:
    answer = await server.ask("GET", target)
    assert answer.status == 200, answer.body
    return answer.body


async def listed(server, **query: object) -> list[str]:
    return [one["id"] for one in (await server.get(at("", **query)))["results"]]


async def branched(server, id: str) -> None:
    """A conversation with two branches."""
    await begin(server, id, "one", "two", "three", title="Tea", tags=["t"], system_prompt="Be kind.")
    first = (await server.get(of(id, "/messages")))["results"][0]
    await add(server, id, "other", parent_id=first["id"])


@pytest.mark.parametrize("format", MEDIA_TYPES)
async def test_a_conversation_is_exported_in_each_format(server, format):
    await branched(server, "c")
    answer = await server.ask("GET", of("c", "/export", format=format))
    assert (answer.status, answer.headers["content-type"]) == (200, MEDIA_TYPES[format])
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert b"other" in answer.body


async def test_an_export_comes_back_with_its_branches(server):
    await branched(server, "a/b")
    copy = await exported(server, of("a/b", "/export"))
    before = await server.get(of("a/b"))
    tree = await server.get(of("a/b", "/messages", view="tree"))
    await server.ask("DELETE", of("a/b"))
    report = await server.post(at("/import"), copy)
    assert (report["success"], report["conversations"], report["messages"], report["skipped"]) == (True, 1, 4, [])
    after = await server.get(of("a/b"))
    same = ("id", "title", "tags", "system_prompt", "message_count", "preview", "created_at")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert await thread(server, "a/b") == ["one", "other"]
    assert told(await server.get(of("a/b", "/messages", view="tree"))) == told(tree)
    assert await exported(server, of("a/b", "/export")) == copy


async def test_all_conversations_go_out_and_in_again(server):
    for id in ("a", "b", "c"):
        await begin(server, id, f"of {id}")
    copy = await exported(server, at("/export"))
    report = await server.post(at("/import", user_id="otto"), copy)
    assert report["conversations"] == 3
    assert set(await listed(server, user_id="otto")) == {"a", "b", "c"}
    assert (await server.get(of("a", user_id="otto")))["user_id"] == "otto"


async def test_without_conversations_the_export_is_empty(server):
    assert await exported(server, at("/export")) == b""


@pytest.mark.parametrize(
    ("on_conflict", "ids"), [("skip", 1), ("replace", 1), ("merge", 1), ("rename", 2)], ids=lambda value: str(value)
)
async def test_a_conversation_that_is_there_is_treated_as_asked(server, on_conflict, ids):
    await begin(server, "c", "one")
    copy = await exported(server, of("c", "/export"))
    await add(server, "c", "two")
    report = await server.post(at("/import", on_conflict=on_conflict), copy)
    assert bool(report["skipped"]) == (on_conflict == "skip")
    assert len(await listed(server)) == ids
    assert await thread(server, "c") == (["one"] if on_conflict == "replace" else ["one", "two"])


async def test_a_dry_run_stores_nothing(server):
    await begin(server, "c", "one")
    copy = await exported(server, of("c", "/export"))
    await server.ask("DELETE", of("c"))
    report = await server.post(at("/import", dry_run="true"), copy)
    assert (report["conversations"], report["messages"]) == (1, 1)
    assert await listed(server) == []


async def test_chats_of_other_programs_are_imported(server):
    webui = [{"id": "w", "title": "Tea", "chat": {"messages": [{"role": "user", "content": "one"}]}}]
    node: JSON = {"id": "n", "parent": None, "children": []}
    words = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["two"]}}
    chatgpt = [{"title": "Pot", "current_node": "n", "mapping": {"n": {**node, "message": {"id": "n", **words}}}}]
    assert (await server.post(at("/import", format="open-webui"), webui))["conversations"] == 1
    assert (await server.post(at("/import", format="chatgpt"), chatgpt))["conversations"] == 1
    assert {one["title"] for one in (await server.get(CONVERSATIONS))["results"]} == {"Tea", "Pot"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]x",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"format": "mnemoir-conversation", "version": 99}\n',
    ],
    ids=range(7),
)
async def test_what_is_no_export_is_refused_whole(server, body):
    answer = await server.ask("POST", at("/import"), body)
    assert 400 <= error_of(answer)[0] < 500
    assert await listed(server) == []


async def test_a_broken_line_is_named_and_nothing_of_the_file_is_stored(server):
    await begin(server, "c", "one", "two")
    copy = await exported(server, of("c", "/export"))
    await server.ask("DELETE", of("c"))
    lines = copy.splitlines(keepends=True)
    answer = await server.ask("POST", at("/import"), b"".join([*lines[:2], b"{broken\n", *lines[2:]]))
    assert 400 <= error_of(answer)[0] < 500
    assert b"3" in orjson.loads(answer.body)["error"].encode()
    assert await listed(server) == []


@OWN_LOOP
async def test_a_file_is_no_larger_than_any_body_may_be(open_server):
    server = await open_server(max_body_bytes=2000)
    assert error_of(await server.ask("POST", at("/import"), b"x" * 3000)) == (413, "payload_too_large")


@pytest.mark.parametrize("query", ["format=zip", "on_conflict=erase", "dry_run=perhaps"])
async def test_an_import_of_another_kind_is_refused(server, query):
    assert error_of(await server.ask("POST", f"{at('/import')}?{query}", b"{}")) == (422, "validation_error")
    assert error_of(await server.ask("GET", of("c", "/export", format="pdf"))) == (422, "validation_error")


@pytest.mark.slow
@OWN_LOOP
async def test_a_long_conversation_is_exported_whole_in_pieces(listen, http):
    server = await listen({"memory.vector_store.enabled": False})
    await begin(server, "c")
    for n in range(4):
        await add(server, "c", *(f"message {n} {m} " + "x" * 300 for m in range(1000)))
    async with http.get(f"{server.url}{of('c', '/export')}") as answer:
        assert "content-length" not in answer.headers
        lines = (await answer.read()).splitlines()
    assert len(lines) == 4001


@pytest.mark.usefixtures("trusted_clock")
async def test_old_conversations_are_pruned_and_kept_ones_are_not(server):
    for id in ("a", "b", "kept"):
        await begin(server, id, f"of {id}")
    await server.ask("PATCH", of("kept"), {"keep": True})
    assert (await server.post(at("/prune"), {"days": 1}))["ids"] == []
    planned = await server.post(at("/prune"), {"days": 0, "dry_run": True})
    assert (sorted(planned["ids"]), len(await listed(server))) == (["a", "b"], 3)
    done = await server.post(at("/prune"), {"days": 0})
    assert (done["success"], done["message"], done["ids"]) == (True, "Deleted 2 conversations", planned["ids"])
    assert await listed(server) == ["kept"]
    assert succeeded(await server.ask("POST", at("/prune"), {"days": 0}))["ids"] == []


@pytest.mark.parametrize("days", [-1, True, "1", 1.5, 1e99, 10**30, None, [], {}])
async def test_days_are_a_whole_number(server, days):
    await begin(server, "c", "one")
    refused = await server.ask("POST", at("/prune"), {"days": days})
    assert error_of(refused) == (422, "validation_error")
    assert b"days" in refused.body
    assert error_of(await server.ask("POST", at("/prune"), {})) == (422, "validation_error")
    assert await listed(server) == ["c"]
