"""`/api/conversations`: begun, listed, changed, branched and forgotten."""

import asyncio

import orjson
import pytest

from tests.server.conversation_targets import (
    CONVERSATIONS,
    KEYS,
    add,
    at,
    begin,
    created,
    of,
    own_project,
    said,
    shared_server,
    thread,
)
from tests.server.server_kit import JSON, error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

ODD_IDS = ["a/b", "a/messages", "50% tea", "tea time", "\U0001f375", "../x", "/etc/passwd", "con", "%41", "messages"]
NAMES_OF_ROUTES = ["search", "export", "import", "prune", "node-memory"]


async def test_a_conversation_is_begun_with_all_that_is_noted_about_it(server):
    noted = {"title": "Tea", "system_prompt": "Be kind.", "tags": ["tea", "china"], "custom": {"agent": "cook"}}
    begun = await begin(server, "tea-time", "  What is\n green tea? ", "A tea.", **noted)
    assert begun.keys() == KEYS
    assert {name: begun[name] for name in noted} == noted
    assert (begun["id"], begun["user_id"]) == ("tea-time", "user")
    assert (begun["message_count"], begun["preview"]) == (2, "What is green tea?")
    assert begun == await server.get(of("tea-time"))


async def test_first_words_that_are_not_all_end_with_a_whole_word_and_an_ellipsis(server):
    begun = await begin(server, "limits", f"Write a Python function for {'a rate limiter ' * 5}please")
    assert begun["preview"].endswith("a rate limiter a rate…")
    assert len((await begin(server, "long", "x" * 200))["preview"]) == 80


async def test_a_conversation_without_anything_gets_an_id_and_is_empty(server):
    begun = created(await server.ask("POST", CONVERSATIONS, {}))
    assert len(begun["id"]) == 36
    empty: JSON = {"title": None, "tags": [], "custom": {}, "system_prompt": "", "head": None, "context_after": None}
    assert {name: begun[name] for name in empty} == empty
    assert (begun["message_count"], begun["preview"]) == (0, "")


async def test_the_head_is_the_last_message_of_the_thread(server):
    await begin(server, "c", "one", "two")
    messages = (await server.get(of("c", "/messages")))["results"]
    assert (await server.get(of("c")))["head"] == messages[-1]["id"]


async def test_an_id_that_is_taken_is_a_conflict_and_nothing_is_added(server):
    await begin(server, "c", "one")
    refused = await server.ask("POST", CONVERSATIONS, {"id": "c", "messages": said("two")})
    assert error_of(refused) == (409, "conversation_exists")
    assert await thread(server, "c") == ["one"]


async def test_the_same_id_begun_eight_times_at_once_is_one_conversation(server):
    body = {"id": "c", "messages": said("one")}
    answers = await asyncio.gather(*(server.ask("POST", CONVERSATIONS, body) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [201, *[409] * 7]
    assert await thread(server, "c") == ["one"]


async def test_conversations_are_listed_page_by_page_newest_activity_first(server):
    for id in ("a", "b", "c", "d"):
        await begin(server, id, f"of {id}")
    await add(server, "b", "more")
    pages = [await server.get(at(limit=2))]
    while pages[-1]["next"] is not None:
        pages.append(await server.get(at(limit=2, cursor=pages[-1]["next"])))
    assert [[one["id"] for one in page["results"]] for page in pages] == [["b", "d"], ["c", "a"]]
    assert pages[0]["results"][0]["message_count"] == 2


async def test_a_page_goes_on_behind_one_that_was_deleted_meanwhile(server):
    for id in ("a", "b", "c"):
        await begin(server, id)
    first = await server.get(at(limit=1))
    await server.ask("DELETE", of(first["results"][0]["id"]))
    rest = await server.get(at(cursor=first["next"]))
    assert ([one["id"] for one in rest["results"]], rest["next"]) == (["b", "a"], None)


async def test_looking_for_what_is_not_there_makes_nothing(server):
    assert await server.get(CONVERSATIONS) == {"results": [], "next": None}
    assert await server.get(at("/search", q="tea")) == {"results": []}
    assert error_of(await server.ask("GET", of("none"))) == (404, "conversation_not_found")
    assert (await server.post(at("/prune"), {"days": 0}))["ids"] == []
    assert not server.folder().parent.exists()


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"title": "New"}, {"title": "New", "tags": ["t"], "custom": {"a": 1}, "system_prompt": "Old."}),
        ({"title": None}, {"title": None}),
        ({"tags": ["x", "y"]}, {"title": "Old", "tags": ["x", "y"]}),
        ({"tags": None}, {"tags": []}),
        ({"custom": {"b": [1, {"c": None}]}}, {"custom": {"b": [1, {"c": None}]}}),
        ({"keep": True}, {"custom": {"a": 1, "keep": True}}),
        ({"system_prompt": "New."}, {"system_prompt": "New.", "title": "Old"}),
        ({"system_prompt": None}, {"system_prompt": ""}),
        ({}, {"title": "Old", "tags": ["t"], "custom": {"a": 1}, "system_prompt": "Old."}),
    ],
)
async def test_what_is_named_is_changed_and_nothing_else(server, change, after):
    await begin(server, "c", "one", title="Old", tags=["t"], custom={"a": 1}, system_prompt="Old.")
    changed = succeeded(await server.ask("PATCH", of("c"), change))
    assert {name: changed[name] for name in after} == after
    assert changed == await server.get(of("c"))
    assert changed["message_count"] == 1


