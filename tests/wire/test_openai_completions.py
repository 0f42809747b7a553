"""OpenAI's text completions: what clients send and read, and what is made of what servers send us."""

from typing import Any

import orjson
import pytest
from openai.types import Completion

from mnemoir.core.errors import (
    InvalidRequest,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderUnavailable,
)
from mnemoir.core.events import Finished, Reply, Text, Thinking, ToolCallPart, Usage
from mnemoir.core.messages import Extra, ModelRequest, Sampling, text_message
from mnemoir.wire import openai_completions


def sse(*chunks: object) -> bytes:
    return b"".join(b"data: " + (c if isinstance(c, bytes) else orjson.dumps(c)) + b"\n\n" for c in chunks)


def piece(text: object, reason: str | None = None, **members: Any) -> dict[str, Any]:
    return {"choices": [{"text": text, "index": 0, "finish_reason": reason}], **members}


# --- requests


@pytest.mark.parametrize("prompt", ["Once upon", ["Once upon"]])
def test_a_prompt_without_markers_is_one_user_message(prompt: object) -> None:
    chat = openai_completions.read_request(
        {"model": "m", "prompt": prompt, "max_tokens": 9, "stop": "\n", "suffix": "x", "echo": True, "best_of": 3}
    )
    assert chat.request.messages == (text_message("user", "Once upon"),)
    assert chat.request.sampling == Sampling(max_tokens=9, stop=("\n",))
    assert (chat.is_completion, chat.unmarked_prompt, chat.stream) == (True, "Once upon", False)


def test_a_marked_prompt_is_the_turns_behind_its_markers() -> None:
    chat = openai_completions.read_request(
        {"prompt": "[Beg_Sys]S[Beg_User]U", "stream": True, "stream_options": {"include_usage": True}}
    )
    assert chat.request.messages == (text_message("system", "S"), text_message("user", "U"))
    assert (chat.unmarked_prompt, chat.stream, chat.include_usage, chat.request.model) == (None, True, True, "")


def test_no_prompt_is_an_empty_one() -> None:
    chat = openai_completions.read_request({})
    assert (chat.request.messages, chat.unmarked_prompt) == ((text_message("user", ""),), "")


@pytest.mark.parametrize("prompt", [7, {}, [], [None], [1.5], [True], [["a"]]])
def test_what_is_no_prompt_is_refused(prompt: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        openai_completions.read_request({"prompt": prompt})
    assert caught.value.field == "prompt"


@pytest.mark.parametrize(
    "members",
    [
        {"prompt": ["a", "b"]},
        {"prompt": [1, 2]},
        {"prompt": [[1]]},
        {"prompt": "a", "suffix": "b"},
        {"prompt": "a", "echo": True},
        {"prompt": "a", "best_of": 2},
        {"prompt": "a", "logprobs": 0},
        {"prompt": "a", "n": 2},
    ],
)
def test_what_only_this_protocol_can_say_is_sent_as_it_came(members: dict[str, object]) -> None:
    chat = openai_completions.read_request({"model": "m", **members})
    assert chat.request.raw
    assert openai_completions.write_request(chat.request, stream=False) == {"model": "m", **members}


def test_members_that_ask_for_nothing_make_no_raw_request() -> None:
    chat = openai_completions.read_request({"prompt": "a", "suffix": None, "echo": False, "best_of": 1, "n": 1})
    assert (chat.request.raw, chat.request.extra, chat.request.dropped) == (False, None, ())


def test_a_marked_prompt_is_never_raw() -> None:
    chat = openai_completions.read_request({"prompt": "[Beg_User]U", "logprobs": 5, "top_k": 3})
    assert (chat.request.raw, chat.request.dropped) == (False, ("logprobs",))
    assert chat.request.extra == Extra(route="openai-chat", members={"top_k": 3})


def test_a_request_for_several_turns_is_refused_before_it_is_sent() -> None:
    messages = (text_message("user", "a"), text_message("assistant", "b"))
    with pytest.raises(ProviderRefused, match="takes one prompt"):
        openai_completions.write_request(ModelRequest(messages=messages), stream=False)


# --- replies


def test_a_reply_is_what_openais_own_package_expects() -> None:
    reply = Reply(text="hi", reason="length", usage=Usage(input_tokens=3, output_tokens=2))
    data = openai_completions.write_reply(reply, model="m", reply_id="cmpl-1", created=5)
    read = Completion.model_validate_json(data, strict=True)
    assert (read.id, read.object, read.choices[0].text, read.choices[0].finish_reason) == (
        "cmpl-1",
        "text_completion",
        "hi",
        "length",
    )
    assert (read.system_fingerprint, read.usage and read.usage.total_tokens) == ("fp_mnemoir", 5)


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": ["x"]}, {"choices": [{"index": 0}]}, piece(7)])
def test_a_reply_without_a_text_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderInvalidOutput, match="answer with"):
        openai_completions.read_reply(body)


