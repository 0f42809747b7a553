"""Which discussion a chat belongs to: a tag in its text, else an id in its body, else one in its headers."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.server.served_tree import answering, served
from tests.server.server_kit import error_of
from tests.wire.task_prompts import TITLE

CHAT = "/v1/chat/completions"
SAYS = [{"role": "user", "content": "Hello"}]
ROUTES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": SAYS},
    "/v1/completions": {"prompt": "Hello"},
    "/api/chat": {"messages": SAYS},
    "/api/generate": {"prompt": "Hello"},
}
EVERY_ROUTE = pytest.mark.parametrize("route", ROUTES)
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
NO_DISCUSSION = "<>"


@pytest.fixture
def settings(tmp_path, llm):
    """Of a server whose one node tells its model the discussion's id, and keeps times in discussions."""
    node = answering(systemPrompt="<{Discussion_Id}>", addDiscussionIdTimestampsForLLM=True)
    return served(tmp_path, llm.url, node)


@pytest.fixture
async def chats(open_server, settings):
    return await open_server(settings)


async def discussion(server, llm, route=CHAT, *, stream=False, headers=None, **members):
    """The id that the workflow saw, between angle brackets."""
    body = {"model": "ann", "stream": stream, **ROUTES[route], **members}
    answer = await server.ask("POST", route, body, **(headers or {}))
    assert answer.status == 200, answer.body
    return llm.requests[-1].body["messages"][0]["content"]


def kept(tmp_path):
    """The directories of discussions. Nothing may be made elsewhere, beside the tree and the data, nor deeper."""
    assert {path.name for path in tmp_path.iterdir()} <= {"Public", "data"}
    assert {path.name for path in (tmp_path / "Public").iterdir()} <= {"Configs", "DiscussionIds"}
    root = tmp_path / "Public" / "DiscussionIds"
    times = {path.parent for path in root.rglob("timestamps.json")}
    assert {path for path in root.rglob("*") if path.is_dir()} == times
    assert {path.parent for path in times} <= {root}
    return sorted(path.name for path in times)


def refusal(answer):
    """What a request was refused with, as a mistake of the client's, in the words of its protocol."""
    assert error_of(answer)[0] == 400
    error = orjson.loads(answer.body)["error"]
    return error if isinstance(error, str) else error["message"]


@EVERY_ROUTE
@WAYS
async def test_a_field_of_the_body_names_the_discussion(chats, llm, route, stream):
    metadata = {"session_id": "s-1", "other": []}
    for members in ({"conversation_id": "s-1"}, {"session_id": "s-1"}, {"metadata": metadata}):
        assert await discussion(chats, llm, route, stream=stream, **members) == "<s-1>"


@EVERY_ROUTE
@WAYS
async def test_a_header_names_the_discussion(chats, llm, route, stream):
    for header in ("X-Conversation-Id", "X-Session-Id", "X-OpenWebUI-Chat-Id", "x-openwebui-chat-id"):
        assert await discussion(chats, llm, route, stream=stream, headers={header: "s-1"}) == "<s-1>"


async def test_a_chat_that_names_none_belongs_to_none(chats, llm, tmp_path):
    assert await discussion(chats, llm, metadata={"chat_id": "x"}, headers={"X-Thread": "x"}) == NO_DISCUSSION
    assert kept(tmp_path) == []


async def test_the_body_comes_before_the_headers_and_both_in_the_order_of_the_settings(chats, llm):
    headers = {"X-OpenWebUI-Chat-Id": "chat", "X-Session-Id": "session"}
    assert await discussion(chats, llm, headers=headers) == "<session>"
    assert await discussion(chats, llm, headers=headers, metadata={"session_id": "meta"}) == "<meta>"
    assert await discussion(chats, llm, metadata={"session_id": "meta"}, session_id=7) == "<7>"


async def test_what_is_blank_counts_as_not_given(chats, llm):
    for blank in ("", "  ", "\t"):
        headers = {"X-Conversation-Id": blank, "X-Session-Id": "s-1"}
        assert await discussion(chats, llm, conversation_id=blank, metadata={"session_id": blank}) == NO_DISCUSSION
        assert await discussion(chats, llm, conversation_id=blank, headers=headers) == "<s-1>"


@EVERY_ROUTE
async def test_the_tag_in_the_text_wins_over_all(chats, llm, tmp_path, route):
    text = "[DiscussionId]tagged[/DiscussionId]Hello"
    said = {"prompt": text} if "prompt" in ROUTES[route] else {"messages": [{"role": "user", "content": text}]}
    headers = {"X-Session-Id": "header"}
    assert await discussion(chats, llm, route, conversation_id="field", headers=headers, **said) == "<tagged>"
    assert kept(tmp_path) == ["tagged"]
    assert "DiscussionId]" not in llm.requests[-1].prompt


async def test_a_tag_that_names_none_keeps_the_chat_out_of_the_session_too(chats, llm, tmp_path):
    for tag in ("../x", "a/b", "C:x", "..", "", " "):
        said = [{"role": "user", "content": f"[DiscussionId]{tag}[/DiscussionId]Hello"}]
        assert await discussion(chats, llm, session_id="s-1", messages=said) == NO_DISCUSSION
    assert kept(tmp_path) == []


async def test_an_id_is_the_same_in_a_tag_a_field_and_a_header(chats, llm, tmp_path):
    said = [{"role": "user", "content": "[DiscussionId]Tee für zwei[/DiscussionId]Hello"}]
    await discussion(chats, llm, messages=said)
    await discussion(chats, llm, session_id=" Tee für zwei ")
    as_bytes = "Tee für zwei".encode().decode("latin-1")  # how this client spells bytes
    await discussion(chats, llm, headers={"X-Session-Id": as_bytes})
    assert kept(tmp_path) == ["Tee für zwei"]


