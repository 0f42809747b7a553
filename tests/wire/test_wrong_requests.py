"""Wrong requests: each is refused with the field's name, and none ends in an error of another kind."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.errors import InvalidRequest
from mnemoir.wire import (
    ollama_chat,
    ollama_embed,
    ollama_generate,
    openai_chat,
    openai_completions,
    openai_embeddings,
)

READERS: list[Callable[[Any], object]] = [
    openai_chat.read_request,
    openai_completions.read_request,
    ollama_chat.read_request,
    ollama_generate.read_request,
    openai_embeddings.read_request,
    ollama_embed.read_request,
    ollama_embed.read_prompt_request,
]
FIELDS = [
    "model", "messages", "stream", "stream_options", "temperature", "top_p", "max_tokens", "max_completion_tokens",
    "stop", "seed", "tools", "tool_choice", "response_format", "reasoning_effort", "user", "n",
    "options",
    "format", "think", "prompt", "system", "images", "input", "encoding_format", "dimensions", "memoryEnabled",
]  # fmt: skip
INNER = [
    "role", "content", "name", "tool_calls", "tool_call_id", "type", "text", "image_url", "url", "source", "function",
    "arguments", "id", "images", "json_schema", "schema", "include_usage", "num_predict", "temperature", "stop",
]  # fmt: skip
LEAVES = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        7,
        1e99,
        0.5,
        "",
        "x",
        "user",
        "tool",
        "text",
        "image_url",
        "json_schema",
        "\ud800",
        "\0",
    ]
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=4),
    max_leaves=12,
)
NEARLY_RIGHT = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "input": "a", "prompt": "a"}


@pytest.mark.parametrize("read", READERS, ids=lambda read: f"{read.__module__.rpartition('.')[2]}.{read.__name__}")
@settings(max_examples=40, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4), bare=st.booleans())
def test_any_json_is_read_or_refused_by_its_field(
    read: Callable[[Any], object], changes: dict[str, Any], bare: bool
) -> None:
    refused = None
    try:
        read(changes if bare else {**NEARLY_RIGHT, **changes})
    except InvalidRequest as exc:
        refused = exc
    assert refused is None or (refused.field or "").split(".")[0].split("[")[0] in {*FIELDS, "body"}


@pytest.mark.parametrize("body", [[], None, "x", 7, True])
@pytest.mark.parametrize("read", READERS)
def test_a_body_that_is_no_object_is_refused(read: Callable[[Any], object], body: object) -> None:
    with pytest.raises(InvalidRequest, match="body must be an object"):
        read(body)


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ("hi", "messages"),
        (7, "messages"),
        (None, "messages"),
        ({}, "messages"),
        ([], "messages"),
        ([7], "messages[0]"),
        ([None], "messages[0]"),
        ([{}], "messages[0].role"),
        ([{"role": "king", "content": "hi"}], "messages[0].role"),
        ([{"role": ["user"], "content": "hi"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 7}], "messages[0].content"),
        ([{"role": "user", "content": {"text": "hi"}}], "messages[0].content"),
        ([{"role": "user", "content": ["hi"]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": [{"type": 7}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0].image_url"),
        ([{"role": "user", "content": "\ud800"}], "messages[0].content"),
        ([{"role": "assistant", "tool_calls": [{}]}], "messages[0].tool_calls[0].function"),
    ],
    ids=str,
)
def test_wrong_messages_are_refused_by_their_field(messages: object, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        openai_chat.read_request({"model": "m", "messages": messages})
    assert caught.value.field == field
    assert field in caught.value.message


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("temperature", "hot"),
        ("temperature", True),
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("seed", 1e99),
        ("stop", [7]),
        ("stream", "yes"),
        ("tools", {"a": 1}),
        ("tool_choice", 7),
        ("response_format", {"type": "xml"}),
        ("n", 9),
        ("user", 1.5),
        ("user", {}),
    ],
)
def test_a_wrong_option_is_refused_by_its_field(member: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        openai_chat.read_request({**NEARLY_RIGHT, member: value})
    assert str(caught.value.field).startswith(member)
