"""Messages of a conversation: OpenAI's shapes in and out, the thread and the tree in pages, pins, and the window."""

import asyncio
from base64 import b64encode

import pytest

from mnemoir.conversations.nodes.keys import node_key
from mnemoir.storage.objects.local import LocalObjects
from tests.scripted_llm import Answer
from tests.server.conversation_targets import (
    CONVERSATIONS,
    MESSAGE_KEYS,
    add,
    begin,
    created,
    of,
    own_project,
    said,
    shared_server,
    thread,
    told,
)
from tests.server.server_kit import asks, error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
PICTURE = {"url": f"data:image/png;base64,{b64encode(PNG).decode()}"}
LINK = "https://pictures.example/cup.png"
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tea"}'}}


async def sent_and_read(server, *messages):
    """The messages of a new conversation, as they are answered and as they are read again."""
    await begin(server, "c")
    answered = created(await server.ask("POST", of("c", "/messages"), {"messages": messages}))["results"]
    assert answered == (await server.get(of("c", "/messages")))["results"]
    return answered


async def test_messages_sent_eight_times_at_once_and_again_under_one_key_are_there_once(server):
    await begin(server, "c")
    body = {
        "messages": [*said("one", "two"), {"role": "user", "content": [{"type": "image_url", "image_url": PICTURE}]}]
    }
    asked = [server.ask("POST", of("c", "/messages"), body, idempotency_key="k") for _ in range(8)]
    answers = [created(answer)["results"] for answer in await asyncio.gather(*asked)]
    assert [[message["id"] for message in answer] for answer in answers] == [[1, 2, 3]] * 8
    assert len((await server.get(of("c", "/messages")))["results"]) == 3
    for other in (said("one", "two"), said("one", "two", "three", "four"), said("one", "other")):
        refused = await server.ask("POST", of("c", "/messages"), {"messages": other}, idempotency_key="k")
        assert error_of(refused) == (409, "idempotency_mismatch")
    await begin(server, "d")
    added = created(await server.ask("POST", of("d", "/messages"), {"messages": said("x")}, idempotency_key="k"))
    assert added["results"][0]["content"] == "x"
    refused = await server.ask("POST", of("c", "/messages"), {"messages": said("x")}, idempotency_key=" ")
    assert error_of(refused) == (400, "invalid_idempotency_key")


async def test_a_message_is_told_with_its_place(server):
    first, second = await sent_and_read(server, *said("one", "two"))
    assert first.keys() == MESSAGE_KEYS
    assert (first["parent_id"], second["parent_id"]) == (None, first["id"])
    assert first["turn_id"] == second["turn_id"]
    assert (first["on_thread"], first["pinned"], first["run_id"], first["finish_reason"]) == (True, False, None, None)
    assert first["created_at"] <= second["created_at"]


async def test_calls_of_tools_and_their_results_come_back_as_they_were(server):
    _, call, result = await sent_and_read(
        server,
        {"role": "user", "content": "What is tea?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "A leaf.", "tool_call_id": "call_1", "name": "look_up"},
    )
    assert (call["content"], call["tool_calls"]) == (None, [CALL])
    assert (result["tool_call_id"], result["name"], result["content"]) == ("call_1", "look_up", "A leaf.")
    assert result["tool_calls"] is None


@pytest.mark.parametrize("arguments", ["{not json", "", "[1]", '{"a": 1, "a": 2}'])
async def test_arguments_that_are_no_object_break_nothing(server, arguments):
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (told_call,) = await sent_and_read(server, {"role": "assistant", "content": "", "tool_calls": [call]})
    assert isinstance(told_call["tool_calls"][0]["function"]["arguments"], str)


async def test_a_picture_on_the_web_stays_where_it_is(server):
    picture = {"type": "image_url", "image_url": {"url": LINK, "detail": "high"}}
    (message,) = await sent_and_read(
        server, {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]}
    )
    assert message["content"] == [picture, {"type": "text", "text": "What is this?"}]


async def test_a_picture_that_was_sent_is_kept_as_a_file_and_shown_to_a_model_whole(server):
    url = f"data:image/png;base64,{b64encode(PNG).decode()}"
    picture = {"type": "image_url", "image_url": {"url": url}}
    (message,) = await sent_and_read(
        server, {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]}
    )
    assert message["content"][0]["image_url"]["url"].startswith("mnemoir:attachments/c/")
    shown = (await server.get(of("c", "/window")))["messages"]
    assert shown[0]["content"][0]["image_url"]["url"] == url


