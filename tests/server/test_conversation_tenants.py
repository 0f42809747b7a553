"""Conversations of several users: nobody sees, changes or deletes another's, and nothing tells that it is there."""

import asyncio
import re
from itertools import product

import orjson
import pytest
import pytest_asyncio

from tests.server.conversation_targets import (
    ANSWER,
    ATTACHMENT,
    CONVERSATIONS,
    NODE,
    ROUTES_OF_ALL,
    ROUTES_OF_ONE,
    at,
    begin,
    of,
    own_project,
    said,
    shared_server,
    thread,
)
from tests.server.server_kit import error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

KEY = "a-key-of-sixteen-or-more"
OWN_WORDS = re.compile(rb"'(only|none)'|\"request_id\":\"[^\"]*\"")


def _with_names(below: str) -> str:
    return below.replace(ATTACHMENT, "{name}").replace(NODE, "{memory}").replace(ANSWER, "{answer_id}")


def mine(below: str = "", user: str = "mira") -> str:
    """The target of a request about a user's own conversation c."""
    return f"{of('c', below)}{'&' if '?' in below else '?'}user_id={user}"


async def everything_of(server, user: str) -> list[object]:
    """All that a user may read."""
    export = await server.ask("GET", at("/export", user_id=user))
    found = await server.get(at("/search", q="secret tea", user_id=user))
    return [await server.get(at(user_id=user)), found, export.body]


@pytest_asyncio.fixture(loop_scope="module")
async def shared(server):
    """Two users with a conversation of the same id, and one that only Mira has."""
    for user in ("mira", "otto"):
        await begin(server, "c", f"secret of {user}", f"tea for {user}", user_id=user)
    await begin(server, "only", "secret plan", user_id="mira")
    for user in ("mira", "otto"):  # a search is the same again once all vectors are made
        await server.post(of("c", "/flush", user_id=user), None)
    return server


async def test_the_same_id_is_another_conversation_for_each_user(shared):
    assert await thread(shared, "c", user_id="mira") == ["secret of mira", "tea for mira"]
    assert await thread(shared, "c", user_id="otto") == ["secret of otto", "tea for otto"]
    assert error_of(await shared.ask("GET", of("c", project="other", user_id="otto")))[0] == 404


@pytest.mark.parametrize(("method", "below", "body"), ROUTES_OF_ONE)
async def test_a_foreign_id_is_as_unknown_as_none_on_every_route(shared, method, below, body):
    before = await everything_of(shared, "mira")
    foreign = await shared.ask(method, of("only", below, user_id="otto"), body)
    unknown = await shared.ask(method, of("none", below, user_id="otto"), body)
    nobody = await shared.ask(method, of("none", below, user_id="nobody"), body)
    assert error_of(foreign) == (404, "conversation_not_found")
    assert {OWN_WORDS.sub(b"", answer.body) for answer in (foreign, unknown, nobody)} == {
        OWN_WORDS.sub(b"", foreign.body)
    }
    assert foreign.headers.keys() == unknown.headers.keys() == nobody.headers.keys()
    assert await everything_of(shared, "mira") == before


async def test_a_search_names_no_conversation_of_another(shared):
    for mode in ("hybrid", "keyword", "semantic"):
        found = await shared.get(at("/search", q="secret plan tea", user_id="otto", mode=mode))
        assert {hit["message"]["content"] for hit in found["results"]} <= {"secret of otto", "tea for otto"}
    foreign = await shared.ask("GET", at("/search", q="plan", user_id="otto", conversation_id="only"))
    assert error_of(foreign) == (404, "conversation_not_found")


async def test_a_message_of_another_is_none_of_mine(shared):
    tree = await shared.get(of("only", "/messages", user_id="mira"))
    for id in (tree["results"][0]["id"], 3, 999):
        answer = await shared.ask("PATCH", mine(f"/messages/{id}", "otto"), {"pinned": True})
        assert error_of(answer) == (404, "message_not_found")
        assert error_of(await shared.ask("PUT", mine("/head", "otto"), {"message_id": id}))[0] == 404


