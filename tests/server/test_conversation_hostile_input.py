"""Requests about conversations that make no sense, or mean harm: 4xx with the member's name, and nothing changed."""

import random
from base64 import urlsafe_b64encode
from itertools import product
from urllib.parse import quote

import orjson
import pytest
import pytest_asyncio

from tests.server.conversation_targets import (
    CONVERSATIONS,
    ROUTES_OF_ONE,
    add,
    at,
    begin,
    of,
    own_project,
    said,
    shared_server,
    thread,
)
from tests.server.server_kit import error_of
from tests.server.test_hostile_input import spoiled

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

LIMITS = ["-1", "abc", "1.5", "1e99", "true", "", "%20", "5;drop", "0x10"]
LISTS = [at("?_=1"), of("c", "/messages?_=1"), of("c", "/messages?view=tree"), at("/search?q=one")]


@pytest_asyncio.fixture(loop_scope="module")
async def spoken(server):
    """A server with one conversation of two messages."""
    await begin(server, "c", "one", "two")
    return server


@pytest.mark.parametrize("id", [".", ".."])
async def test_an_id_that_no_address_can_name_is_refused_and_a_chat_that_has_it_is_not_kept(server, id):
    assert error_of(await server.ask("POST", at(), {"id": id})) == (422, "validation_error")
    await begin(server, "c", "one")
    assert error_of(await server.ask("POST", of("c", "/branch"), {"message_id": 1, "id": id}))[0] == 422
    chat = {"messages": said("Hello"), "conversation_id": id, "model": "mnemoir"}
    assert (await server.ask("POST", "/v1/chat/completions", chat)).status == 200
    assert [one["id"] for one in (await server.get(at()))["results"]] == ["c"]


@pytest.mark.parametrize("target", LISTS)
async def test_a_limit_is_a_whole_number(spoken, target):
    for limit in LIMITS:
        answer = await spoken.ask("GET", f"{target}&limit={limit}")
        assert (error_of(answer), limit) == ((422, "validation_error"), limit)
        assert b"limit" in answer.body


@pytest.mark.parametrize("target", LISTS)
async def test_a_limit_beyond_reason_is_clamped(spoken, target):
    for limit in ("0", "1000000000", "9" * 400):
        assert len((await spoken.get(f"{target}&limit={limit}"))["results"]) in (1, 2)


def cursor(*members: object) -> str:
    return urlsafe_b64encode(orjson.dumps(members)).decode().rstrip("=")


CURSORS = [
    *("", "x", "%00", "!!!!", "\u00e9", "x" * 5000, "null", "-1", "1", "' OR 1=1; --"),
    *(cursor(), cursor("thread"), cursor("thread", "1"), cursor("thread", -1), cursor("thread", 0)),
    *(cursor("thread", True), cursor("thread", 1.5), cursor("thread", 2**64 - 1), cursor("thread", 1, 1)),
    *(cursor("conversations", "c", "c"), cursor("conversations", "2024-01-01"), cursor("conversations", 1, "c")),
    *(cursor("conversations", "2024-01-01", None), cursor(["thread", 1]), cursor({"a": 1})),
]


@pytest.mark.parametrize("target", [CONVERSATIONS, of("c", "/messages"), of("c", "/messages?view=tree")])
async def test_a_cursor_that_is_none_is_refused(spoken, target):
    for text in CURSORS:
        answer = await spoken.ask("GET", f"{target}{'&' if '?' in target else '?'}cursor={quote(text)}")
        assert (error_of(answer), text) == ((400, "invalid_cursor"), text)


async def test_a_cursor_of_another_list_is_refused(spoken):
    await begin(spoken, "d")
    of_all = (await spoken.get(at(limit=1)))["next"]
    of_thread = (await spoken.get(of("c", "/messages", limit=1)))["next"]
    for target in (at(cursor=of_thread), of("c", "/messages", cursor=of_all), of("c", "/messages", cursor=of_thread)):
        answer = await spoken.ask("GET", target)
        assert (answer.status == 200) == (target == of("c", "/messages", cursor=of_thread))
    refused = await spoken.ask("GET", of("c", "/messages", view="tree", cursor=of_thread))
    assert error_of(refused) == (400, "invalid_cursor")


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "robot", "content": "x"}, "messages[1].role"),
        ({"role": None, "content": "x"}, "messages[1].role"),
        ({"role": "systemMes", "content": "x"}, "messages[1].role"),
        ({"role": "user"}, "messages[1].content"),
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": "user", "content": {"text": "x"}}, "messages[1].content"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[1].content[0].text"),
        ({"role": "user", "content": [{"type": "video", "video": {}}]}, "messages[1].content[0].type"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "/etc/passwd"}}]}, "url"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}, "url"),
        ({"role": "assistant", "tool_calls": "x"}, "messages[1].tool_calls"),
        ({"role": "assistant", "tool_calls": [{"function": {}}]}, "messages[1].tool_calls[0].function.name"),
        ({"role": "tool", "content": "x", "tool_call_id": 7}, "messages[1].tool_call_id"),
        ({"role": "user", "content": "x", "name": []}, "messages[1].name"),
    ],
)
async def test_a_message_of_another_shape_is_refused_whole_by_the_name_of_its_member(spoken, message, field):
    body = {"id": "new", "messages": [*said("fine"), message]}
    for target in (CONVERSATIONS, of("c", "/messages")):
        answer = await spoken.ask("POST", target, body)
        assert error_of(answer) == (422, "validation_error")
        assert field in orjson.loads(answer.body)["error"]
    assert await thread(spoken, "c") == ["one", "two"]
    assert len((await spoken.get(CONVERSATIONS))["results"]) == 1