async def test_a_branch_keeps_its_pictures_and_node_memories_when_its_original_is_forgotten(server):
    url = f"data:image/png;base64,{b64encode(PNG).decode()}"
    (message,) = await sent_and_read(
        server, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    )
    objects = LocalObjects(server.folder() / "objects")
    objects.save(node_key("app", "c", "node"), b'{"version": 1, "messages": []}')
    await server.ask("POST", of("c", "/branch"), {"message_id": message["id"], "id": "d/e"})
    succeeded(await server.ask("DELETE", of("c")))
    shown = (await server.get(of("d/e", "/window")))["messages"]
    assert shown[0]["content"][0]["image_url"]["url"] == url
    assert [entry.key for entry in objects.scan("node_memory/")] == [node_key("app", "d/e", "node")]


async def test_parts_of_text_are_one_text(server):
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    (message,) = await sent_and_read(server, {"role": "user", "content": parts})
    assert message["content"] == "one\ntwo"


@pytest.mark.parametrize(
    "text", ["", " ", "a\nb", "\0", "\U0001f375", "\u202e", "<b>x</b>", "{{ 7*7 }}", "'; DROP TABLE messages; --"]
)
async def test_any_text_comes_back_as_it_was(server, text):
    (message,) = await sent_and_read(server, {"role": "user", "content": text})
    assert message["content"] == text


async def test_a_word_of_nine_mebibytes_comes_back_as_it_was(server):
    word = "x" * (9 * 1024 * 1024)
    (message,) = await sent_and_read(server, {"role": "user", "content": word})
    assert message["content"] == word


async def test_members_a_client_may_not_set_are_ignored(server):
    planted = {"id": 77, "created_at": "1999-01-01", "pinned": True, "run_id": "run_x", "on_thread": False}
    (message,) = await sent_and_read(server, {"role": "user", "content": "one", **planted})
    assert (message["id"], message["pinned"], message["run_id"], message["on_thread"]) == (1, False, None, True)
    assert not message["created_at"].startswith("1999")


async def test_messages_go_behind_the_head_or_where_they_are_told_to(server):
    first, second = await sent_and_read(server, *said("one", "two"))
    await add(server, "c", "three")
    (branch,) = await add(server, "c", "other", parent_id=first["id"])
    assert branch["parent_id"] == first["id"]
    assert await thread(server, "c") == ["one", "other"]
    (start,) = await add(server, "c", "anew", parent_id=0)
    assert start["parent_id"] is None
    assert await thread(server, "c") == ["anew"]
    await add(server, "c", "back", parent_id=second["id"])
    assert await thread(server, "c") == ["one", "two", "back"]


async def test_a_parent_of_another_conversation_is_refused_and_nothing_is_added(server):
    await begin(server, "d", "foreign")
    foreign = (await server.get(of("d", "/messages")))["results"][0]["id"]
    await begin(server, "c", "one")
    for parent_id in (foreign, 10**15):
        refused = await server.ask("POST", of("c", "/messages"), {"messages": said("two"), "parent_id": parent_id})
        assert error_of(refused) == (404, "message_not_found")
    assert await thread(server, "c") == ["one"]


async def test_a_thread_is_read_backwards_in_pages_each_in_order(server):
    await begin(server, "c", *(f"m{n}" for n in range(7)))
    pages = [await server.get(of("c", "/messages", limit=3))]
    while pages[-1]["next"] is not None:
        pages.append(await server.get(of("c", "/messages", limit=3, cursor=pages[-1]["next"])))
    assert [told(page) for page in pages] == [["m4", "m5", "m6"], ["m1", "m2", "m3"], ["m0"]]


async def test_pages_of_a_thread_are_of_the_thread_alone(server):
    messages = await sent_and_read(server, *said("one", "two", "three"))
    await add(server, "c", "four", "five", parent_id=messages[0]["id"])
    page = await server.get(of("c", "/messages", limit=2))
    assert told(page) == ["four", "five"]
    assert await thread(server, "c", cursor=page["next"]) == ["one"]


