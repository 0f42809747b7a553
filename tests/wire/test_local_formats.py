"""Members that servers add to OpenAI's protocol reach one that knows them unchanged, and are told of elsewhere."""

from typing import Any

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import ModelRequest
from mnemoir.wire import ollama_chat, ollama_generate, openai_chat, openai_responses
from mnemoir.wire.forwarding import Forwarding, request_for_provider
from tests.wire.samples import TOOL

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
WITH_SCHEMA: list[dict[str, Any]] = [
    {"type": "json_object", "schema": SCHEMA},
    {"type": "json_schema", "schema": SCHEMA},
    {"type": "json_schema", "schema": SCHEMA, "name": "x", "strict": True},
]
WITHOUT_SCHEMA: list[dict[str, Any]] = [
    {"type": "grammar", "grammar": "root ::= [a-z]+"},
    {"type": "regex", "pattern": "[a-z]+"},
    {"type": "regex", "regex": "[a-z]+", "more": [1]},
]


def read(**members: Any) -> ModelRequest:
    return openai_chat.read_request(
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}
    ).request


def sent(dialect: Any, provider: str, **members: Any) -> tuple[dict[str, Any], list[str]]:
    request, dropped = request_for_provider(read(**members), provider, Forwarding())
    return dialect.write_request(request, stream=False), list(dropped)


@pytest.mark.parametrize("given", [*WITH_SCHEMA, *WITHOUT_SCHEMA], ids=str)
def test_a_server_of_the_same_protocol_gets_the_format_as_it_came(given: dict[str, Any]) -> None:
    body, dropped = sent(openai_chat, "openai-chat", response_format=given)
    assert (body["response_format"], dropped) == (given, [])


@pytest.mark.parametrize("given", WITH_SCHEMA, ids=str)
def test_ollama_gets_the_schema(given: dict[str, Any]) -> None:
    body, dropped = sent(ollama_chat, "ollama", response_format=given)
    assert (body["format"], dropped) == (SCHEMA, [])


@pytest.mark.parametrize("provider", ["ollama", "ollama-chat", "ollama-generate"])
@pytest.mark.parametrize("given", WITHOUT_SCHEMA, ids=str)
def test_what_ollama_cannot_take_is_told(given: dict[str, Any], provider: str) -> None:
    dialect = ollama_generate if provider == "ollama-generate" else ollama_chat
    body, dropped = sent(dialect, provider, response_format=given)
    assert ("format" in body, dropped) == (False, ["response_format"])


@pytest.mark.parametrize("given", WITH_SCHEMA, ids=str)
def test_the_responses_protocol_gets_the_schema(given: dict[str, Any]) -> None:
    body, dropped = sent(openai_responses, "openai-responses", response_format=given)
    format_ = body["text"]["format"]
    assert (format_["type"], format_["schema"], dropped) == ("json_schema", SCHEMA, [])


@pytest.mark.parametrize("given", WITHOUT_SCHEMA, ids=str)
def test_what_the_responses_protocol_cannot_take_is_told(given: dict[str, Any]) -> None:
    body, dropped = sent(openai_responses, "openai-responses", response_format=given)
    assert ("text" in body, dropped) == (False, ["response_format"])


@pytest.mark.parametrize(
    "given",
    [
        {"type": "yaml"},
        {"type": "json_schema"},
        {"type": "json_schema", "json_schema": 7},
        {"type": "json_object", "schema": 7},
    ],
    ids=str,
)
def test_a_wrong_format_is_refused_by_its_field(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(response_format=given)
    assert str(caught.value.field).startswith("response_format.")


@pytest.mark.parametrize(
    ("choice", "told"), [("auto", []), ("none", []), ("required", ["tool_choice"]), ({"type": "x"}, ["tool_choice"])]
)
@pytest.mark.parametrize("tools", [[], None])
def test_no_tools_are_left_out_together_with_the_choice_of_one(
    choice: object, told: list[str], tools: object
) -> None:
    body, dropped = sent(openai_chat, "openai-chat", tools=tools, tool_choice=choice)
    assert (body.keys() & {"tools", "tool_choice"}, dropped) == (set(), told)


def test_the_choice_of_no_tool_sends_none_where_it_cannot_be_said() -> None:
    body, dropped = sent(ollama_chat, "ollama", tools=[TOOL], tool_choice="none")
    assert ("tools" in body, dropped) == (False, [])
    body, _ = sent(openai_chat, "openai-chat", tools=[TOOL], tool_choice="none")
    assert (body["tools"], body["tool_choice"]) == ([TOOL], "none")


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_of_minus_one_is_none_and_other_wrong_ones_are_refused(name: str) -> None:
    body, dropped = sent(openai_chat, "openai-chat", **{name: -1})
    assert (body.keys() & {"max_tokens", "max_completion_tokens"}, dropped) == (set(), [])
    for wrong in (0, -2, 1.5, "9"):
        with pytest.raises(InvalidRequest) as caught:
            read(**{name: wrong})
        assert caught.value.field == name


def test_the_newer_name_of_the_limit_counts_when_it_says_none() -> None:
    assert read(max_completion_tokens=-1, max_tokens=5).sampling.max_tokens is None


def test_each_result_has_the_tool_of_the_nearest_call_before_it() -> None:
    def call(name: str) -> dict[str, Any]:
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    result = {"role": "tool", "tool_call_id": "call_0", "content": "r"}
    history = [{"role": "user", "content": "A"}, call("w"), result, call("v"), result, call("w"), result]
    body, _ = sent(ollama_chat, "ollama", messages=history)
    assert [one["tool_name"] for one in body["messages"] if one["role"] == "tool"] == ["w", "v", "w"]
