"""What of a client's request goes on to a model, and the names of what does not.

A proxy changes what it means to change and nothing else: members that Mnemoir does not use go on to a server of the
same protocol as they came. To another protocol they are translated where it has a member of that meaning. Whatever
is left is named, so that the answer can say what was dropped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import Extra, ModelRequest, Route
from mnemoir.wire.extras import members_for
from mnemoir.wire.losses import lost, paths
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
    ),
    "openai-completions": frozenset(
        {"prompt", "suffix", "echo", "best_of", "logprobs", "logit_bias", "stream_options"}
        | {"top_k", "min_p", "typical_p", "repetition_penalty", "repeat_penalty", "grammar", "json_schema"}
        | {"cache_prompt", "id_slot", "ignore_eos", "min_tokens", "samplers"}
    ),
    "openai-embeddings": frozenset({"input_type", "task", "truncate_prompt_tokens"}),
    "ollama-embed": frozenset({"keep_alive", "options", "truncate"}),
    "ollama-chat": frozenset({"keep_alive", "logprobs", "top_logprobs", "options"}),
    "ollama-generate": frozenset(
        {"keep_alive", "logprobs", "top_logprobs", "options"}
        | {"prompt", "system", "suffix", "template", "raw", "context"}
    ),
}
_LISTED_BEGINNINGS = ("mirostat", "dry_", "xtc_", "guided_")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_MOST_NAMES, _MOST_BYTES, _LONGEST_SHOWN = 20, 1000, 64
_PROMPTS = frozenset({"prompt", "system"})  # of a raw request; where it cannot stay one, they are sent as messages

# OpenAI's chat, as local servers extend it, to the options of an Ollama
_TO_OLLAMA: Mapping[str, str] = {
    **{name: name for name in ("top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "num_ctx")},
    **{name: name for name in ("mirostat", "mirostat_tau", "mirostat_eta")},
    "repetition_penalty": "repeat_penalty",
}
_ROUTES: Mapping[str, Route] = {
    "openai-chat": "openai-chat",
    "openai-completions": "openai-completions",
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


def takes_raw(request: ModelRequest, provider: str, forwarding: Forwarding) -> bool:
    """Whether a raw request can go to this provider's server as it came."""
    route = _RAW_ROUTES.get(provider)
    return request.extra is not None and request.extra.route == route and forwarding.forward != "none"


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
    lost = tuple(path for path, _ in paths(extra) if path not in _PROMPTS)
    return replace(request, raw=False, extra=None, dropped=(*request.dropped, *lost))


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
    dropped += lost(request, provider)
    return request, tuple(dict.fromkeys(dropped))


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
    """The members that a server of `route` gets, and the names of all others; a route of None gets nothing."""
    if route is None or (extra.route != route and not _translates(extra.route, route)):
        return None, [path for path, _ in paths(extra) if path not in _PROMPTS]
    allowed = {path: value for path, value in paths(extra) if _is_allowed(path, extra.route, forward)}
    dropped = [path for path, _ in paths(extra) if path not in allowed]
    if extra.route != route:
        return _to_ollama(allowed, dropped), dropped
    return Extra(route=route, members=_joined(allowed)) if allowed else None, dropped


def _is_allowed(path: str, route: Route, forward: Forward) -> bool:
    name = path.partition(".")[0]
    if forward == "none" or name in NEVER_SENT:
        return False
    return forward == "all" or name in _LISTED[route] or name.startswith(_LISTED_BEGINNINGS)


def _translates(given: Route, wanted: Route) -> bool:
    return given == "openai-chat" and wanted == "ollama-chat"


def _to_ollama(members: Mapping[str, Any], dropped: list[str]) -> Extra | None:
    options = {_TO_OLLAMA[name]: value for name, value in members.items() if name in _TO_OLLAMA}
    beside = {name: value for name, value in members.items() if name == "keep_alive"}
    dropped += [name for name in members if name not in _TO_OLLAMA and name not in beside]
    if options:
        beside["options"] = options
    return Extra(route="ollama-chat", members=beside) if beside else None


def _joined(items: Mapping[str, Any]) -> Json:
    options = {path[8:]: value for path, value in items.items() if path.startswith("options.")}
    members = {path: value for path, value in items.items() if not path.startswith("options.")}
    return {**members, "options": options} if options else members


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
