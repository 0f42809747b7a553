"""OpenAI's chat completions: what our server sends, and what is made of what servers send us."""

from typing import Any

import orjson
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageFunctionToolCall

from mnemoir.core.errors import (
    InvalidRequest,
    NotSupported,
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderUnavailable,
)
from mnemoir.core.events import Finished, NodeStarted, Reply, Text, Thinking, ToolCallPart, Usage
from mnemoir.core.messages import ImagePart, ModelRequest, Sampling, TextPart, ToolCall, text_message
from mnemoir.wire import ollama_chat, openai_chat, openai_responses
from mnemoir.wire.json_output import ANY_OBJECT
from tests.narrowing import instance, present


def sse(*chunks: object) -> bytes:
    return b"".join(b"data: " + (c if isinstance(c, bytes) else orjson.dumps(c)) + b"\n\n" for c in chunks)


def delta(reason: str | None = None, **members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": members, "finish_reason": reason}]}


def chunks_of(data: bytes) -> list[dict[str, Any]]:
    events = [line[6:] for line in data.split(b"\n\n") if line]
    assert events[-1] == b"[DONE]"
    return [orjson.loads(event) for event in events[:-1]]


def user_request(**members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **members}


def reply_body(message: object, reason: str | None = "stop", **members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], **members}


# --- requests


@pytest.mark.parametrize("given", [False, "true", "True", 1, "yes", None, {}, [True]])
def test_only_a_json_true_switches_memory_on(given: object) -> None:
    assert openai_chat.read_request(user_request(memoryEnabled=given)).memory is False
    assert openai_chat.read_request(user_request(memoryEnabled=True)).memory is True


def test_the_user_is_read_and_unknown_members_are_ignored() -> None:
    chat = openai_chat.read_request(user_request(user=7, metadata="x", is_admin=True, created_at="1999"))
    assert (chat.user, chat.stream, chat.request.model) == ("7", False, "m")


def test_parts_are_read_in_openai_and_anthropic_words() -> None:
    parts = [
        {"type": "text", "text": "what is this"},
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "low"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
    ]
    chat = openai_chat.read_request({"messages": [{"role": "user", "content": parts}]})
    assert chat.request.messages[0].parts == (
        TextPart(text="what is this"),
        ImagePart(url="https://x.example/a.png", detail="low"),
        ImagePart(url="data:image/jpeg;base64,AAAA"),
    )


def test_a_json_object_format_goes_through_unchanged() -> None:
    chat = openai_chat.read_request(user_request(response_format={"type": "json_object"}))
    assert chat.request.output == ANY_OBJECT
    assert openai_chat.write_request(chat.request, stream=False)["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("asked", [{}, {"strict": True}, {"strict": False, "description": "a pair"}, {"x_new": 1}])
def test_a_schema_is_sent_as_the_client_wrote_it(asked: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, **asked}}
    body = {"messages": [{"role": "user", "content": "hi"}], "response_format": wanted}
    request = openai_chat.read_request(body).request
    assert openai_chat.write_request(request, stream=False)["response_format"] == wanted


def test_reasoning_models_get_no_temperature_and_the_newer_limit() -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=10)
    for model in ("gpt-5-mini", "openai/gpt-5", "o3"):
        request = ModelRequest(messages=(text_message("user", "hi"),), model=model, sampling=sampling)
        assert openai_chat.write_request(request, stream=False) == {
            "model": model,
            "messages": [{"role": "user", "content": "hi"}],
            "max_completion_tokens": 10,
        }


# --- replies


def test_a_reply_is_what_openais_own_package_expects() -> None:
    call = ToolCall(id="c1", name="look", arguments='{"a":1}')
    reply = Reply(text="", reason="tool_calls", tool_calls=(call,), usage=Usage(input_tokens=3, output_tokens=2))
    data = openai_chat.write_reply(reply, model="m", reply_id="chatcmpl-1", created=5)
    read = ChatCompletion.model_validate_json(data, strict=True)
    message = read.choices[0].message
    called = instance(ChatCompletionMessageFunctionToolCall, present(message.tool_calls)[0])
    assert (read.id, message.content, called.function.name) == ("chatcmpl-1", None, "look")
    assert read.usage is not None
    assert read.usage.total_tokens == 5


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{"message": None}]},
        reply_body({"role": "assistant", "content": 7}),
        reply_body({"role": "assistant", "content": [{"type": "text", "text": 7}]}),
        reply_body({"role": "assistant", "content": None, "tool_calls": [{"function": {}}]}),
    ],
)
def test_a_reply_without_an_answer_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderInvalidOutput, match="answer with"):
        openai_chat.read_reply(body)