@pytest.mark.parametrize("messages", ["hi", 5, {}, [5], ["x"], [[]], True, [None]])
async def test_messages_are_a_list_of_objects(spoken, messages):
    for target in (CONVERSATIONS, of("c", "/messages")):
        answer = await spoken.ask("POST", target, {"messages": messages})
        assert error_of(answer) == (422, "validation_error")
        assert b"messages" in answer.body


@pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": None}])
async def test_no_messages_are_nothing_to_add(spoken, body):
    assert error_of(await spoken.ask("POST", of("c", "/messages"), body)) == (422, "validation_error")


NO_NUMBERS = [-1, True, "1", 1.5, 1e99, 2**63, [], {}]


async def test_a_parent_is_the_number_of_a_message(spoken):
    for parent_id in NO_NUMBERS:
        answer = await spoken.ask("POST", of("c", "/messages"), {"messages": said("x"), "parent_id": parent_id})
        assert (error_of(answer), parent_id) == ((422, "validation_error"), parent_id)
        assert b"parent_id" in answer.body


@pytest.mark.parametrize(("method", "route"), [("PUT", "/head"), ("POST", "/branch")])
async def test_a_message_in_a_body_is_named_by_its_number(spoken, method, route):
    for message_id in [*NO_NUMBERS, 0, None]:
        answer = await spoken.ask(method, of("c", route), {"message_id": message_id})
        assert (error_of(answer), message_id) == ((422, "validation_error"), message_id)
        assert b"message_id" in answer.body


async def test_a_message_in_a_path_is_named_by_its_number(spoken):
    for message_id in ("x", "0", "-1", "1e99", "true", "9" * 400, "%00", "..", "1%2F2"):
        answer = await spoken.ask("PATCH", f"{CONVERSATIONS}/c/messages/{message_id}", {"pinned": True})
        assert (error_of(answer), message_id) == ((422, "validation_error"), message_id)


async def test_a_pin_is_true_or_false(spoken):
    pins: tuple[object, ...] = (None, "true", 1, 0, [], {})
    for pinned in pins:
        answer = await spoken.ask("PATCH", of("c", "/messages/1"), {"pinned": pinned})
        assert (error_of(answer), pinned) == ((422, "validation_error"), pinned)
        assert b"pinned" in answer.body


async def test_a_new_conversation_has_a_printable_id(spoken):
    message = (await spoken.get(of("c", "/messages")))["results"][0]["id"]
    for id in ["", " ", "x" * 300, "x\0", "a\nb", "\u202ex", [], {}, True, 1.5]:
        for target, body in ((CONVERSATIONS, {"id": id}), (of("c", "/branch"), {"message_id": message, "id": id})):
            answer = await spoken.ask("POST", target, body)
            assert (error_of(answer), id) == ((422, "validation_error"), id)
            assert b"id" in answer.body
    assert len((await spoken.get(CONVERSATIONS))["results"]) == 1


NOBODYS = ["none", "..", ".", "%20", "%00", "x" * 5000, "*", "%25", "null", "' OR 1=1 --"]


@pytest.mark.slow
async def test_an_id_that_nobody_has_is_not_found_on_any_route(spoken):
    before = {path for path in spoken.folder().rglob("*") if path.suffix == ".db"}
    for id, (method, below, body) in product(NOBODYS, ROUTES_OF_ONE):
        answer = await spoken.ask(method, f"{CONVERSATIONS}/{quote(id, safe='%')}{below}", body)
        assert error_of(answer) == (404, "conversation_not_found"), (id, method, below)
    assert {path for path in spoken.folder().rglob("*") if path.suffix == ".db"} == before
    assert await thread(spoken, "c") == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": 5}, "title"),
        ({"title": "x" * 1001}, "title"),
        ({"tags": "x"}, "tags"),
        ({"tags": [5]}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"tags": ["x"] * 101}, "tags"),
        ({"custom": []}, "custom"),
        ({"custom": "x"}, "custom"),
        ({"system_prompt": []}, "system_prompt"),
        ({"system_prompt": "x" * 100_001}, "system_prompt"),
    ],
)
async def test_a_note_of_another_type_is_refused_by_its_name(spoken, change, field):
    before = await spoken.get(of("c"))
    for method, target in (("PATCH", of("c")), ("POST", CONVERSATIONS)):
        answer = await spoken.ask(method, target, change)
        assert error_of(answer) == (422, "validation_error")
        assert field.encode() in answer.body
    assert (await spoken.get(CONVERSATIONS))["results"] == [before]


