"""What of a client's request goes on to a model, and the names of what does not.

A proxy changes what it means to change and nothing else: members that Mnemoir does not use go on to a server of the
same protocol as they came. To another protocol they are translated where it has a member of that meaning. Whatever
is left is named, so that the answer can say what was dropped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import Extra, Message, ModelRequest, OpaquePart, Route
from mnemoir.wire.extras import members_for
from mnemoir.wire.losses import lost, names_in
from mnemoir.wire.members import Json

Forward = Literal["all", "listed", "none"]
ThinkAs = Literal["none", "reasoning_effort", "chat_template_kwargs"]

NEVER_SENT = frozenset(
    {"api_key", "api_base", "base_url", "extra_headers", "headers", "organization", "fallbacks", "model_list"}
    | {"user_config", "chat_template"}
)
"""Members by which gateways let a client choose where a request goes, or what is made of it."""

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
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_MOST_NAMES, _MOST_BYTES, _LONGEST_SHOWN = 20, 1000, 64
_PROMPTS: Mapping[Route, frozenset[str]] = {
    "openai-completions": frozenset({"prompt"}),
    "ollama-generate": frozenset({"prompt", "system"}),
}
"""Members of a raw request that go on in any case: where it cannot stay raw, as messages."""

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
"""From one protocol to another: a member, and the place of the member of that meaning."""
_ROUTES: Mapping[str, Route] = {
    "openai-chat": "openai-chat",
    "openai-completions": "openai-completions",
    "openai-responses": "openai-responses",
    "ollama": "ollama-chat",
    "ollama-chat": "ollama-chat",
    "ollama-generate": "ollama-chat",
}
_RAW_ROUTES: Mapping[str, Route] = {"openai-chat": "openai-completions", "ollama": "ollama-generate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """How much goes on: everything, the members known to be harmless, or nothing; and as what Ollama's plain `think`
    goes to OpenAI's protocols."""

    forward: Forward = "all"
    think_as: ThinkAs = "none"

    @property
    def forwards(self) -> bool:
        """Whether anything goes on at all that Mnemoir does not use."""
        return self.forward != "none"


def takes_raw(request: ModelRequest, provider: str, forwarding: Forwarding) -> bool:
    """Whether a raw request can go to this provider's server as it came."""
    route = _RAW_ROUTES.get(provider)
    return request.extra is not None and request.extra.route == route and forwarding.forwards


def plain(request: ModelRequest) -> ModelRequest:
    """A raw request as messages, for a model that cannot get it as it came; what only it could say is dropped.

    Raises NotSupported for a prompt that is not one text.
    """
    extra = request.extra
    if extra is None:
        return replace(request, raw=False)
    prompt = extra.members.get("prompt")
    if not isinstance(prompt, str | None) and not (isinstance(prompt, list) and len(prompt) == 1):
        raise NotSupported(
            "prompt must be one text: this model cannot be asked for several, or by tokens.", field="prompt"
        )
    return replace(request, raw=False, extra=None, dropped=(*request.dropped, *_told(extra)))


def prepared(request: ModelRequest, provider: str, forwarding: Forwarding) -> tuple[ModelRequest, Sequence[str]]:
    """The request as this provider's server is to get it, and the names of the client's members that it will not get.

    `provider` is a `ChatModel.provider`. Names of options and of members of messages are paths: `options.num_ctx`.
    """
    dropped = list(request.dropped)
    if request.extra is not None:
        route = request.extra.route if request.raw else _ROUTES.get(provider)
        extra, left = passed_on(request.extra, route, forwarding.forward)
        request, dropped = replace(request, extra=extra), [*dropped, *left]
    if request.think is not None and not provider.startswith("ollama"):
        request = _with_think(request, provider, forwarding.think_as, dropped)
    dropped += lost(request, provider, forwards=forwarding.forwards)
    if not forwarding.forwards:
        request = replace(request, messages=[without_extra(message) for message in request.messages])
    return request, tuple(dict.fromkeys(dropped))


def without_extra(message: Message) -> Message:
    """The message without members that Mnemoir does not read; the very same one where there are none."""
    if not _has_extra(message):
        return message
    parts = [part if isinstance(part, OpaquePart) else replace(part, extra=None) for part in message.parts]
    calls = [replace(call, extra=None) for call in message.tool_calls]
    return replace(message, parts=tuple(parts), tool_calls=tuple(calls), extra=None)


def _has_extra(message: Message) -> bool:
    if message.extra is not None:
        return True
    for part in message.parts:  # a loop, for a history may have hundreds of messages
        if part.extra is not None and not isinstance(part, OpaquePart):
            return True
    return any(call.extra is not None for call in message.tool_calls) if message.tool_calls else False


def bounded_names(names: Sequence[str]) -> str:
    """The names for a header or a log line: at most 20 of them and 1 kB, then how many more there are.

    A character that a header must not hold becomes `_`, and a name ends after 64 characters.
    """
    shown: list[str] = []
    for name in names[:_MOST_NAMES]:
        clean = _UNSAFE.sub("_", name)[:_LONGEST_SHOWN] or "_"
        if sum(len(one) + 2 for one in [*shown, clean]) > _MOST_BYTES:
            break
        shown.append(clean)
    more = len(names) - len(shown)
    return ", ".join([*shown, f"+{more}"] if more else shown)


def passed_on(extra: Extra, route: Route | None, forward: Forward) -> tuple[Extra | None, Sequence[str]]:
    """The members that a server of `route` gets, and the names of all others."""
    passed = {name: value for name, value in extra.members.items() if _is_allowed(name, extra.route, forward)}
    if extra.route == route:
        going: Json = passed
    else:
        table = _TRANSLATED.get((extra.route, route), {}) if route else {}
        passed = {name: value for name, value in passed.items() if name in table}
        going = _placed(passed, table)
    left = {name: value for name, value in extra.members.items() if name not in passed}
    return Extra(route=route, members=going) if going and route else None, tuple(_told(replace(extra, members=left)))


def _told(left: Extra) -> Iterator[str]:
    prompts = _PROMPTS.get(left.route, frozenset())
    return (name for name in names_in(left.members) if name not in prompts)


def _is_allowed(name: str, route: Route, forward: Forward) -> bool:
    if forward == "none" or name in NEVER_SENT:
        return False
    return forward == "all" or name in _LISTED[route] or name.startswith(_LISTED_BEGINNINGS)


def _placed(members: Json, places: Mapping[str, str]) -> Json:
    placed: dict[str, Any] = {}
    for name, value in members.items():
        outer, _, inner = places[name].rpartition(".")
        (placed.setdefault(outer, {}) if outer else placed)[inner] = value
    return placed


def _with_think(request: ModelRequest, provider: str, think_as: ThinkAs, dropped: list[str]) -> ModelRequest:
    """A plain `think` as one of OpenAI's protocols says it; named as dropped where it cannot."""
    if think_as == "reasoning_effort" and provider.startswith("openai"):
        return replace(request, think=None, reasoning_effort="medium" if request.think else "none")
    if think_as == "chat_template_kwargs" and provider == "openai-chat":
        members = {
            **members_for(request.extra, "openai-chat"),
            "chat_template_kwargs": {"enable_thinking": request.think},
        }
        return replace(request, think=None, extra=Extra(route="openai-chat", members=members))
    dropped.append("think")
    return replace(request, think=None)
