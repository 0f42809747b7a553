"""What nodes of workflows remember of a conversation is listed, read and cleared, one by one or all."""

import json

import pytest

from mnemoir.conversations.nodes.keys import node_key
from mnemoir.storage.objects.local import LocalObjects
from tests.server.conversation_targets import begin, of, own_project, shared_server
from tests.server.server_kit import error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()

AT = "2026-11-22T10:00:00Z"
NODE = "user/tea/Answer"


def document(*rounds, version=1):
    """A memory of rounds `(turn, asked, said)`."""
    records = [
        {"message_id": turn, "parent_message_id": None, "role": role, "content": text, "created_at": AT}
        for turn, *texts in rounds
        for role, text in zip(("user", "assistant"), texts, strict=True)
    ]
    return json.dumps({"version": version, "messages": records}).encode()


@pytest.fixture
async def objects(server):
    """A conversation with the memories of two nodes, and another with one."""
    await begin(server, "c", "hello")
    await begin(server, "d", "hello")
    store = LocalObjects(server.folder() / "objects")
    store.save(node_key("app", "c", NODE), document(("run_1", "Soup?", "Yes."), ("run_2", "Bread?", "No.")))
    store.save(node_key("app", "c", "own id"), document(("run_1", "Salt?", "A little.")))
    store.save(node_key("app", "d", NODE), document(("run_9", "Tea?", "Green.")))
    return store


async def listed(server, id="c"):
    return {one["id"]: one for one in (await server.get(of(id, "/node-memory")))["results"]}


def memory(id, conversation="c"):
    return of(conversation, "/node-memory/" + id.replace("%", "%25").replace("/", "%2F"))


async def test_each_nodes_memory_is_told_in_short(server, objects):
    found = await listed(server)
    assert len(found) == 2
    answer = next(one for one in found.values() if one["node"] == "Answer")
    assert (answer["workflow"], answer["application"], answer["problem"]) == ("tea", "app", None)
    assert (answer["turns"], answer["messages"], answer["damaged_copies"]) == (2, 4, 0)
    assert answer["tokens"] > 0 < answer["size_bytes"]
    assert [one["content"] for one in answer["last"]] == ["Bread?", "No."]
    assert {(one["workflow"], one["node"]) for one in found.values()} == {("tea", "Answer"), (None, "own id")}


async def test_one_is_read_whole(server, objects):
    id = next(one["id"] for one in (await listed(server)).values() if one["node"] == "Answer")
    records = (await server.get(memory(id)))["results"]
    assert [(one["turn"], one["role"], one["content"]) for one in records] == [
        ("run_1", "user", "Soup?"),
        ("run_1", "assistant", "Yes."),
        ("run_2", "user", "Bread?"),
        ("run_2", "assistant", "No."),
    ]


async def test_clearing_one_leaves_the_others(server, objects):
    id = next(one["id"] for one in (await listed(server)).values() if one["node"] == "Answer")
    assert succeeded(await server.ask("DELETE", memory(id)))["deleted"] == 1
    assert [one["node"] for one in (await listed(server)).values()] == ["own id"]
    assert len(await listed(server, "d")) == 1
    assert error_of(await server.ask("DELETE", memory(id))) == (404, "node_memory_not_found")
    assert error_of(await server.ask("GET", memory(id))) == (404, "node_memory_not_found")


async def test_clearing_all_leaves_other_conversations(server, objects):
    assert succeeded(await server.ask("DELETE", of("c", "/node-memory")))["deleted"] == 2
    assert await listed(server) == {}
    assert len(await listed(server, "d")) == 1


async def test_a_damaged_memory_and_one_of_a_later_version_are_told_and_can_be_cleared(server, objects):
    damaged, newer = node_key("app", "c", "damaged"), node_key("app", "c", "newer")
    objects.save(damaged, b"\xff not json")
    objects.save(damaged + ".corrupt-20261122T100000.000000Z", b"\xff")
    objects.save(newer, document(("run_1", "x", "y"), version=9))
    found = {one["node"]: one for one in (await listed(server)).values()}
    assert (found["damaged"]["problem"], found["damaged"]["damaged_copies"]) == ("damaged", 1)
    assert (found["newer"]["problem"], found["newer"]["messages"]) == ("newer", 0)
    succeeded(await server.ask("DELETE", memory(found["damaged"]["id"])))
    assert not any("damaged" in entry.key for entry in objects.scan("node_memory/"))


@pytest.mark.parametrize("id", ["..", "../d", "app/../d", "app", "app/user%2Ftea%2FAnswer/x", "\x00", "😀"])
async def test_a_name_that_is_none_finds_nothing(server, objects, id):
    answer = await server.ask("DELETE", of("c", "/node-memory/") + "".join(f"%{byte:02X}" for byte in id.encode()))
    assert answer.status in (404, 405)
    assert len(await listed(server)) == 2
    assert len(await listed(server, "d")) == 1


async def test_a_name_too_long_to_keep_is_listed_and_cleared_all_the_same(server, objects):
    objects.save(node_key("app", "c", "x" * 300), document(("run_1", "a", "b")))
    long = next(one for one in (await listed(server)).values() if one["node"] is None)
    assert succeeded(await server.ask("DELETE", memory(long["id"])))["deleted"] == 1


async def test_of_another_users_conversation_nothing_is_told(server, objects):
    assert error_of(await server.ask("GET", of("c", "/node-memory", user_id="otto"))) == (
        404,
        "conversation_not_found",
    )
    assert error_of(await server.ask("DELETE", of("c", "/node-memory", user_id="otto")))[0] == 404
    assert len(await listed(server)) == 2
