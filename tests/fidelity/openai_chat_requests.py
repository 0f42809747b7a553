"""Every member of a request to `/v1/chat/completions`, and what becomes of it.

Places: `openai-chat`, `openai-responses` and `ollama` are servers with the built-in workflow, named by what their
model speaks. `tree` is a workflow of one node that passes on what it may, `closed tree` one that passes nothing.
"""

from collections.abc import Sequence

from tests.fidelity.fates import SAME, USED, Fate, Json, Row, dropped, refused, to

PATH = "/v1/chat/completions"
SAID: Json = {"role": "user", "content": "Hello"}
PLAIN: Json = {"model": "?", "messages": [SAID]}
PLACES = ("openai-chat", "openai-responses", "ollama", "tree", "closed tree")

_PARAMETERS: Json = {"type": "object", "properties": {"city": {"type": "string"}}}
_FUNCTION: Json = {"name": "weather", "description": "Now", "parameters": _PARAMETERS, "strict": False}
_TOOL: Json = {"type": "function", "function": _FUNCTION}
_GRAMMAR: Json = {"syntax": "lark", "definition": "start: WORD"}
_CUSTOM: Json = {"name": "poem", "description": "Free text", "format": {"type": "grammar", "grammar": _GRAMMAR}}
_CHOICE: Json = {"type": "function", "function": {"name": "weather"}}
_ALLOWED: Json = {"mode": "auto", "tools": [_CHOICE]}
_SCHEMA: Json = {"name": "place", "schema": _PARAMETERS, "strict": True, "description": "Where"}
_DATA = "iVBORw0KGgo="
_URL = f"data:image/png;base64,{_DATA}"
_CACHE: Json = {"mode": "explicit", "ttl": "30m"}


def _row(name: str, given: Json, **fates: Fate) -> Row:
    """Passed to the same protocol and told to others, where nothing else is said.

    `chat` is the built-in workflow, `tree` like it where nothing else is said, `every` all places.
    """
    every = fates.get("every")
    chat, told = fates.get("chat", every or SAME), every or dropped(name)
    return Row(
        name=name,
        given=given,
        fates={
            "openai-chat": chat,
            "openai-responses": fates.get("responses", told),
            "ollama": fates.get("ollama", told),
            "tree": fates.get("tree", chat),
            "closed tree": fates.get("closed", told),
        },
    )


def _member(name: str, value: object, **fates: Fate) -> Row:
    """A member of the body itself."""
    return _row(name, {name: value}, **fates)


def _option(name: str, value: object, **fates: Fate) -> Row:
    """A member that Ollama takes among its options."""
    return _member(name, value, ollama=to(f"`options.{name}`", options={name: value}), **fates)


def _said(name: str, *messages: Json, **fates: Fate) -> Row:
    """A member within the messages, which stand in front of a question."""
    return _row(name, {"messages": [*messages, SAID]}, **fates)


def _part(name: str, part: Json, **fates: Fate) -> Row:
    """A member within the parts of the question."""
    return _row(name, {"messages": [{"role": "user", "content": [{"type": "text", "text": "Look:"}, part]}]}, **fates)


def _as_input(*items: Json) -> Json:
    return {"input": [*items, SAID]}


def _as_messages(*messages: Json) -> Json:
    return {"messages": [*messages, SAID]}