def test_counts_in_strings_and_odd_reasons_are_tolerated() -> None:
    usage = {"prompt_tokens": "12", "completion_tokens": None, "prompt_tokens_details": "none"}
    reply = openai_chat.read_reply(reply_body({"content": "ok"}, reason="eos", usage=usage))
    assert reply == Reply(text="ok", usage=Usage(input_tokens=12))


def test_a_refusal_stays_one() -> None:
    reply = openai_chat.read_reply(reply_body({"content": None, "refusal": "I can not."}))
    assert (reply.text, reply.refusal, reply.reason) == ("", "I can not.", "stop")
    written = orjson.loads(openai_chat.write_reply(reply, model="m", reply_id="i", created=1))
    assert written["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": "I can not."}


def test_an_error_with_status_200_is_an_error() -> None:
    with pytest.raises(ProviderRefused, match="slow down") as caught:
        openai_chat.read_reply({"error": {"message": "slow down", "code": 429}})
    assert (caught.value.code, caught.value.status) == ("llm_rate_limited", 429)


# --- streams


def test_a_stream_is_what_openais_own_package_expects() -> None:
    writer = openai_chat.StreamWriter("m", "chatcmpl-1", 5, True)
    data = writer.events([NodeStarted(node="n", type="recall")])
    assert data == b""
    data = writer.events([Thinking("hm"), Text('say "hi"\n'), Usage(input_tokens=3, output_tokens=2)])
    data += writer.events(
        [ToolCallPart(index=0, id="c1", name="look", arguments="{}"), Finished(reason="tool_calls")]
    )
    chunks = chunks_of(data)
    for chunk in chunks:
        ChatCompletionChunk.model_validate_json(orjson.dumps(chunk), strict=True)
    assert [chunk["choices"][0]["delta"] for chunk in chunks[:-1]] == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "hm"},
        {"content": 'say "hi"\n'},
        {
            "tool_calls": [
                {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            ]
        },
        {},
    ]
    assert {chunk["id"] for chunk in chunks} == {"chatcmpl-1"}
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None, None, None, None, "tool_calls"]
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 5)


def test_without_include_usage_no_chunk_speaks_of_usage() -> None:
    writer = openai_chat.StreamWriter("m", "chatcmpl-1", 5, False)
    chunks = chunks_of(writer.events([Text("hi"), Usage(input_tokens=1), Finished()]))
    assert all(chunk["choices"] and "usage" not in chunk for chunk in chunks)


def test_a_failed_answer_ends_with_an_error_and_never_with_done() -> None:
    writer = openai_chat.StreamWriter("m", "chatcmpl-1", 5, False)
    data = writer.events([Text("half")]) + writer.error(ProviderUnavailable("broke off"))
    assert b"[DONE]" not in data
    last = orjson.loads(data.split(b"\n\n")[-2][6:])
    assert last["error"] == {
        "message": "broke off",
        "type": "upstream_error",
        "param": None,
        "code": "llm_unavailable",
    }


def test_the_usage_comes_before_the_one_finished() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    reader = openai_chat.AnswerReader()
    events = reader.feed(sse(delta(content="a"), delta("length"), usage, b"[DONE]", delta(content="late")))
    assert events == [Text("a"), Usage(input_tokens=3, output_tokens=2), Finished(reason="length")]
    assert reader.finished
    assert reader.end() == []


def test_a_finish_reason_without_done_is_an_end_too() -> None:
    reader = openai_chat.AnswerReader()
    assert reader.feed(sse(delta("stop", content="a"))) == [Text("a")]
    assert reader.end() == [Finished(reason="stop")]


def test_done_without_its_blank_line_is_an_end() -> None:
    reader = openai_chat.AnswerReader()
    assert reader.feed(sse(delta(content="a")) + b"data: [DONE]") == [Text("a")]
    assert reader.end() == [Finished(reason="stop")]


@pytest.mark.parametrize("given", [b"", sse(delta(content="a")), sse(delta(content="a")) + b'data: {"cho'])
def test_a_body_that_ends_early_is_never_complete(given: bytes) -> None:
    reader = openai_chat.AnswerReader()
    with pytest.raises((ProviderUnavailable, ProviderInvalidOutput)):
        [*reader.feed(given), *reader.end()]
    assert not reader.finished