async def test_keep_outlives_a_change_of_custom(server):
    await begin(server, "c")
    await server.ask("PATCH", of("c"), {"keep": True})
    changed = succeeded(await server.ask("PATCH", of("c"), {"custom": {"b": 1}}))
    assert changed["custom"] == {"keep": True, "b": 1}
    assert succeeded(await server.ask("PATCH", of("c"), {"custom": {}, "keep": False}))["custom"] == {"keep": False}


async def test_changes_at_once_are_all_kept(server):
    await begin(server, "c")
    changes = [{"title": "T"}, {"tags": ["t"]}, {"custom": {"a": 1}}, {"keep": True}, {"system_prompt": "P"}]
    await asyncio.gather(*(server.ask("PATCH", of("c"), change) for change in changes))
    shown = await server.get(of("c"))
    assert (shown["title"], shown["tags"], shown["system_prompt"]) == ("T", ["t"], "P")
    assert shown["custom"] == {"a": 1, "keep": True}


async def test_a_cleared_context_leaves_the_messages_and_empties_the_window(server):
    await begin(server, "c", "one", "two")
    changed = succeeded(await server.ask("PATCH", of("c"), {"clear_context": True}))
    assert changed["context_after"] == changed["head"]
    assert await thread(server, "c") == ["one", "two"]
    assert (await server.get(of("c", "/window")))["messages"] == []
    await add(server, "c", "three")
    assert [one["content"] for one in (await server.get(of("c", "/window")))["messages"]] == ["three"]


async def test_a_deleted_conversation_is_gone_and_what_went_is_counted(server):
    await begin(server, "c", "one", "two", "three")
    await begin(server, "d", "stays")
    told = succeeded(await server.ask("DELETE", of("c")))
    assert told == {
        "success": True,
        "message": "Deleted the conversation with 3 messages",
        "messages": 3,
        "memories": 0,
        "node_memories": 0,
    }
    assert error_of(await server.ask("DELETE", of("c"))) == (404, "conversation_not_found")
    assert (await server.get(at("/search", q="one two three stays", mode="keyword")))["results"][0][
        "conversation_id"
    ] == "d"
    assert [one["id"] for one in (await server.get(CONVERSATIONS))["results"]] == ["d"]


async def test_an_id_that_was_deleted_can_be_begun_anew(server):
    await begin(server, "c", "one")
    await server.ask("DELETE", of("c"))
    await begin(server, "c", "two")
    assert await thread(server, "c") == ["two"]


async def test_the_head_goes_back_and_the_next_message_begins_a_branch(server):
    await begin(server, "c", "one", "two", "three")
    first = (await server.get(of("c", "/messages")))["results"][0]
    moved = succeeded(await server.ask("PUT", of("c", "/head"), {"message_id": first["id"]}))
    assert (moved["head"], moved["message_count"]) == (first["id"], 1)
    (other,) = await add(server, "c", "other")
    assert other["parent_id"] == first["id"]
    assert await thread(server, "c") == ["one", "other"]
    tree = await server.get(of("c", "/messages", view="tree"))
    assert [(one["content"], one["on_thread"]) for one in tree["results"]] == [
        ("one", True),
        ("two", False),
        ("three", False),
        ("other", True),
    ]