@pytest.mark.parametrize("change", [{"keep": "yes"}, {"keep": 1}, {"clear_context": "true"}, {"clear_context": 1}])
async def test_a_switch_is_true_or_false(spoken, change):
    assert error_of(await spoken.ask("PATCH", of("c"), change)) == (422, "validation_error")


DEEP = [
    b"[" * 200_000,
    b'{"messages":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    b'{"a":' * 200_000,
    b"{",
    b"\xff",
    b"",
]


@pytest.mark.parametrize("body", DEEP, ids=range(len(DEEP)))
async def test_what_is_no_json_or_too_deep_is_refused(spoken, body):
    targets = [(method, of("c", below)) for method, below, sent in ROUTES_OF_ONE if sent is not None]
    for method, target in [*targets, ("POST", CONVERSATIONS), ("POST", at("/prune"))]:
        assert error_of(await spoken.ask(method, target, body)) == (400, "invalid_json")


async def test_notes_of_a_hundred_levels_are_refused_and_of_fifty_are_kept(spoken):
    deep: object = 1
    for _ in range(50):
        deep = {"a": deep}
    assert (await begin(spoken, "deep", custom={"deep": deep}))["custom"] == {"deep": deep}
    for _ in range(50):
        deep = {"a": deep}
    assert error_of(await spoken.ask("POST", CONVERSATIONS, {"custom": {"deep": deep}})) == (400, "invalid_json")


@OWN_LOOP
async def test_a_body_over_the_limit_is_refused(open_server):
    server = await open_server(max_body_bytes=1000)
    await begin(server, "c")
    for target in (CONVERSATIONS, of("c", "/messages")):
        refused = await server.ask("POST", target, {"messages": said("x" * 2000)})
        assert error_of(refused) == (413, "payload_too_large")


async def test_too_many_messages_at_once_are_refused(spoken):
    body = {"messages": [{"role": "user", "content": "x"}] * 10_001}
    answer = await spoken.ask("POST", of("c", "/messages"), body)
    assert error_of(answer) == (422, "validation_error")
    assert b"messages" in answer.body


@pytest.mark.parametrize("query", ["max_tokens=0", "max_tokens=-1", "max_tokens=1e99", "max_tokens=true"])
async def test_a_budget_is_a_number_of_tokens(spoken, query):
    answer = await spoken.ask("GET", of("c", f"/window?{query}"))
    assert error_of(answer) == (422, "validation_error")
    assert b"max_tokens" in answer.body


@pytest.mark.parametrize("query", ["view=forest", "view=", "view=thread;drop"])
async def test_a_view_that_is_none_is_refused(spoken, query):
    assert error_of(await spoken.ask("GET", of("c", f"/messages?{query}"))) == (422, "validation_error")
    assert error_of(await spoken.ask("GET", of("c", "/window?strategy=lost"))) == (422, "validation_error")


@pytest.mark.parametrize(
    "query", ["sort=id;%20DROP%20TABLE%20messages", "where[id]=1", "order_by=rowid", "filters={}", "role=user&1=1"]
)
async def test_what_is_no_parameter_is_refused_by_its_name(spoken, query):
    for target in (CONVERSATIONS, of("c", "/messages"), of("c", "/window")):
        refused = await spoken.ask("GET", f"{target}?{query}")
        assert error_of(refused) == (400, "unknown_parameter")
        assert query.partition("=")[0].encode() in refused.body


BODIES = [
    (
        "POST",
        CONVERSATIONS,
        {"title": "t", "tags": ["a"], "custom": {"a": 1}, "system_prompt": "p", "messages": said("x")},
    ),
    ("PATCH", of("c"), {"title": "t", "tags": ["a"], "custom": {"a": 1}, "keep": True, "system_prompt": "p"}),
    ("PUT", of("c", "/head"), {"message_id": 1}),
    ("POST", of("c", "/branch"), {"message_id": 1, "title": "t"}),
    (
        "POST",
        of("c", "/messages"),
        {"messages": [*said("x"), {"role": "tool", "content": [{"type": "text", "text": "x"}]}]},
    ),
    ("PATCH", of("c", "/messages/1"), {"pinned": True}),
    ("POST", at("/prune"), {"days": 30, "dry_run": True}),
]


@pytest.mark.slow
async def test_a_thousand_spoiled_bodies_never_break_the_server(spoken):
    dice = random.Random(20_261_122)
    broken = []
    for _ in range(1000):
        method, target, body = dice.choice(BODIES)
        sent = spoiled(body, dice)
        answer = await spoken.ask(method, target, sent)
        if answer.status >= 500 or (answer.status >= 400 and not error_of(answer)[1]):
            broken.append((method, target, sent, answer.status, answer.body))
    assert broken == []
    await add(spoken, "c", "still here")
