"""An empty name in a path is never another one: no client with an empty variable loses what it has."""

import re

import pytest

from mnemoir.conversations.nodes.keys import node_key
from mnemoir.server.app import TABLE
from mnemoir.server.door.routing import Routing
from mnemoir.storage.objects.local import LocalObjects
from tests.server.conversation_targets import begin, of, own_project, shared_server
from tests.server.route_table import layer_of
from tests.server.server_kit import error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()

MEMORIES = "/api/memories"
# `/.` and `/..` are resolved by clients before they send: what is left of them ends in a slash
EMPTY = ("/", "//", "/%20", "/%2F")
# by contract both forms forget the user that they name, and without a user nobody
BY_CONTRACT = f"{MEMORIES}/"


@pytest.fixture
async def kept(server):
    """A function that tells all there is to lose."""
    await begin(server, "mira", "hello")
    store = LocalObjects(server.folder() / "objects")
    store.save(node_key("app", "mira", "user/tea/Answer"), b'{"version": 1, "messages": []}')
    line = b'{"memory": "Likes tea", "user_id": "user", "created_at": "2026-01-01"}'
    succeeded(await server.ask("POST", "/api/import", line))

    async def tell():
        listed = [f"{MEMORIES}/user", of("mira"), of("mira", "/node-memory"), "/api/discussions", "/api/runs"]
        return [await server.get(target) for target in listed]

    return tell


def named_at_the_end(server) -> list[str]:
    """What stands before the last name in the path of each DELETE that ends in one, other names filled in."""
    paths = {
        route.path_format
        for route in layer_of(server, Routing).table.routes
        if "DELETE" in (route.methods or ()) and route.path_format.endswith("}")
    }
    return sorted(re.sub(r"\{[^}]+\}", "mira", path.rpartition("/")[0]) for path in paths)


async def test_no_delete_with_an_empty_last_name_deletes_anything(server, kept):
    before, parents = await kept(), named_at_the_end(server)
    assert {MEMORIES, "/api/conversations", "/api/conversations/mira/node-memory"} <= set(parents)
    for parent in parents:
        one_up = parent.rpartition("/")[0] + "/"
        for target in (*(parent + empty for empty in EMPTY), one_up):
            user = "" if re.sub("/+", "/", target) == BY_CONTRACT else "?user_id=user"
            answer = await server.ask("DELETE", target + user)
            assert 400 <= error_of(answer)[0] < 500, (target, answer.body)
    assert await kept() == before


async def test_each_other_delete_refuses_a_slash_at_its_end(server, kept):
    before = await kept()
    deletes = [route for route in TABLE.routes if "DELETE" in (route.methods or ()) and route.says.by_cookie]
    paths = {path for route in deletes if not (path := route.path_format).startswith(MEMORIES)}
    assert {"/api/keys/{key_id}", "/api/users/{user_id}", "/api/model", "/api/holds/{user_id}"} <= paths
    for path in sorted(paths):
        named = re.sub(r"\{[^}]+\}", "mira", path)
        for slashes in ("/", "//"):
            answer = await server.ask("DELETE", f"{named}{slashes}?user_id=user")
            assert (error_of(answer), path) == ((400, "missing_name"), path)
    assert await kept() == before


async def test_what_follows_an_empty_name_is_not_taken_for_the_name(server, kept):
    before = await kept()
    paths = {route.path_format for route in TABLE.routes if route.says.is_own and "}/" in route.path_format}
    assert {"/api/memories/{user_id}/timeline", "/api/conversations/{id}/branches"} <= paths
    for path in sorted(paths):
        emptied = re.sub(r"\{[^}]+\}", "mira", re.sub(r"\{[^}]+\}", "", path, count=1))
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            answer = await server.ask(method, emptied, None if method == "GET" else {})
            assert (answer.status, method, emptied) in {(code, method, emptied) for code in (400, 404, 405)}
    refused = await server.ask("GET", f"{MEMORIES}//timeline")
    assert error_of(refused) == (400, "missing_name")
    assert succeeded(await server.ask("GET", "//api//memories/mira/timeline"))["total"] == 0
    assert await kept() == before


@pytest.mark.parametrize(
    ("target", "found"),
    [(of("mira", "/node-memory"), 1), (of("mira"), 1), ("/api/conversations?user_id=user", 1)],
)
async def test_the_refusal_says_what_to_do_and_without_the_slash_it_is_done(server, kept, target, found):
    path, _, query = target.partition("?")
    refused = await server.ask("DELETE", f"{path}/?{query}")
    assert error_of(refused) == (400, "missing_name")
    assert "names nothing behind its last slash" in refused.body.decode()
    done = succeeded(await server.ask("DELETE", target))
    assert found in (done.get("deleted"), done.get("conversations"), done.get("node_memories"))


async def test_memories_go_with_either_address_as_the_contract_has_it(server, kept):
    assert error_of(await server.ask("DELETE", BY_CONTRACT)) == (400, "missing_user_id")
    assert error_of(await server.ask("DELETE", f"{BY_CONTRACT}?user_id=")) == (400, "missing_user_id")
    assert succeeded(await server.ask("DELETE", f"{BY_CONTRACT}?user_id=user"))["deleted"] == 1


@pytest.mark.parametrize("path", ["/prune", "/node-memory/cleanup"])
async def test_a_user_of_null_is_not_the_default_one(server, kept, path):
    before = await kept()
    for user in (None, "", " "):
        body = {"user_id": user} | ({"days": 0} if path == "/prune" else {})
        refused = await server.ask("POST", f"/api/conversations{path}", body)
        assert (error_of(refused), user) == ((422, "validation_error"), user)
    assert await kept() == before
