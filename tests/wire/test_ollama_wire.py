"""Ollama's chat and generate: what its own package reads, and what is made of its requests and answers."""

from typing import Any

import ollama
import orjson
import pytest

from mnemoir.core.errors import InvalidRequest, ProviderInvalidOutput, ProviderRefused, ProviderUnavailable
from mnemoir.core.events import Finished, Reply, Text, Thinking, ToolCallPart, Usage
from mnemoir.core.messages import ImagePart, Message, ModelRequest, Sampling, ToolCall, text_message
from mnemoir.wire import ollama_chat, ollama_generate
from mnemoir.wire.json_output import ANY_OBJECT

PNG = "iVBORw0KGgoAAA=="


def chat(*messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **members}


def test_what_ollamas_own_package_sends_is_read() -> None:
    sent = ollama._types.ChatRequest(
        model="m",
        messages=[ollama.Message(role="user", content="hi", images=[ollama.Image(value=PNG)])],
        stream=True,
        format="json",
        options=ollama.Options(temperature=0.5, num_predict=-1, num_ctx=2048, stop=["x"]),
        keep_alive="5m",
        think=True,
    ).model_dump(exclude_none=True)
    read = ollama_chat.read_request(sent)
    assert read.request.messages[0].parts[1] == ImagePart(url=f"data:image/png;base64,{PNG}")
    assert read.request.sampling == Sampling(temperature=0.5, stop=("x",))
    assert (read.request.output, read.stream, read.request.reasoning_effort) == (ANY_OBJECT, True, None)


@pytest.mark.parametrize(("given", "expected"), [(None, True), ("True", True), ("no", False), (False, False)])
def test_ollama_streams_unless_told_otherwise(given: object, expected: bool) -> None:
    assert ollama_chat.read_request(chat({"role": "user", "content": "hi"}, stream=given)).stream is expected


def test_a_tool_message_finds_its_call_by_the_tools_name() -> None:
    calls = [{"function": {"name": name, "arguments": {"n": 1}}} for name in ("look", "hear")]
    read = ollama_chat.read_request(
        chat(
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "content": "a bell", "tool_name": "hear"},
            {"role": "tool", "content": "a cat", "tool_name": "look"},
        )
    )
    assert [message.tool_call_id for message in read.request.messages] == [None, "call_1", "call_0"]
    assert read.request.messages[0].tool_calls[0].arguments == '{"n":1}'


def test_a_picture_that_is_a_link_is_refused_before_it_is_sent() -> None:
    linked = Message(role="user", parts=(ImagePart(url="https://x.example/a.png"),))
    with pytest.raises(ProviderRefused, match="as data only"):
        ollama_chat.write_request(ModelRequest(messages=(linked,)), stream=False)


def test_a_picture_that_is_not_base64_is_refused_by_its_field() -> None:
    with pytest.raises(InvalidRequest) as caught:
        ollama_chat.read_request(chat({"role": "user", "content": "", "images": ["not base64!"]}))
    assert caught.value.field == "messages[0].images[0]"


def test_a_reply_is_what_ollamas_own_package_expects() -> None:
    call = ToolCall(id="c1", name="look", arguments='{"a":1}')
    reply = Reply(text="hi", tool_calls=(call,), usage=Usage(input_tokens=3, output_tokens=2), thinking="hm")
    data = ollama_chat.write_reply(reply, model="m", reply_id="r", created=1_767_225_600, took_ns=50)
    read = ollama.ChatResponse.model_validate_json(data)
    assert read.message.tool_calls is not None
    assert (read.message.content, read.message.thinking, read.message.tool_calls[0].function.arguments) == (
        "hi",
        "hm",
        {"a": 1},
    )
    assert (read.done, read.done_reason, read.eval_count, read.total_duration) == (True, "stop", 2, 50)
    assert read.created_at == "2026-01-01T00:00:00.000Z"


def test_a_stream_is_what_ollamas_own_package_expects() -> None:
    writer = ollama_chat.StreamWriter("m", "r", 5, False)
    data = writer.events(
        [Thinking("hm"), Text('say "hi"\n'), ToolCallPart(index=0, id="c", name="f", arguments='{"a"')]
    )
    data += writer.events([ToolCallPart(index=0, arguments=":1}"), Usage(output_tokens=2), Finished()])
    lines = [ollama.ChatResponse.model_validate_json(line) for line in data.splitlines()]
    assert [line.message.content for line in lines] == ["", 'say "hi"\n', "", ""]
    assert [line.done for line in lines] == [False, False, False, True]
    assert lines[2].message.tool_calls is not None
    assert lines[2].message.tool_calls[0].function.arguments == {"a": 1}
    assert lines[3].eval_count == 2
    assert lines[3].total_duration is not None
    assert lines[3].total_duration > 0


