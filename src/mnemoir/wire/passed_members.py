"""Selection of the members of a client's request that are forwarded to a model's server, and the names of the others.

Members that Mnemoir does not use are forwarded unchanged to a server of the same protocol: all of them, or those
known to be harmless. For another protocol they are translated where it has a member of that meaning.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from mnemoir.core.messages import Extra, Route
from mnemoir.wire.members import Json

Forward = Literal["all", "listed", "none"]

NEVER_SENT = frozenset(
    {"api_key", "api_base", "base_url", "extra_headers", "headers", "organization", "fallbacks", "model_list"}
    | {"user_config", "chat_template"}
)
"""Members of gateways by which a client chooses the target of a request, or how it is changed."""

_LISTED: Mapping[Route, frozenset[str]] = {
    "openai-chat": frozenset(
        {"logit_bias", "logprobs", "top_logprobs", "parallel_tool_calls", "verbosity", "service_tier", "prediction"}
        | {"modalities", "audio", "web_search_options", "safety_identifier", "prompt_cache_key"}
        | {"prompt_cache_options", "prompt_cache_retention", "moderation", "stream_options"}
        | {"top_k", "min_p", "typical_p", "repetition_penalty", "repeat_penalty", "grammar", "json_schema"}
        | {"structured_outputs", "chat_template_kwargs", "cache_prompt", "id_slot", "ignore_eos", "min_tokens"}
        | {"continue_final_message", "samplers", "thinking", "reasoning", "provider"}
        | {"num_ctx", "repeat_last_n", "keep_alive"}
    ),
    "openai-completions": frozenset(
        {"prompt", "suffix", "echo", "best_of", "logprobs", "logit_bias", "stream_options"}
        | {"top_k", "min_p", "typical_p", "repetition_penalty", "repeat_penalty", "grammar", "json_schema"}
        | {"cache_prompt", "id_slot", "ignore_eos", "min_tokens", "samplers"}
    ),
    "openai-embeddings": frozenset({"input_type", "task", "truncate_prompt_tokens"}),
    "ollama-embed": frozenset({"keep_alive", "options", "truncate"}),
    "ollama-chat": frozenset({"keep_alive", "logprobs", "top_logprobs", "options", "width", "height", "steps"}),
    "ollama-generate": frozenset(
        {"keep_alive", "logprobs", "top_logprobs", "options"}
        | {"prompt", "system", "suffix", "template", "raw", "context"}
    ),
}
_LISTED_BEGINNINGS = ("mirostat", "dry_", "xtc_", "guided_")
_PROMPTS: Mapping[Route, frozenset[str]] = {
    "openai-completions": frozenset({"prompt"}),
    "ollama-generate": frozenset({"prompt", "system"}),
}
"""Members of a raw request that are always forwarded: as messages where it cannot stay raw."""

_AS_RESPONSES = (
    *("parallel_tool_calls", "service_tier", "safety_identifier", "moderation"),
    *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
)
_AS_OPTIONS = (
    *("top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "num_ctx"),
    *("mirostat", "mirostat_tau", "mirostat_eta"),
)
_TRANSLATED: Mapping[tuple[Route, Route], Mapping[str, str]] = {
    ("openai-chat", "openai-responses"): {**{name: name for name in _AS_RESPONSES}, "verbosity": "text.verbosity"},
    # OpenAI's chat, as local servers extend it
    ("openai-chat", "ollama-chat"): {
        **{name: f"options.{name}" for name in _AS_OPTIONS},
        "repetition_penalty": "options.repeat_penalty",
        "keep_alive": "keep_alive",
    },
}
"""Translations between protocols: a member, and the place of the member of the same meaning."""
_OBJECTS = frozenset({"options", "stream_options", "image_url", "function", "custom"})


def passed_on(extra: Extra, route: Route | None, forward: Forward) -> tuple[Extra | None, Sequence[str]]:
    """The members forwarded to a server of `route`, and the names of all others."""
    passed = {name: value for name, value in extra.members.items() if _is_allowed(name, extra.route, forward)}
    if extra.route == route:
        going: Json = passed
    else:
        table = _TRANSLATED.get((extra.route, route), {}) if route else {}
        passed = {name: value for name, value in passed.items() if name in table}
        going = _nested_members(passed, table)
    left = {name: value for name, value in extra.members.items() if name not in passed}
    return Extra(route=route, members=going) if going and route else None, tuple(
        left_out_names(replace(extra, members=left))
    )


def left_out_names(left: Extra) -> Iterator[str]:
    """The names of members that are not forwarded, except a prompt, which is always forwarded."""
    prompts = _PROMPTS.get(left.route, frozenset())
    return (name for name in names_in(left.members) if name not in prompts)


def names_in(members: Mapping[str, Any]) -> Iterator[str]:
    """Each member that is not null; of an object known to hold settings, each of these: `options.num_ctx`.

    Null counts as not given.
    """
    for name, value in members.items():
        if name in _OBJECTS and isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in names_in(value))
        elif value is not None:
            yield name


def _is_allowed(name: str, route: Route, forward: Forward) -> bool:
    if forward == "none" or name in NEVER_SENT:
        return False
    return forward == "all" or name in _LISTED[route] or name.startswith(_LISTED_BEGINNINGS)


def _nested_members(members: Json, places: Mapping[str, str]) -> Json:
    placed: dict[str, Any] = {}
    for name, value in members.items():
        outer, _, inner = places[name].rpartition(".")
        (placed.setdefault(outer, {}) if outer else placed)[inner] = value
    return placed
