"""The Responses API from the client's side: the request of the reference, and every way an answer can end."""

from typing import Any

import orjson
import pytest

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput, ProviderRefused, ProviderUnavailable
from mnemoir.core.events import Finished, Refusal, Reply, Text, Thinking, ToolCallPart, Usage
from mnemoir.core.messages import (
    ImagePart,
    JsonSchema,
    Message,
    ModelRequest,
    Sampling,
    TextPart,
    ToolCall,
    text_message,
)
from mnemoir.wire import openai_responses
from mnemoir.wire.upstream import QuotaExhausted, is_passing
from tests.narrowing import instance
from tests.wire.samples import CLOSED, TOOL


def sse(*events: object) -> bytes:
    return b"".join(b"event: x\ndata: " + orjson.dumps(event) + b"\n\n" for event in events)


def message_item(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def completed(*output: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"status": "completed", "output": [{"type": "reasoning", "summary": []}, *output], **members}


def said(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def test_an_extraction_request_has_the_documented_shape() -> None:
    request = ModelRequest(
        model="gpt-5-mini",
        messages=(text_message("system", "policy"), text_message("user", "turns")),
        sampling=Sampling(temperature=0.7, top_p=0.5, max_tokens=4000, stop=("x",), seed=1),
        output=JsonSchema(name="memory_facts", schema=CLOSED, strict=True),
        think=False,
    )
    form = {"type": "json_schema", "name": "memory_facts", "strict": True, "schema": CLOSED}
    assert openai_responses.write_request(request, stream=False) == {
        "model": "gpt-5-mini",
        "instructions": "policy",
        "input": [{"role": "user", "content": "turns"}],
        "text": {"format": form},
        "reasoning": {"effort": "minimal"},
        "max_output_tokens": 4000,
        "store": False,
    }


def test_a_conversation_with_pictures_and_tools_becomes_items() -> None:
    request = ModelRequest(
        model="gpt-4o",
        messages=(
            Message(role="user", parts=(TextPart(text="look"), ImagePart(url="https://x.example/a.png"))),
            Message(
                role="assistant",
                parts=(TextPart(text="one moment"),),
                tool_calls=(ToolCall(id="c1", name="look", arguments="{}"),),
            ),
            Message(role="tool", parts=(TextPart(text="a cat"),), tool_call_id="c1"),
            Message(role="tool", parts=(TextPart(text="seen"), ImagePart(url="data:image/png,a")), tool_call_id="c1"),
            text_message("developer", "be brief"),
        ),
        sampling=Sampling(temperature=0.5),
        tools=(TOOL,),
        tool_choice={"type": "function", "function": {"name": "look"}},
    )
    body = openai_responses.write_request(request, stream=True)
    picture = {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "auto"}
    shot = {"type": "input_image", "image_url": "data:image/png,a", "detail": "auto"}
    assert body["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "look"}, picture]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "one moment"}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "seen"}, shot]},
        {"role": "developer", "content": "be brief"},
    ]
    assert body["tools"] == [
        {"type": "function", "name": "look", "parameters": instance(dict, TOOL["function"])["parameters"]}
    ]
    assert body["tool_choice"] == {"type": "function", "name": "look"}
    assert (body["temperature"], body["store"], body["stream"]) == (0.5, False, True)


def test_the_texts_of_all_messages_are_joined_and_other_items_skipped() -> None:
    usage = {"input_tokens": 812, "input_tokens_details": {"cached_tokens": 640}, "output_tokens": 21}
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    body = completed(message_item(said("a"), said("b")), {"type": "web_search_call"}, call, usage=usage)
    assert openai_responses.read_reply(body) == Reply(
        text="ab",
        reason="tool_calls",
        tool_calls=(ToolCall(id="c1", name="look", arguments="{}"),),
        usage=Usage(input_tokens=812, output_tokens=21, cached_tokens=640),
        notes=("An item of the answer is of the type 'web_search_call', which is not read; it was left out.",),
    )


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        (completed(message_item({"type": "refusal", "refusal": "no"})), "", "stop"),
        (
            completed(
                message_item(said("cut")),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
            "cut",
            "length",
        ),
        (completed(status="incomplete", incomplete_details={"reason": "content_filter"}), "", "content_filter"),
        (completed(status="incomplete", incomplete_details=None), "", "length"),
        (completed(message_item(said(""))), "", "stop"),
    ],
)
def test_an_answer_that_stopped_for_another_reason_says_so(body: dict[str, Any], text: str, reason: str) -> None:
    body["status"] = "incomplete" if "incomplete_details" in body else "completed"
    reply = openai_responses.read_reply(body)
    assert (reply.text, reply.reason) == (text, reason)


@pytest.mark.parametrize(
    ("code", "kind", "passing"),
    [
        ("rate_limit_exceeded", ProviderRefused, True),
        ("server_error", ProviderUnavailable, True),
        ("insufficient_quota", QuotaExhausted, False),
        ("invalid_prompt", ProviderRefused, False),
    ],
)
def test_a_failed_response_tells_whether_to_try_again(code: str, kind: type[ProviderError], passing: bool) -> None:
    body = {"status": "failed", "output": [], "error": {"code": code, "message": "the words"}}
    with pytest.raises(kind, match="the words") as caught:
        openai_responses.read_reply(body)
    assert is_passing(caught.value) is passing


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "completed"},
        {"output": []},
        completed(),
        completed(message_item({"type": "output_text", "text": 4})),
    ],
)
def test_a_response_without_an_answer_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderInvalidOutput):
        openai_responses.read_reply(body)