@pytest.mark.parametrize("route", ["head", "branch"])
async def test_a_message_of_another_conversation_is_none_of_this(server, route):
    await begin(server, "c", "one")
    foreign = (await add(server, (await begin(server, "d"))["id"], "two"))[0]["id"]
    method = "PUT" if route == "head" else "POST"
    for message_id in (foreign, 2**62):
        refused = await server.ask(method, of("c", f"/{route}"), {"message_id": message_id})
        assert error_of(refused) == (404, "message_not_found")
    assert [one["id"] for one in (await server.get(CONVERSATIONS))["results"]] == ["d", "c"]


async def test_a_branch_is_a_conversation_of_its_own(server):
    await begin(server, "c", "one", "two", "three", title="Tea", system_prompt="Be kind.", tags=["t"])
    second = (await server.get(of("c", "/messages")))["results"][1]
    other = created(await server.ask("POST", of("c", "/branch"), {"message_id": second["id"], "id": "d"}))
    assert (other["id"], other["title"], other["system_prompt"], other["tags"]) == ("d", "Tea", "Be kind.", ["t"])
    assert await thread(server, "d") == ["one", "two"]
    await add(server, "d", "four")
    assert await thread(server, "c") == ["one", "two", "three"]
    named = created(await server.ask("POST", of("c", "/branch"), {"message_id": second["id"], "title": "Pot"}))
    assert (named["title"], len(named["id"])) == ("Pot", 36)
    taken = await server.ask("POST", of("c", "/branch"), {"message_id": second["id"], "id": "d"})
    assert error_of(taken) == (409, "conversation_exists")


async def test_a_flush_waits_for_the_vectors_of_what_was_said(server):
    await begin(server, "c", "My cat sleeps all day long.", "It is old.")
    assert await server.post(of("c", "/flush"), None) == {"id": "c", "messages": 2}
    found = await server.get(at("/search", q="a resting kitten", mode="semantic", limit=1))
    assert found["results"][0]["message"]["content"] == "My cat sleeps all day long."


@pytest.mark.parametrize("id", ODD_IDS)
async def test_any_id_is_reached_by_its_encoded_name_and_stays_inside(server, id):
    await begin(server, id, "one")
    assert (await server.get(of(id)))["id"] == id
    await add(server, id, "two")
    assert await thread(server, id) == ["one", "two"]
    assert len((await server.get(of(id, "/window")))["messages"]) == 2
    assert (await server.post(of(id, "/flush"), None))["id"] == id
    assert (await server.ask("DELETE", of(id))).status == 200
    assert error_of(await server.ask("GET", of(id))) == (404, "conversation_not_found")
    assert {path.name for path in server.parts.chats.conversations.root.parents[1].iterdir()} == {"data"}


@pytest.mark.parametrize("name", NAMES_OF_ROUTES)
async def test_a_conversation_called_like_a_route_is_reached_by_an_encoded_letter_alone(server, name):
    await begin(server, name, "one")
    refused = (404, "not_found") if name == "node-memory" else (405, "method_not_allowed")
    for method in ("DELETE", "PATCH", "PUT"):
        answer = await server.ask(method, f"{CONVERSATIONS}/{name}", {"title": "x"})
        assert error_of(answer) == refused
    assert error_of(await server.ask("GET", f"{CONVERSATIONS}/{name}/messages"))[0] == 404
    encoded = f"{CONVERSATIONS}/%{ord(name[0]):x}{name[1:]}"
    assert (await server.get(encoded))["id"] == name
    assert len((await server.get(f"{encoded}/messages"))["results"]) == 1
    assert (await server.ask("DELETE", encoded)).status == 200


@OWN_LOOP
async def test_conversations_are_there_after_a_restart(open_server):
    server = await open_server()
    await begin(server, "c", "one", "two", title="Tea")
    before = (await server.get(of("c")), await server.get(of("c", "/messages", view="tree")))
    await server.parts.chats.conversations.aclose()
    after = (await server.get(of("c")), await server.get(of("c", "/messages", view="tree")))
    assert after == before


async def test_a_custom_note_of_too_many_bytes_is_refused(server):
    refused = await server.ask("POST", CONVERSATIONS, {"custom": {"x": "y" * 70_000}})
    assert error_of(refused) == (422, "validation_error")
    assert b"custom" in refused.body
    assert orjson.loads((await server.ask("GET", CONVERSATIONS)).body)["results"] == []
