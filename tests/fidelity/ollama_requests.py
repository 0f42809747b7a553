"""Every member of a request to Ollama's `/api/chat` and `/api/generate`, and what becomes of it.

A prompt is answered as a chat. With a member that only `/api/generate` has it goes on raw to the same route.
"""

from collections.abc import Sequence
from types import SimpleNamespace

from tests.fidelity.fates import SAME, USED, Fate, Json, Row, dropped, raw, to

_SAID: Json = {"role": "user", "content": "Hello"}
_DATA = "iVBORw0KGgo="
_URL = f"data:image/png;base64,{_DATA}"
_TEXTS: Sequence[Json] = ({"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {"url": _URL}})
_INPUTS: Sequence[Json] = (
    {"type": "input_text", "text": "Hello"},
    {"type": "input_image", "image_url": _URL, "detail": "auto"},
)
_PARAMETERS: Json = {"type": "object", "properties": {"city": {"type": "string"}}}
_FUNCTION: Json = {"name": "weather", "description": "Now", "parameters": _PARAMETERS}
_TOOL: Json = {"type": "function", "function": _FUNCTION}


def _row(name: str, given: Json, **fates: Fate) -> Row:
    """Passed to an Ollama and told to others, where nothing else is said; `every` is said of all places."""
    every = fates.get("every")
    same, told = fates.get("ollama") or every or SAME, every or dropped(name)
    return Row(
        name=name,
        given=given,
        fates={
            "ollama": same,
            "openai-chat": fates.get("chat") or told,
            "openai-responses": fates.get("responses") or told,
            "ollama tree": fates.get("tree") or same,
            "closed ollama tree": fates.get("closed") or told,
        },
    )


def _member(name: str, value: object, **fates: Fate) -> Row:
    return _row(name, {name: value}, **fates)


def _option(name: str, value: object, **fates: Fate) -> Row:
    return _row(f"options.{name}", {"options": {name: value}}, **fates)


def _sampling(name: str, value: object, **fates: Fate) -> Row:
    """An option that OpenAI's chat has as a member."""
    return _option(name, value, chat=to(**{name: value}), **fates)


_UNUSED_OPTIONS = (
    *("numa", "num_ctx", "num_batch", "num_gpu", "main_gpu", "low_vram", "f16_kv", "logits_all", "vocab_only"),
    *("use_mmap", "use_mlock", "embedding_only", "num_thread", "num_keep", "top_k", "tfs_z", "typical_p", "min_p"),
    *("repeat_last_n", "repeat_penalty", "mirostat", "mirostat_tau", "mirostat_eta", "penalize_newline"),
    "an_option_of_tomorrow",
)
SHARED: Sequence[Row] = (
    _member("model", "?", every=USED),
    _member("stream", True, every=USED),
    *(
        _member(name, value, every=USED)
        for name, value in {"store": False, "user": "alex", "metadata": {"a": "b"}, "memoryEnabled": False}.items()
    ),
    _sampling("temperature", 0.5, responses=to(temperature=0.5)),
    _sampling("top_p", 0.5, responses=to(top_p=0.5)),
    _sampling("seed", 7),
    _sampling("presence_penalty", 0.5),
    _sampling("frequency_penalty", 0.5),
    _sampling("stop", ["\n"], responses=USED),
    _option(
        "num_predict",
        9,
        chat=to(max_tokens=9),
        responses=to(max_output_tokens=9),
        tree=dropped("options.num_predict"),
    ),
    *(_option(name, 3) for name in _UNUSED_OPTIONS),
    _member("keep_alive", "5m"),
    _member("logprobs", True),
    _member("top_logprobs", 2),
    _member("a_name_of_tomorrow", [1, {"a": None}]),
    _member(
        "think",
        "high",
        chat=to(reasoning_effort="high"),
        responses=to("`reasoning.effort`", reasoning={"effort": "high"}),
    ),
    _row(
        "think of true", {"think": True}, chat=dropped("think"), responses=dropped("think"), closed=dropped("think")
    ),
    _member(
        "format",
        _PARAMETERS,
        chat=to(response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": _PARAMETERS}}),
        responses=to(
            "`text.format`", text={"format": {"type": "json_schema", "name": "answer", "schema": _PARAMETERS}}
        ),
    ),
    _row(
        "format of json",
        {"format": "json"},
        chat=to(response_format={"type": "json_object"}),
        responses=to("`text.format`", text={"format": {"type": "json_object"}}),
        closed=dropped("format"),
    ),
    _member("api_key", "canary", ollama=dropped("api_key")),
)

_CALL: Json = {"function": {"name": "weather", "arguments": {"city": "Graz"}}}
_HELLO: Json = {"role": "user", "content": "Hello?"}
_CALLED: Json = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
_RESULT: Json = {"role": "tool", "tool_name": "weather", "content": "Snow"}
_WITH_IDS: Json = {
    "messages": [
        _HELLO,
        {**_CALLED, "tool_calls": [{"id": "call_0", "function": {"index": 0, **_CALL["function"]}}]},
        {**_RESULT, "tool_call_id": "call_0"},
        _SAID,
    ]
}
_OPENAI_CALL: Json = {
    "id": "call_0",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Graz"}'},
}
_ROUND = to(
    "`tool_calls`, a text",
    messages=[
        _HELLO,
        {"role": "assistant", "content": None, "tool_calls": [_OPENAI_CALL]},
        {"role": "tool", "tool_call_id": "call_0", "content": "Snow"},
        _SAID,
    ],
)
_ROUND_OF_ITEMS = to(
    "`function_call`",
    input=[
        _HELLO,
        {"type": "function_call", "call_id": "call_0", **_OPENAI_CALL["function"]},
        {"type": "function_call_output", "call_id": "call_0", "output": "Snow"},
        _SAID,
    ],
)


def _thinking(name: str) -> Row:
    answered: Json = {"role": "assistant", "content": "Hi."}
    shown = {"messages": [_HELLO, answered, _SAID]}
    item = {"role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    return _row(
        f"messages.{name}",
        {"messages": [_HELLO, {**answered, name: "Hm."}, _SAID]},
        chat=dropped(f"messages.{name}", **shown),
        responses=dropped(f"messages.{name}", input=[_HELLO, item, _SAID]),
        closed=dropped(f"messages.{name}", **shown),
    )


ONLY_CHAT: Sequence[Row] = (
    _member("messages", [_SAID], every=USED),
    _member("tools", [_TOOL], chat=SAME, responses=to("`tools`, flat", tools=[{"type": "function", **_FUNCTION}])),
    _row(
        "messages.images",
        {"messages": [{**_SAID, "images": [_DATA]}]},
        chat=to("`image_url`", messages=[{"role": "user", "content": list(_TEXTS)}]),
        responses=to("`input_image`", input=[{"role": "user", "content": list(_INPUTS)}]),
        closed=dropped("messages.images"),
    ),
    _thinking("thinking"),
    _thinking("a_name_of_tomorrow"),
    _row(
        "messages.tool_calls",
        {"messages": [_HELLO, _CALLED, _RESULT, _SAID]},
        ollama=to("passed, with ids", **_WITH_IDS),
        closed=to("passed, with ids", **_WITH_IDS),
        chat=_ROUND,
        responses=_ROUND_OF_ITEMS,
    ),
)


def _own(name: str, value: object) -> Row:
    """A member that only `/api/generate` has."""
    return _row(name, {name: value}, ollama=raw("/api/generate"), tree=dropped(name))


_SYSTEM: Sequence[Json] = ({"role": "system", "content": "Be brief."}, _SAID)
ONLY_GENERATE: Sequence[Row] = (
    _member("prompt", "Hello", every=USED),
    _member(
        "system",
        "Be brief.",
        ollama=to("a message", messages=list(_SYSTEM)),
        chat=to("a message", messages=list(_SYSTEM)),
        responses=to(instructions="Be brief."),
        tree=to("the workflow's"),
        closed=to("the workflow's"),
    ),
    _member(
        "images",
        [_DATA],
        ollama=to("in the message", messages=[{**_SAID, "images": [_DATA]}]),
        chat=to("`image_url`", messages=[{"role": "user", "content": list(_TEXTS)}]),
        responses=to("`input_image`", input=[{"role": "user", "content": list(_INPUTS)}]),
    ),
    _own("suffix", "."),
    _own("template", "{{ .Prompt }}"),
    _own("raw", True),
    _own("context", [1, 2]),
    *(_member(name, 4) for name in ("width", "height", "steps")),
)

CHAT = SimpleNamespace(PATH="/api/chat", PLAIN={"model": "?", "messages": [_SAID]}, ROWS=(*SHARED, *ONLY_CHAT))
GENERATE = SimpleNamespace(
    PATH="/api/generate", PLAIN={"model": "?", "prompt": "Hello"}, ROWS=(*SHARED, *ONLY_GENERATE)
)