async def test_what_an_app_asks_for_itself_belongs_to_no_discussion(chats, llm, tmp_path):
    headers = {"X-OpenWebUI-Chat-Id": "s-1"}
    await discussion(chats, llm, headers=headers)
    (times,) = (tmp_path / "Public" / "DiscussionIds").rglob("timestamps.json")
    before = times.read_bytes()
    task = [{"role": "user", "content": TITLE.replace("Ferns", "[DiscussionId]tagged[/DiscussionId]")}]
    assert await discussion(chats, llm, headers=headers, messages=task) == NO_DISCUSSION
    assert await discussion(chats, llm, session_id="s-1", messages=task) == NO_DISCUSSION
    assert times.read_bytes() == before
    assert kept(tmp_path) == ["s-1"]
    assert "DiscussionId]" not in llm.requests[-1].prompt


async def test_the_settings_say_where_to_look(open_server, settings, llm):
    server = await open_server(settings, session_headers=["X-Thread"], session_fields=["extra.thread.id"])
    assert await discussion(server, llm, extra={"thread": {"id": "deep"}}, session_id=[]) == "<deep>"
    assert await discussion(server, llm, headers={"X-THREAD": "head", "X-Session-Id": "s-1"}) == "<head>"
    assert await discussion(server, llm, session_id="s-1", headers={"X-Session-Id": "s-1"}) == NO_DISCUSSION


@EVERY_ROUTE
@pytest.mark.parametrize(
    ("off", "seen"),
    [
        ({"session_fields": []}, "<header>"),
        ({"session_headers": []}, "<field>"),
        ({"session_fields": [], "session_headers": []}, NO_DISCUSSION),
    ],
)
async def test_an_empty_list_switches_its_source_off(open_server, settings, llm, route, off, seen):
    server = await open_server(settings, **off)
    assert await discussion(server, llm, route, session_id="field", headers={"X-Session-Id": "header"}) == seen


@EVERY_ROUTE
@pytest.mark.parametrize("field", ["conversation_id", "session_id", "metadata.session_id"])
async def test_a_value_that_can_be_no_name_is_refused_by_its_field(chats, llm, tmp_path, route, field):
    for value in (["s"], {"id": "s"}, True, 1.5, "x" * 257, "x\0"):
        members = {"metadata": {"session_id": value}} if "." in field else {field: value}
        answer = await chats.ask("POST", route, {"model": "ann", **ROUTES[route], **members})
        assert refusal(answer).startswith(f"{field} ")
    assert (llm.requests, kept(tmp_path)) == ([], [])


@EVERY_ROUTE
async def test_a_header_too_long_for_a_name_is_refused_by_its_name(chats, llm, tmp_path, route):
    body = {"model": "ann", **ROUTES[route]}
    answer = await chats.ask("POST", route, body, **{"X-Session-Id": "x" * 257})
    assert refusal(answer).startswith("X-Session-Id must have 1 to 256 characters")
    assert (llm.requests, kept(tmp_path)) == ([], [])


HOSTILE = (
    *("../x", "..\\x", "/etc/x", "...", "C:x", "%2e%2e%2fx", "a/b", "a\\b", "~root", "-rf", "$HOME", "CON", "x."),
    *("x/timestamps.json", "{Discussion_Id}", "{{7*7}}", "x" * 256, "ä" * 200, "local:1", "a\x01b"),
)


@pytest.mark.slow
async def test_ids_that_look_like_paths_or_code_stay_below_the_root_under_names_of_their_own(chats, llm, tmp_path):
    for id in HOSTILE:
        assert await discussion(chats, llm, session_id=id) == f"<{id}>"
        assert await discussion(chats, llm, headers={"X-Session-Id": id.encode().decode("latin-1")}) == f"<{id}>"
    assert len(kept(tmp_path)) == len(HOSTILE)


async def test_an_id_that_no_url_can_name_keeps_nothing(chats, llm, tmp_path):
    for id in (".", ".."):
        assert await discussion(chats, llm, session_id=id) == "<>"
    assert kept(tmp_path) == []


ALIKE = ("a", "A", "a.", "a%", "%a", "\u00e4", "a\u0308", "à", "xà", "xÅ", "x", "a b", "a  b", "0", "00", "1", "1.0")


@pytest.mark.slow
async def test_two_ids_never_share_a_directory(chats, llm, tmp_path):
    for count, id in enumerate(ALIKE, start=1):
        await discussion(chats, llm, headers={"X-Session-Id": id.encode().decode("latin-1")})
        assert len(kept(tmp_path)) == count, id
    for id in ALIKE:
        await discussion(chats, llm, metadata={"session_id": id})
    assert len(kept(tmp_path)) == len(ALIKE)


async def test_a_header_that_is_no_utf_8_is_a_name_all_the_same(chats, llm):
    assert await discussion(chats, llm, headers={"X-Session-Id": "caf\xe9"}) == "<café>"


@pytest.mark.parametrize("character", ["\n", "\r", "\0"])
async def test_a_line_break_within_a_header_is_refused_on_the_socket(listen, settings, llm, tmp_path, character):
    server = await listen(settings)
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    body = orjson.dumps({"model": "ann", "messages": SAYS})
    lines = (f"POST {CHAT} HTTP/1.1", f"Host: {host}", f"X-Session-Id: s{character}x", f"Content-Length: {len(body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    status = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert status.startswith(b"HTTP/1.1 400")
    assert (llm.requests, kept(tmp_path)) == ([], [])