def test_an_early_end_says_so() -> None:
    with pytest.raises(ProviderUnavailable, match="ended before its answer was complete"):
        openai_chat.AnswerReader("text/event-stream").end()


@pytest.mark.parametrize(
    "event",
    [
        *(b"{not json", b"[1]", b"7", {"choices": ["x"]}, {"choices": "x"}, delta(content=5), delta(tool_calls="x")),
        *(delta(tool_calls=[{"id": []}]), {"choices": [{"delta": "x"}]}, {"choices": [{"message": 7}]}),
    ],
    ids=str,
)
def test_an_event_that_cannot_be_read_is_refused(event: object) -> None:
    with pytest.raises(ProviderInvalidOutput, match="The model's server sent"):
        openai_chat.AnswerReader().feed(sse(event))


@pytest.mark.parametrize("event", [{}, {"choices": []}, {"choices": None}, {"choices": [{"delta": None}]}, delta()])
def test_an_event_that_says_nothing_is_passed_over(event: object) -> None:
    assert openai_chat.AnswerReader().feed(sse(event)) == []


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        ({"message": "boom", "type": "server_error"}, ProviderUnavailable, "llm_unavailable"),
        ({"message": "boom", "code": "rate_limit_exceeded"}, ProviderRefused, "llm_rate_limited"),
        ({"message": "boom", "code": 401}, ProviderRefused, "llm_auth_failed"),
        ({"message": "boom", "type": "invalid_request_error"}, ProviderRefused, "llm_bad_request"),
        ({"message": "boom", "code": "permission_denied"}, ProviderRefused, "llm_auth_failed"),
        (
            {"message": "boom", "code": "model_not_found", "type": "invalid_request_error"},
            ProviderRefused,
            "llm_bad_request",
        ),
        ("boom", ProviderUnavailable, "llm_unavailable"),
    ],
)
def test_an_error_event_ends_the_stream_with_the_servers_words(
    error: object, kind: type[ProviderError], code: str
) -> None:
    reader = openai_chat.AnswerReader()
    assert reader.feed(sse(delta(content="a"), {"error": error})) == [Text("a")]
    with pytest.raises(kind, match="boom") as caught:
        reader.check()
    assert caught.value.code == code


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    one = {"id": "a", "function": {"name": "f", "arguments": "{"}}
    rest = {"function": {"arguments": "}"}}
    two = {"id": "b", "function": {"name": "g", "arguments": {"x": 1}}}
    events = openai_chat.AnswerReader().feed(
        sse(*(delta(content="t", tool_calls=[call]) for call in (one, rest, two)))
    )
    assert [event for event in events if isinstance(event, ToolCallPart)] == [
        ToolCallPart(index=0, id="a", name="f", arguments="{"),
        ToolCallPart(index=0, arguments="}"),
        ToolCallPart(index=1, id="b", name="g", arguments='{"x":1}'),
    ]


UNKNOWN_PARTS = (
    {"type": "x_scene", "x_scene": {"id": 7}},
    {"type": "document", "source": {"type": "text", "data": "Tea"}, "title": "Notes"},
    {"type": "image_file", "image_file": {"file_id": "f-1"}},
    {"type": "", "deep": [[None, True]]},
    {"type": "tool_result", "content": [{"type": "text", "text": "hi"}]},
)


def test_a_part_of_an_unknown_kind_reaches_a_server_of_the_same_protocol_as_it_came() -> None:
    for part in UNKNOWN_PARTS:
        message = {"role": "user", "content": [{"type": "text", "text": "See:"}, part]}
        read = openai_chat.read_request({"model": "m", "messages": [message]}).request
        assert openai_chat.write_request(read, stream=False)["messages"] == [message]
        for write in (ollama_chat.write_request, openai_responses.write_request):
            with pytest.raises(NotSupported, match=f"A part of type {part['type']}"):
                write(read, stream=False)


def test_a_part_of_an_unknown_kind_names_no_file_of_the_models_server() -> None:
    part = {"type": "x_scene", "x_scene": {"url": "file:///secret"}}
    with pytest.raises(InvalidRequest, match=r"x_scene\.url"):
        openai_chat.read_request({"model": "m", "messages": [{"role": "user", "content": [part]}]})