_USED_HERE = (
    _member("model", "?", every=USED),
    _member("messages", [SAID], every=USED),
    _member("stream", True, every=USED),
    _member("stream_options", {"include_usage": True}, every=USED),
    *(
        _member(name, value, every=USED)
        for name, value in {
            "store": False,
            "user": "alex",
            "metadata": {"topic": "bees"},
            "memoryEnabled": False,
            "history": "client",
            "conversation_id": "",
        }.items()
    ),
)
_SAMPLING = (
    _option("temperature", 0.5, responses=SAME),
    _option("top_p", 0.5, responses=SAME),
    _option("seed", 7),
    _option("presence_penalty", 0.5),
    _option("frequency_penalty", 0.5),
    _option("stop", ["\n"], responses=USED),
    _member(
        "max_tokens",
        9,
        responses=to(max_output_tokens=9),
        ollama=to("`options.num_predict`", options={"num_predict": 9}),
        tree=dropped("max_tokens"),
    ),
    _member(
        "max_completion_tokens",
        9,
        chat=to(max_tokens=9),
        responses=to(max_output_tokens=9),
        ollama=to("`options.num_predict`", options={"num_predict": 9}),
        tree=dropped("max_completion_tokens"),
    ),
    _member("n", 2, responses=refused("n"), ollama=refused("n"), tree=refused("n"), closed=refused("n")),
    _member(
        "reasoning_effort",
        "low",
        responses=to("`reasoning.effort`", reasoning={"effort": "low"}),
        ollama=to(think="low"),
    ),
    *(_option(name, 2) for name in ("top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "num_ctx")),
    *(_option(name, 2) for name in ("mirostat", "mirostat_tau", "mirostat_eta")),
    _member("repetition_penalty", 1.1, ollama=to("`options.repeat_penalty`", options={"repeat_penalty": 1.1})),
    _member("keep_alive", "5m", ollama=SAME),
)
_LOCAL = (
    *("dry_multiplier", "xtc_probability", "guided_choice", "grammar", "json_schema", "structured_outputs"),
    *("cache_prompt", "id_slot", "ignore_eos", "min_tokens", "continue_final_message", "samplers"),
    *("chat_template_kwargs", "thinking", "reasoning", "provider", "a_name_of_tomorrow"),
)
_OF_OPENAI: Json = {
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "prediction": {"type": "content", "content": "Hello"},
    "modalities": ["text", "audio"],
    "audio": {"voice": "alloy", "format": "wav"},
    "web_search_options": {"search_context_size": "low"},
}
_OF_RESPONSES: Json = {
    "parallel_tool_calls": False,
    "service_tier": "flex",
    "safety_identifier": "h-1",
    "moderation": {"model": "m"},
    "prompt_cache_key": "k",
    "prompt_cache_options": _CACHE,
    "prompt_cache_retention": "24h",
}
_UNUSED = (
    *(_member(name, value) for name, value in _OF_OPENAI.items()),
    *(_member(name, value, responses=SAME) for name, value in _OF_RESPONSES.items()),
    _member("verbosity", "low", responses=to("`text.verbosity`", text={"verbosity": "low"})),
    *(_member(name, ["a", {"b": None}]) for name in _LOCAL),
    _row(
        "stream_options.include_obfuscation",
        {"stream_options": {"include_obfuscation": False}},
    ),
)
_TOOLS = (
    _member(
        "tools",
        [_TOOL],
        responses=to("`tools`, flat", tools=[{"type": "function", **_FUNCTION}]),
        ollama=SAME,
    ),
    _row(
        "tools.custom",
        {"tools": [{"type": "custom", "custom": _CUSTOM}]},
        responses=to(
            "`tools`, flat",
            tools=[{"type": "custom", **_CUSTOM, "format": {"type": "grammar", **_GRAMMAR}}],
        ),
        ollama=dropped("tools.custom"),
        closed=dropped("tools"),
    ),
    _row(
        "tools.cache_control",
        {"tools": [{**_TOOL, "cache_control": {"type": "ephemeral"}}]},
        responses=dropped("tools.cache_control", tools=[{"type": "function", **_FUNCTION}]),
        ollama=SAME,
        closed=dropped("tools"),
    ),
    _row(
        "tool_choice",
        {"tools": [_TOOL], "tool_choice": _CHOICE},
        responses=to(
            "`tool_choice`, flat",
            tools=[{"type": "function", **_FUNCTION}],
            tool_choice={"type": "function", "name": "weather"},
        ),
        ollama=dropped("tool_choice", tools=[_TOOL]),
        closed=dropped("tools", "tool_choice"),
    ),
    _row(
        "tool_choice.allowed_tools",
        {"tools": [_TOOL], "tool_choice": {"type": "allowed_tools", "allowed_tools": _ALLOWED}},
        responses=to(
            "`tool_choice`, flat",
            tools=[{"type": "function", **_FUNCTION}],
            tool_choice={**_ALLOWED, "type": "allowed_tools", "tools": [{"type": "function", "name": "weather"}]},
        ),
        ollama=dropped("tool_choice", tools=[_TOOL]),
        closed=dropped("tools", "tool_choice"),
    ),
    _row(
        "tool_choice.custom",
        {"tools": [_TOOL], "tool_choice": {"type": "custom", "custom": {"name": "poem"}}},
        responses=to(
            "`tool_choice`, flat",
            tools=[{"type": "function", **_FUNCTION}],
            tool_choice={"type": "custom", "name": "poem"},
        ),
        ollama=dropped("tool_choice", tools=[_TOOL]),
        closed=dropped("tools", "tool_choice"),
    ),
)
_FLAT: Json = {"type": "function", **_FUNCTION}
_FUNCTIONS = (
    _member(
        "functions",
        [_FUNCTION],
        chat=to(tools=[_TOOL]),
        responses=to("`tools`, flat", tools=[_FLAT]),
        ollama=to(tools=[_TOOL]),
    ),
    _row(
        "function_call",
        {"functions": [_FUNCTION], "function_call": {"name": "weather"}},
        chat=to("`tool_choice`", tools=[_TOOL], tool_choice=_CHOICE),
        responses=to("`tool_choice`, flat", tools=[_FLAT], tool_choice={"type": "function", "name": "weather"}),
        ollama=dropped("function_call", tools=[_TOOL]),
        closed=dropped("functions", "function_call"),
    ),
)
_SHAPES = (
    _member(
        "response_format",
        {"type": "json_schema", "json_schema": _SCHEMA},
        responses=to("`text.format`", text={"format": {"type": "json_schema", **_SCHEMA}}),
        ollama=to(format=_PARAMETERS),
    ),
    _row(
        "response_format.json_object",
        {"response_format": {"type": "json_object"}},
        responses=to("`text.format`", text={"format": {"type": "json_object"}}),
        ollama=to(format="json"),
        closed=dropped("response_format"),
    ),
)
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
    _row(
        "messages.content.text",
        _asked([_TEXT]),
        responses=to("`input_text`", input=[{"role": "user", "content": "Look:"}]),
        ollama=to("the text", **_asked("Look:")),
        closed=to("the text", **_asked("Look:")),
    ),
    _row(
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
_NEVER_SENT = tuple(
    _member(name, "canary", chat=dropped(name))
    for name in (
        *("api_key", "api_base", "base_url", "extra_headers", "headers", "organization", "fallbacks"),
        *("model_list", "user_config", "chat_template"),
    )
)

ROWS: Sequence[Row] = (
    *_USED_HERE,
    *_SAMPLING,
    *_UNUSED,
    *_TOOLS,
    *_FUNCTIONS,
    *_SHAPES,
    *_MESSAGES,
    _LEGACY,
    *_PARTS,
    *_NEVER_SENT,
)