async def test_what_one_user_deletes_prunes_and_imports_leaves_the_others_as_they_are(shared):
    before = await everything_of(shared, "mira")
    files = {path: path.read_bytes() for path in shared.folder("mira").rglob("*") if path.is_file()}
    copy = (await shared.ask("GET", at("/export", user_id="otto"))).body
    succeeded(await shared.ask("DELETE", mine(user="otto")))
    succeeded(await shared.ask("POST", at("/import", user_id="otto"), copy))
    await begin(shared, "d", "more", user_id="otto")
    assert sorted((await shared.post(at("/prune", user_id="otto"), {"days": 0}))["ids"]) == ["c", "d"]
    assert await everything_of(shared, "mira") == before
    assert {path: path.read_bytes() for path in files} == files


async def test_no_user_is_the_default_user_alone(shared):
    await begin(shared, "own", "mine")
    await shared.post(of("own", "/flush"), None)  # a search for function words needs the vectors
    assert [one["id"] for one in (await shared.get(CONVERSATIONS))["results"]] == ["own"]
    assert (await shared.get(at("/search", q="secret tea mine")))["results"][0]["conversation_id"] == "own"
    assert b"secret" not in (await shared.ask("GET", at("/export"))).body
    assert (await shared.post(at("/prune"), {"days": 0}))["ids"] == ["own"]
    assert len((await shared.get(at(user_id="mira")))["results"]) == 2


@pytest.mark.slow
async def test_any_other_name_names_exactly_one_user(shared):
    for name in ("null", "*", "%", '["mira","otto"]', '{"ne":"x"}', "mira OR 1=1", "mira,otto", "MIRA"):
        assert (await shared.get(at(user_id=name)))["results"] == []
        assert (await shared.get(at("/search", q="secret", user_id=name)))["results"] == []
        assert (await shared.ask("GET", at("/export", user_id=name))).body == b""
        assert (await shared.post(at("/prune"), {"days": 0, "user_id": name}))["ids"] == []
        assert (await begin(shared, "c", user_id=name))["user_id"] == name
    assert await thread(shared, "c", user_id="mira") == ["secret of mira", "tea for mira"]


async def test_a_name_that_is_none_is_refused_on_every_route(shared):
    targets = [(method, f"{CONVERSATIONS}{below}", body) for method, below, body in ROUTES_OF_ALL]
    targets += [(method, of("c", below), body) for method, below, body in ROUTES_OF_ONE]
    names = ("user_id=", "user_id=%20", "user_id=%00")
    for (method, target, body), query in product(targets, names):
        answer = await shared.ask(method, f"{target}{'&' if '?' in target else '?'}{query}", body)
        assert error_of(answer) == (422, "validation_error"), (target, query)
        assert b"user_id" in answer.body
        twice = await shared.ask(method, f"{target}{'&' if '?' in target else '?'}user_id=mira&user_id=otto", body)
        assert error_of(twice) == (400, "repeated_parameter"), target
    assert len((await shared.get(at(user_id="mira")))["results"]) == 2


async def test_a_name_in_a_body_that_is_none_is_refused(shared):
    for user in ("", " ", "x\0", "x" * 300, ["mira", "otto"], {"ne": "x"}, True, 1.5):
        for target, body in ((CONVERSATIONS, {"id": "new"}), (at("/prune"), {"days": 0})):
            answer = await shared.ask("POST", target, body | {"user_id": user})
            assert (error_of(answer), user) == ((422, "validation_error"), user)
            assert b"user_id" in answer.body
    assert len((await shared.get(at(user_id="mira")))["results"]) == 2


async def test_the_body_cannot_name_another_than_the_query(shared):
    for target, body in ((at(user_id="otto"), {"id": "new"}), (at("/prune", user_id="otto"), {"days": 0})):
        answer = await shared.ask("POST", target, body | {"user_id": "mira"})
        assert error_of(answer) == (400, "invalid_request")
        assert (await shared.ask("POST", target, body | {"user_id": "otto"})).status in (200, 201)
    assert len((await shared.get(at(user_id="mira")))["results"]) == 2


