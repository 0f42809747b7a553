"""Every member of the messages of a request to `/v1/chat/completions` and of their parts, and what becomes of it."""

from collections.abc import Sequence

from tests.fidelity.fates import SAME, Fate, Json, Row, dropped, refused, to
from tests.fidelity.openai_chat_rows import SAID, row

_DATA = "iVBORw0KGgo="
_URL = f"data:image/png;base64,{_DATA}"
_CACHE: Json = {"mode": "explicit", "ttl": "30m"}


def _said(name: str, *messages: Json, **fates: Fate) -> Row:
    """A member within the messages, which stand in front of a question."""
    return row(name, {"messages": [*messages, SAID]}, **fates)


def _part(name: str, part: Json, **fates: Fate) -> Row:
    """A member within the parts of the question."""
    return row(name, {"messages": [{"role": "user", "content": [{"type": "text", "text": "Look:"}, part]}]}, **fates)


def _as_input(*items: Json) -> Json:
    return {"input": [*items, SAID]}


def _as_messages(*messages: Json) -> Json:
    return {"messages": [*messages, SAID]}


_CALL: Json = {"id": "call_7", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Graz"}'}}
_CALLED: Json = {"role": "assistant", "content": None, "tool_calls": [_CALL]}
_RESULT: Json = {"role": "tool", "tool_call_id": "call_7", "content": "Snow"}
_ITEM: Json = {"type": "function_call", "call_id": "call_7", "name": "weather", "arguments": '{"city": "Graz"}'}
_OUTPUT: Json = {"type": "function_call_output", "call_id": "call_7", "output": "Snow"}
_OLLAMA_CALLED: Json = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "call_7", "function": {"index": 0, "name": "weather", "arguments": {"city": "Graz"}}}],
}
_OLLAMA_RESULT: Json = {"role": "tool", "content": "Snow", "tool_call_id": "call_7", "tool_name": "weather"}
_FREE: Json = {"id": "call_7", "type": "custom", "custom": {"name": "weather", "input": "Graz"}}
_EXTRA: Json = {"google": {"thought_signature": "x"}}
_HELLO: Json = {"role": "user", "content": "Hello?"}
_MESSAGES = (
    _said(
        "a developer message",
        {"role": "developer", "content": "Be brief."},
        responses=to(instructions="Be brief."),
        ollama=to("`system`", **_as_messages({"role": "system", "content": "Be brief."})),
        tree=to("the workflow's"),
        closed=to("the workflow's"),
    ),
    _said(
        "a later system message",
        _HELLO,
        {"role": "system", "content": "Late."},
        responses=to("in its place", **_as_input(_HELLO, {"role": "system", "content": "Late."})),
        ollama=SAME,
        closed=SAME,
    ),
    _said(
        "messages.name",
        {**_HELLO, "name": "ann"},
        responses=dropped("messages.name", **_as_input(_HELLO)),
        ollama=dropped("messages.name", **_as_messages(_HELLO)),
        closed=SAME,
    ),
    _said(
        "messages.refusal",
        _HELLO,
        {"role": "assistant", "content": None, "refusal": "No."},
        responses=to(
            "the text",
            **_as_input(_HELLO, {"role": "assistant", "content": [{"type": "output_text", "text": "No."}]}),
        ),
        ollama=to("the text", **_as_messages(_HELLO, {"role": "assistant", "content": "No."})),
        closed=to("the text", **_as_messages(_HELLO, {"role": "assistant", "content": "No."})),
    ),
    _said(
        "messages.content.refusal",
        _HELLO,
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        responses=to(
            "the part",
            **_as_input(_HELLO, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
        ),
        ollama=to("the text", **_as_messages(_HELLO, {"role": "assistant", "content": "No."})),
        closed=to("the text", **_as_messages(_HELLO, {"role": "assistant", "content": "No."})),
    ),
    *(
        _said(
            f"messages.{name}",
            _HELLO,
            {"role": "assistant", "content": "Hi.", name: value},
            responses=dropped(
                f"messages.{name}",
                **_as_input(_HELLO, {"role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}),
            ),
            ollama=dropped(f"messages.{name}", **_as_messages(_HELLO, {"role": "assistant", "content": "Hi."})),
            closed=dropped(f"messages.{name}", **_as_messages(_HELLO, {"role": "assistant", "content": "Hi."})),
        )
        for name, value in {"audio": {"id": "a-1"}, "reasoning_content": "Hm.", "reasoning_details": [1]}.items()
    ),
    _said(
        "messages.tool_calls",
        _HELLO,
        _CALLED,
        _RESULT,
        responses=to("`function_call`", **_as_input(_HELLO, _ITEM, _OUTPUT)),
        ollama=to("`tool_calls`, an object", **_as_messages(_HELLO, _OLLAMA_CALLED, _OLLAMA_RESULT)),
        closed=SAME,
    ),
    _said(
        "messages.tool_calls.custom",
        _HELLO,
        {**_CALLED, "tool_calls": [_FREE]},
        _RESULT,
        responses=to(
            "`custom_tool_call`",
            **_as_input(
                _HELLO,
                {"type": "custom_tool_call", "call_id": "call_7", "name": "weather", "input": "Graz"},
                {"type": "custom_tool_call_output", "call_id": "call_7", "output": "Snow"},
            ),
        ),
        ollama=refused("messages.tool_calls"),
        closed=SAME,
    ),
    _said(
        "messages.tool_calls.extra_content",
        _HELLO,
        {**_CALLED, "tool_calls": [{**_CALL, "extra_content": _EXTRA}]},
        _RESULT,
        responses=dropped("messages.tool_calls.extra_content", **_as_input(_HELLO, _ITEM, _OUTPUT)),
        ollama=dropped("messages.tool_calls.extra_content", **_as_messages(_HELLO, _OLLAMA_CALLED, _OLLAMA_RESULT)),
        closed=dropped("messages.tool_calls.extra_content", **_as_messages(_HELLO, _CALLED, _RESULT)),
    ),
)
_FUNCTION_CALLED: Json = {"role": "assistant", "content": None, "function_call": _CALL["function"]}
_FIRST: Json = {**_CALL, "id": "call_1"}
_AS_TOOLS = _as_messages(
    _HELLO, {**_CALLED, "tool_calls": [_FIRST]}, {"role": "tool", "content": "Snow", "tool_call_id": "call_1"}
)
_LEGACY = _said(
    "messages.function_call",
    _HELLO,
    _FUNCTION_CALLED,
    {"role": "function", "name": "weather", "content": "Snow"},
    chat=to("`tool_calls`", **_AS_TOOLS),
    responses=to(
        "`function_call`", **_as_input(_HELLO, {**_ITEM, "call_id": "call_1"}, {**_OUTPUT, "call_id": "call_1"})
    ),
    ollama=to(
        "`tool_calls`, an object",
        **_as_messages(
            _HELLO,
            {**_OLLAMA_CALLED, "tool_calls": [{**_OLLAMA_CALLED["tool_calls"][0], "id": "call_1"}]},
            {**_OLLAMA_RESULT, "tool_call_id": "call_1"},
        ),
    ),
    closed=to("`tool_calls`", **_AS_TOOLS),
)
_TEXT: Json = {"type": "text", "text": "Look:"}
_INPUT_TEXT: Json = {"type": "input_text", "text": "Look:"}


def _asked(content: object) -> Json:
    return {"messages": [{"role": "user", "content": content}]}


def _input(*content: Json) -> Json:
    return {"input": [{"role": "user", "content": list(content)}]}


_WITH_PICTURE: Json = {"messages": [{"role": "user", "content": "Look:", "images": [_DATA]}]}
_PARTS = (
    row(
        "messages.content.text",
        _asked([_TEXT]),
        responses=to("`input_text`", input=[{"role": "user", "content": "Look:"}]),
        ollama=to("the text", **_asked("Look:")),
        closed=to("the text", **_asked("Look:")),
    ),
    row(
        "messages.content.prompt_cache_breakpoint",
        _asked([{**_TEXT, "prompt_cache_breakpoint": _CACHE}]),
        responses=dropped("messages.content.prompt_cache_breakpoint", input=[{"role": "user", "content": "Look:"}]),
        ollama=dropped("messages.content.prompt_cache_breakpoint", **_asked("Look:")),
        closed=dropped("messages.content.prompt_cache_breakpoint", **_asked("Look:")),
    ),
    _part(
        "messages.content.image_url",
        {"type": "image_url", "image_url": {"url": _URL, "detail": "low"}},
        responses=to(
            "`input_image`", **_input(_INPUT_TEXT, {"type": "input_image", "image_url": _URL, "detail": "low"})
        ),
        ollama=to("`images`", **_WITH_PICTURE),
        closed=dropped("messages.content.image_url", **_asked("Look:")),
    ),
    _part(
        "messages.content.image_url.format",
        {"type": "image_url", "image_url": {"url": _URL, "detail": "low", "format": "png"}},
        responses=dropped(
            "messages.content.image_url.format",
            **_input(_INPUT_TEXT, {"type": "input_image", "image_url": _URL, "detail": "low"}),
        ),
        ollama=dropped("messages.content.image_url.format", **_WITH_PICTURE),
        closed=dropped("messages.content.image_url", **_asked("Look:")),
    ),
    *(
        _part(
            f"messages.content.{kind}",
            {"type": kind, kind: value},
            responses=refused(kind),
            ollama=refused(kind),
            closed=refused(kind),
        )
        for kind, value in {
            "input_audio": {"data": "AAAA", "format": "wav"},
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            "video_url": {"url": "https://example.org/a.mp4"},
        }.items()
    ),
)

ROWS: Sequence[Row] = (*_MESSAGES, _LEGACY, *_PARTS)