def test_an_error_with_status_200_is_an_error() -> None:
    with pytest.raises(ProviderUnavailable, match="out of memory"):
        openai_completions.read_reply({"error": "out of memory"})


# --- streams


def test_a_stream_is_what_openais_own_package_expects() -> None:
    writer = openai_completions.StreamWriter("m", "cmpl-1", 5, True)
    assert writer.events([Thinking("hm"), ToolCallPart(index=0, id="c")]) == b""
    data = writer.events([Text('say "hi"\n'), Usage(input_tokens=3), Usage(output_tokens=2), Finished()])
    events = [line[6:] for line in data.split(b"\n\n") if line]
    assert events.pop() == b"[DONE]"
    chunks = [orjson.loads(event) for event in events]
    assert [chunk["choices"] for chunk in chunks] == [
        [{"text": 'say "hi"\n', "index": 0, "logprobs": None, "finish_reason": None}],
        [{"text": "", "index": 0, "logprobs": None, "finish_reason": "stop"}],
        [],
    ]
    assert [chunk["usage"] and chunk["usage"]["total_tokens"] for chunk in chunks] == [None, None, 5]
    assert {(chunk["id"], chunk["object"], chunk["model"]) for chunk in chunks} == {
        ("cmpl-1", "text_completion", "m")
    }


def test_an_answer_that_calls_a_tool_just_stops() -> None:
    data = openai_completions.StreamWriter("m", "cmpl-1", 5, False).events([Finished(reason="tool_calls")])
    assert b'"finish_reason":"stop"' in data
    assert b"usage" not in data


def test_a_failed_answer_ends_with_an_error_and_never_with_done() -> None:
    data = openai_completions.StreamWriter("m", "cmpl-1", 5, False).error(ProviderUnavailable("broke off"))
    assert orjson.loads(data[6:])["error"]["message"] == "broke off"


def test_a_stream_is_read_with_its_reason_and_usage() -> None:
    reader = openai_completions.AnswerReader()
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    events = reader.feed(sse(piece("a"), piece(""), piece("b", "length"), usage, b"[DONE]"))
    assert events == [Text("a"), Text("b"), Usage(input_tokens=3, output_tokens=2), Finished(reason="length")]


@pytest.mark.parametrize("given", [b"", sse(piece("a")), sse(piece("a", ""))])
def test_a_body_that_ends_early_is_never_complete(given: bytes) -> None:
    reader = openai_completions.AnswerReader("text/event-stream")
    reader.feed(given)
    with pytest.raises(ProviderUnavailable, match="ended before its answer was complete"):
        reader.end()


def test_an_event_that_cannot_be_read_is_an_error() -> None:
    for odd in (b"{not json", b"[1]", {"choices": ["x"]}, piece(7)):
        reader = openai_completions.AnswerReader()
        assert reader.feed(sse(piece("a"), {"choices": []}, {}, odd, b"[DONE]  ")) == [Text("a")]
        with pytest.raises(ProviderInvalidOutput):
            reader.end()
    with pytest.raises(ProviderUnavailable, match="boom"):
        openai_completions.AnswerReader().feed(sse({"error": "boom"}))