def test_a_stream_of_text_thinking_and_a_call() -> None:
    item = {"type": "function_call", "id": "f", "call_id": "c1", "name": "look", "arguments": ""}
    done = {**item, "arguments": "{}"}
    last = {"status": "completed", "usage": {"input_tokens": 3, "output_tokens": 2}}
    reader = openai_responses.AnswerReader()
    events = reader.feed(
        sse(
            {"type": "response.created", "response": {}},
            {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
            {"type": "response.output_text.delta", "delta": "a"},
            {"type": "response.output_item.added", "output_index": 4, "item": item},
            {"type": "response.function_call_arguments.delta", "output_index": 4, "delta": "{}"},
            {"type": "response.output_item.done", "output_index": 4, "item": done},
            {"type": "response.output_item.done", "output_index": 5, "item": {**done, "call_id": "c2"}},
            {"type": "response.completed", "response": last},
        )
    )
    assert events == [
        Thinking("hm"),
        Text("a"),
        ToolCallPart(index=0, id="c1", name="look"),
        ToolCallPart(index=0, arguments="{}"),
        ToolCallPart(index=1, id="c2", name="look"),
        ToolCallPart(index=1, arguments="{}"),
        Usage(input_tokens=3, output_tokens=2),
        Finished(reason="tool_calls"),
    ]
    assert reader.end() == []


def test_an_incomplete_stream_ends_with_its_reason() -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    events = openai_responses.AnswerReader().feed(sse({"type": "response.incomplete", "response": response}))
    assert events[-1] == Finished(reason="length")


def test_a_refusal_in_a_stream_stays_one() -> None:
    events = openai_responses.AnswerReader().feed(
        sse(
            {"type": "response.refusal.delta", "delta": "I can not"},
            {"type": "response.refusal.done", "refusal": "I can not"},
            {"type": "response.completed", "response": {"status": "completed"}},
        )
    )
    assert events == [Refusal("I can not"), Usage(), Finished()]


def test_a_refusal_that_comes_without_pieces_is_read_at_its_end() -> None:
    events = openai_responses.AnswerReader().feed(sse({"type": "response.refusal.done", "refusal": "No."}))
    assert events == [Refusal("No.")]


def test_later_system_messages_stay_in_their_place() -> None:
    talk = [text_message("system", "A"), text_message("developer", "B"), text_message("user", "hi")]
    request = ModelRequest(messages=[*talk, text_message("system", "LATE"), text_message("user", "so?")])
    body = openai_responses.write_request(request, stream=False)
    assert body["instructions"] == "A\n\nB"
    assert body["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "LATE"},
        {"role": "user", "content": "so?"},
    ]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "slow down"}}},
        {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
        {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
        {"error": {"code": "rate_limit_exceeded", "message": "slow down"}},
    ],
)
def test_a_failure_in_a_stream_keeps_the_servers_words(event: dict[str, Any]) -> None:
    with pytest.raises(ProviderRefused, match="slow down") as caught:
        openai_responses.AnswerReader().feed(sse(event))
    assert caught.value.code == "llm_rate_limited"


def test_a_stream_that_ends_early_is_never_complete() -> None:
    reader = openai_responses.AnswerReader()
    reader.feed(sse({"type": "response.output_text.delta", "delta": "a"}))
    with pytest.raises(ProviderUnavailable, match="ended before its answer was complete"):
        reader.end()