def test_a_heartbeat_is_a_piece_of_nothing() -> None:
    for dialect, shape in ((ollama_chat, ollama.ChatResponse), (ollama_generate, ollama.GenerateResponse)):
        line = shape.model_validate_json(dialect.StreamWriter("m", "r", 5, False).heartbeat())
        assert (line.done, line.model) == (False, "m")


def test_an_error_has_ollamas_shape() -> None:
    data = ollama_generate.StreamWriter("m", "r", 5, False).error(ProviderUnavailable("broke off"))
    assert orjson.loads(data) == {"error": "broke off"}


def test_generate_sends_a_conversation_with_its_speakers() -> None:
    messages = (text_message("system", "s"), text_message("user", "a"), text_message("assistant", "b"))
    body = ollama_generate.write_request(ModelRequest(messages=messages, model="m"), stream=False)
    assert body == {"model": "m", "prompt": "User: a\n\nAssistant: b\n\nAssistant:", "system": "s", "stream": False}


def test_a_generated_reply_is_what_ollamas_own_package_and_a_completion_client_expect() -> None:
    reply = Reply(text="hi", usage=Usage(input_tokens=3, output_tokens=2))
    data = ollama_generate.write_reply(reply, model="m", reply_id="gen-1", created=1_767_225_600)
    read, body = ollama.GenerateResponse.model_validate_json(data), orjson.loads(data)
    assert (read.response, read.done, read.done_reason, read.eval_count) == ("hi", True, "stop", 2)
    assert (body["id"], body["object"], body["created"], body["request_id"]) == (
        "gen-1",
        "text_completion",
        1_767_225_600,
        "gen-1",
    )
    assert (body["choices"][0]["text"], body["usage"]["total_tokens"]) == ("hi", 5)


def test_a_marked_prompt_behind_a_system_text_is_its_turns() -> None:
    read = ollama_generate.read_request(
        {
            "model": "m",
            "system": "[Beg_Sys]SS",
            "prompt": "[Beg_User]hi[Beg_Sys]again[Beg_Assistant]",
            "images": [PNG],
        }
    )
    assert [(message.role, message.text) for message in read.request.messages] == [
        ("system", "SS"),
        ("user", "hi"),
        ("systemMes", "again"),
        ("assistant", ""),
    ]
    assert read.request.messages[1].parts[1] == ImagePart(url=f"data:image/png;base64,{PNG}")
    assert (read.is_completion, read.unmarked_prompt) == (True, None)


def test_an_unmarked_prompt_is_kept_beside_its_messages_without_the_system_text() -> None:
    read = ollama_generate.read_request({"model": "m", "system": "S", "prompt": "P"})
    assert read.request.messages == (text_message("system", "S"), text_message("user", "P"))
    assert (read.is_completion, read.unmarked_prompt) == (True, "P")


def test_a_picture_without_a_user_turn_gets_one() -> None:
    read = ollama_generate.read_request({"model": "m", "prompt": "[Beg_Sys]S", "images": [PNG]})
    assert [message.role for message in read.request.messages] == ["system", "user"]
    assert read.request.messages[1].text == ""


def test_a_generated_stream_is_read() -> None:
    reader = ollama_generate.AnswerReader()
    lines = [{"response": "a"}, {"response": "", "thinking": "hm"}, {"response": "", "done": True, "eval_count": 4}]
    events = reader.feed(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert events == [Text("a"), Thinking("hm"), Usage(output_tokens=4), Finished()]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"error":"model not loaded"}', ProviderUnavailable),
        (b"<html>", ProviderInvalidOutput),
        (b"{}", ProviderInvalidOutput),
        (b'{"message":{"content":7}}', ProviderInvalidOutput),
        (b'{"message":{"tool_calls":[{"function":7}]}}', ProviderInvalidOutput),
    ],
)
def test_a_line_that_is_no_answer_is_an_error(line: bytes, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        ollama_chat.AnswerReader().read(line + b"\n")


def test_a_whole_reply_that_is_not_done_is_not_complete() -> None:
    with pytest.raises(ProviderUnavailable, match="before its answer was complete"):
        ollama_chat.read_reply({"message": {"role": "assistant", "content": "half"}, "done": False})


def test_a_stream_without_done_is_not_complete() -> None:
    reader = ollama_chat.AnswerReader()
    assert reader.feed(b'{"message":{"content":"half"},"done":false}\n') == [Text("half")]
    with pytest.raises(ProviderUnavailable, match="before its answer was complete"):
        reader.end()