async def test_another_user_in_what_is_noted_is_not_obeyed(shared):
    await begin(shared, "d", "one", user_id="otto", custom={"user": "mira", "user_id": "mira"})
    succeeded(await shared.ask("PATCH", of("d", user_id="otto"), {"custom": {"user": "mira"}}))
    assert (await shared.ask("PATCH", of("d", user_id="otto"), {"user_id": "mira"})).status == 400
    assert (await shared.get(of("d", user_id="otto")))["user_id"] == "otto"
    copy = (await shared.ask("GET", of("c", "/export", user_id="mira"))).body
    await shared.post(at("/import", user_id="otto", on_conflict="replace"), copy)
    assert (await shared.get(of("c", user_id="otto")))["user_id"] == "otto"
    assert len((await shared.get(at(user_id="mira")))["results"]) == 2


async def test_names_that_only_look_alike_share_nothing(server):
    names = ["a", "A", "a.", "a/b", "a%2Fb", "\u00e9", "e\u0301", "con", "CON", "../a", "a\u200b"]
    for name in names:
        await begin(server, "c", f"of {name!a}", user_id=name)
    for name in names:
        assert await thread(server, "c", user_id=name) == [f"of {name!a}"]


async def test_a_name_is_the_same_with_blanks_around_it(server):
    await begin(server, "c", "one", user_id=" mira ")
    assert (await server.get(of("c", user_id="mira")))["user_id"] == "mira"


async def test_users_write_the_same_id_at_the_same_time_and_get_their_own(server):
    users = ["ann", "ben", "cem", "dot", "eva"]
    for user in users:
        await begin(server, "c", user_id=user)

    async def say(user: str, n: int) -> None:
        body = {"messages": said(f"{user} {n}")}
        assert (await server.ask("POST", mine("/messages", user), body)).status == 201

    await asyncio.gather(*(say(user, n) for user, n in product(users, range(8))))
    for user in users:
        tree = await server.get(of("c", "/messages", view="tree", user_id=user))
        assert sorted(one["content"] for one in tree["results"]) == sorted(f"{user} {n}" for n in range(8))


@OWN_LOOP
async def test_each_route_is_described_with_a_summary_and_asks_for_a_key(open_server):
    server = await open_server(api_keys=[KEY])
    paths = (await server.get("/openapi.json"))["paths"]
    found = {path: operations for path, operations in paths.items() if path.startswith(CONVERSATIONS)}
    described = {(method.upper(), path) for path, operations in found.items() for method in operations}
    one = f"{CONVERSATIONS}/{{id}}"
    written = {(method, CONVERSATIONS + below.partition("?")[0]) for method, below, _ in ROUTES_OF_ALL}
    named = ((method, below.replace("/1", "/{message_id}")) for method, below, _ in ROUTES_OF_ONE)
    written |= {(method, one + _with_names(below)) for method, below in named}
    assert described == written
    assert all(operation["summary"] for operations in found.values() for operation in operations.values())
    for method, path in sorted(described):
        target = path.replace("{id}", "c").replace("{message_id}", "1").replace("{name}", ATTACHMENT)
        target = target.replace("{memory}", NODE).replace("{answer_id}", ANSWER)
        for wrong in ({}, {"authorization": "Bearer wrong"}):
            assert error_of(await server.ask(method, target, {}, **wrong)) == (401, "unauthorized")


@OWN_LOOP
async def test_a_browser_may_change_what_an_allowed_page_changes(open_server):
    server = await open_server(cors_origins=["https://app.example"])
    preflight = await server.ask(
        "OPTIONS", of("c"), origin="https://app.example", access_control_request_method="PATCH"
    )
    assert "PATCH" in preflight.headers["access-control-allow-methods"]
    assert orjson.loads(preflight.body) == {}
