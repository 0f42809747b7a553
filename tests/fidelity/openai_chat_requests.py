"""Every member of a request to `/v1/chat/completions`, and what becomes of it.

Places: `openai-chat`, `openai-responses` and `ollama` are servers with the built-in workflow, named by what their
model speaks. `tree` is a workflow of one node that passes on what it may, `closed tree` one that passes nothing.
"""

from collections.abc import Sequence

from tests.fidelity import openai_message_requests
from tests.fidelity.fates import SAME, USED, Json, Row, dropped, refused, to
from tests.fidelity.openai_chat_rows import SAID, member, option, row

PATH = "/v1/chat/completions"
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
_CACHE: Json = {"mode": "explicit", "ttl": "30m"}


_USED_HERE = (
    member("model", "?", every=USED),
    member("messages", [SAID], every=USED),
    member("stream", True, every=USED),
    member("stream_options", {"include_usage": True}, every=USED),
    *(
        member(name, value, every=USED)
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
    option("temperature", 0.5, responses=SAME),
    option("top_p", 0.5, responses=SAME),
    option("seed", 7),
    option("presence_penalty", 0.5),
    option("frequency_penalty", 0.5),
    option("stop", ["\n"], responses=USED),
    member(
        "max_tokens",
        9,
        responses=to(max_output_tokens=9),
        ollama=to("`options.num_predict`", options={"num_predict": 9}),
        tree=dropped("max_tokens"),
    ),
    member(
        "max_completion_tokens",
        9,
        responses=to(max_output_tokens=9),
        ollama=to("`options.num_predict`", options={"num_predict": 9}),
        tree=dropped("max_completion_tokens"),
    ),
    member("n", 2, responses=refused("n"), ollama=refused("n"), tree=refused("n"), closed=refused("n")),
    member(
        "reasoning_effort",
        "low",
        responses=to("`reasoning.effort`", reasoning={"effort": "low"}),
        ollama=to(think="low"),
    ),
    *(option(name, 2) for name in ("top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "num_ctx")),
    *(option(name, 2) for name in ("mirostat", "mirostat_tau", "mirostat_eta")),
    member("repetition_penalty", 1.1, ollama=to("`options.repeat_penalty`", options={"repeat_penalty": 1.1})),
    member("keep_alive", "5m", ollama=SAME),
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
    *(member(name, value) for name, value in _OF_OPENAI.items()),
    *(member(name, value, responses=SAME) for name, value in _OF_RESPONSES.items()),
    member("verbosity", "low", responses=to("`text.verbosity`", text={"verbosity": "low"})),
    *(member(name, ["a", {"b": None}]) for name in _LOCAL),
    row(
        "stream_options.include_obfuscation",
        {"stream_options": {"include_obfuscation": False}},
    ),
)
_TOOLS = (
    member(
        "tools",
        [_TOOL],
        responses=to("`tools`, flat", tools=[{"type": "function", **_FUNCTION}]),
        ollama=SAME,
    ),
    row(
        "tools.custom",
        {"tools": [{"type": "custom", "custom": _CUSTOM}]},
        responses=to(
            "`tools`, flat",
            tools=[{"type": "custom", **_CUSTOM, "format": {"type": "grammar", **_GRAMMAR}}],
        ),
        ollama=dropped("tools.custom"),
        closed=dropped("tools"),
    ),
    row(
        "tools.cache_control",
        {"tools": [{**_TOOL, "cache_control": {"type": "ephemeral"}}]},
        responses=dropped("tools.cache_control", tools=[{"type": "function", **_FUNCTION}]),
        ollama=SAME,
        closed=dropped("tools"),
    ),
    row(
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
    row(
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
    row(
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
    member(
        "functions",
        [_FUNCTION],
        chat=to(tools=[_TOOL]),
        responses=to("`tools`, flat", tools=[_FLAT]),
        ollama=to(tools=[_TOOL]),
    ),
    row(
        "function_call",
        {"functions": [_FUNCTION], "function_call": {"name": "weather"}},
        chat=to("`tool_choice`", tools=[_TOOL], tool_choice=_CHOICE),
        responses=to("`tool_choice`, flat", tools=[_FLAT], tool_choice={"type": "function", "name": "weather"}),
        ollama=dropped("function_call", tools=[_TOOL]),
        closed=dropped("functions", "function_call"),
    ),
)
_SHAPES = (
    member(
        "response_format",
        {"type": "json_schema", "json_schema": _SCHEMA},
        responses=to("`text.format`", text={"format": {"type": "json_schema", **_SCHEMA}}),
        ollama=to(format=_PARAMETERS),
    ),
    row(
        "response_format.json_object",
        {"response_format": {"type": "json_object"}},
        responses=to("`text.format`", text={"format": {"type": "json_object"}}),
        ollama=to(format="json"),
        closed=dropped("response_format"),
    ),
    row(
        "response_format.schema",
        {"response_format": {"type": "json_object", "schema": _PARAMETERS}},
        responses=to(
            "`text.format`", text={"format": {"type": "json_schema", "name": "answer", "schema": _PARAMETERS}}
        ),
        ollama=to(format=_PARAMETERS),
        closed=dropped("response_format"),
    ),
    row(
        "response_format.grammar",
        {"response_format": {"type": "grammar", "grammar": "root ::= [a-z]+"}},
        responses=dropped("response_format"),
        ollama=dropped("response_format"),
        closed=dropped("response_format"),
    ),
)
_NEVER_SENT = tuple(
    member(name, "canary", chat=dropped(name))
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
    *openai_message_requests.ROWS,
    *_NEVER_SENT,
)