async def test_the_tree_is_read_by_id_in_pages(server):
    messages = await sent_and_read(server, *said("one", "two", "three"))
    await add(server, "c", "four", parent_id=messages[0]["id"])
    first = await server.get(of("c", "/messages", view="tree", limit=3))
    rest = await server.get(of("c", "/messages", view="tree", cursor=first["next"]))
    assert (told(first), told(rest), rest["next"]) == (["one", "two", "three"], ["four"], None)


@pytest.mark.costly("it is about large texts")
async def test_a_page_of_large_messages_ends_early_and_the_next_goes_on(server):
    await begin(server, "c")
    for n in range(3):
        await add(server, "c", *(f"{n}-{m}" + "x" * 100_000 for m in range(60)))
    read, cursor = [], ""
    while cursor is not None:
        page = await server.get(of("c", "/messages", view="tree", **({"cursor": cursor} if cursor else {})))
        assert 0 < len(page["results"]) <= 100
        read += [text.partition("x")[0] for text in told(page)]
        cursor = page["next"]
    assert read == [f"{n}-{m}" for n in range(3) for m in range(60)]


async def test_a_thousand_messages_at_once_are_stored_in_their_order(server):
    await begin(server, "c")
    await add(server, "c", *(f"m{n}" for n in range(1000)))
    assert await thread(server, "c", limit=0) == [f"m{n}" for n in range(1000)]


async def test_messages_added_at_once_are_each_there_once(server):
    await begin(server, "c")
    await asyncio.gather(*(add(server, "c", f"m{n}") for n in range(16)))
    tree = await server.get(of("c", "/messages", view="tree"))
    assert sorted(told(tree)) == sorted(f"m{n}" for n in range(16))
    assert (await server.get(of("c")))["message_count"] == 16


async def test_a_message_is_pinned_and_unpinned(server):
    (message,) = await sent_and_read(server, *said("one"))
    for pinned in (True, True, False):
        answered = succeeded(await server.ask("PATCH", of("c", f"/messages/{message['id']}"), {"pinned": pinned}))
        assert answered == message | {"pinned": pinned}
    await begin(server, "d")
    for target in (of("d", f"/messages/{message['id']}"), of("c", "/messages/99")):
        assert error_of(await server.ask("PATCH", target, {"pinned": True})) == (404, "message_not_found")


async def test_the_window_holds_the_newest_messages_that_fit(server):
    await begin(server, "c", *(f"number {n} " + "x" * 400 for n in range(10)))
    window = await server.get(of("c", "/window", max_tokens=350))
    assert [message["content"].partition(" x")[0] for message in window["messages"]] == ["number 8", "number 9"]
    assert (window["strategy"], window["max_tokens"]) == ("simple", 350)
    assert 0 < window["tokens"] <= 350
    assert [message.keys() for message in window["messages"]] == [{"role", "content"}] * 2
    whole = await server.get(of("c", "/window"))
    assert (len(whole["messages"]), whole["max_tokens"]) == (10, 4096)


@OWN_LOOP
async def test_another_strategy_can_be_looked_at(open_server, llm):
    server = await open_server(asks(llm))
    llm.default = Answer(text="They counted.")
    await begin(server, "c", *(f"number {n} " + "x" * 400 for n in range(40)))
    window = await server.get(of("c", "/window", max_tokens=3000, strategy="summarization"))
    assert (window["strategy"], window["messages"][0]["role"]) == ("summarization", "system")
    assert "They counted." in window["messages"][0]["content"]
    assert window["tokens"] <= 3000
    hybrid = await server.get(of("c", "/window", max_tokens=3000, strategy="hybrid"))
    assert hybrid["strategy"] == "hybrid"
    assert await thread(server, "c") == [f"number {n} " + "x" * 400 for n in range(40)]


@OWN_LOOP
async def test_the_strategy_and_the_budget_are_those_of_the_settings(open_server):
    server = await open_server({"memory.strategy": "hybrid", "memory.max_history_tokens": 600})
    await begin(server, "c", "one")
    window = await server.get(of("c", "/window"))
    assert (window["strategy"], window["max_tokens"]) == ("hybrid", 600)


async def test_messages_of_an_unknown_conversation_are_none_and_make_none(server):
    refused = await server.ask("POST", of("none", "/messages"), {"messages": said("one")})
    assert error_of(refused) == (404, "conversation_not_found")
    assert (await server.get(CONVERSATIONS))["results"] == []
