"""The options of a model's request: layers of settings, samplers, and three members named by the API type.

A layer comes from a preset file or from the samplers of an endpoint. In a layer, null removes a member of a lower
layer, and the text `__wilmer_null__` sends a null.

Samplers are named as llama.cpp names them. Servers name the same setting differently, and lack some. So an API type
maps each setting to the server's name. A setting without a name is left out, and a note gives its name and the
reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mnemoir.workflows.config.endpoint import ApiType

_LITERAL_NULL = "__wilmer_null__"
_VERBATIM = frozenset({"grammar", "json_schema"})  # nulls in a schema are part of it
THINKING = "thinkingMode"
TEMPLATE_ARGUMENTS = "chat_template_kwargs"
SPECIAL = frozenset({THINKING, TEMPLATE_ARGUMENTS})

CANONICAL = frozenset(
    {
        *("temperature", "dynatemp_range", "dynatemp_exponent"),
        *("top_k", "top_p", "min_p", "top_n_sigma", "typical_p"),
        *("repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty"),
        *("dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
        *("xtc_probability", "xtc_threshold"),
        *("mirostat", "mirostat_tau", "mirostat_eta"),
        *("seed", "stop", "samplers", "logit_bias", "ignore_eos", "n_probs", "min_keep"),
        *("grammar", "json_schema", "thinking_budget_tokens"),
    }
)

MODES = ("bool", "effort")
EFFORTS = ("low", "medium", "high")
OFF = ("off", "false", "no", "0", "none", "disabled")
_MOST_NAMED = 20  # settings named in one note


def options(
    layers: Iterable[Mapping[str, Any]],
    api_type: ApiType,
    *,
    context_tokens: int | None,
    max_tokens: int,
    stream: bool,
) -> dict[str, Any]:
    """The layers merged, the lowest first, with the members of endpoint, node and client, which take precedence.

    A null for the size of the context or for the limit of the answer still leaves that member out. If both have one
    name, the limit of the answer is sent. Ollama takes `stream` beside its options, not among them.
    """
    sent: dict[str, Any] = {}
    unwanted: set[str] = set()
    for layer in filter(None, layers):  # nearly always one alone
        unwanted = {name for name in unwanted if name not in layer}
        unwanted |= {name for name, value in layer.items() if value is None}
        sent = laid_over(sent, layer)
    if api_type.truncate_property and context_tokens is not None and api_type.truncate_property not in unwanted:
        sent[api_type.truncate_property] = context_tokens
    if _takes_stream_elsewhere(api_type):
        sent.pop(api_type.stream_property, None)
    elif api_type.stream_property:
        sent[api_type.stream_property] = stream
    if api_type.max_tokens_property and api_type.max_tokens_property not in unwanted:
        sent[api_type.max_tokens_property] = max_tokens
    return sent


def laid_over(lower: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """`lower` with a layer on top: objects are merged, other values replace, null removes.

    Empty objects are left out. Lists, schemas and grammars are not merged.
    """
    merged = dict(lower)
    for name, value in layer.items():
        if isinstance(value, dict) and name not in _VERBATIM:
            below = lower.get(name)
            value = laid_over(below if isinstance(below, dict) else {}, value) or None
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = None if value == _LITERAL_NULL else value
    return merged


def _takes_stream_elsewhere(api_type: ApiType) -> bool:
    return api_type.kind in ("ollama-chat", "ollama-generate")


def members_of_samplers(samplers: Mapping[str, Any], api_type: ApiType) -> Mapping[str, Any]:
    """The members to send, by the server's own names; values, including null, are passed unchanged.

    `chat_template_kwargs` takes precedence over members that `thinkingMode` sets in the same object. Settings that
    cannot be sent are left out; `left_out` names them.
    """
    names = api_type.sampler_names
    members = {
        native: value for name, value in samplers.items() if name not in SPECIAL and (native := names.get(name))
    }
    switched = _thinking_members(samplers.get(THINKING), api_type)
    if not _is_within_arguments(api_type):
        members |= switched
        switched = {}
    written = samplers.get(TEMPLATE_ARGUMENTS)
    arguments = {**switched, **written} if isinstance(written, Mapping) else switched
    return {**members, TEMPLATE_ARGUMENTS: arguments} if arguments and api_type.takes_template_arguments else members


def left_out(samplers: Mapping[str, Any], api_type: ApiType, api_type_name: str) -> list[str]:
    """One sentence for each reason why some of these samplers are not sent. Null values are ignored."""
    unsent = [name for name, value in samplers.items() if value is not None and not _is_sent(name, value, api_type)]
    unknown = [name for name in unsent if name not in CANONICAL and name not in SPECIAL]
    missing = [name for name in unsent if name not in unknown]
    notes = []
    if missing:
        notes.append(f"API type {api_type_name} takes no {_names_as_text(missing)}: left out of presetSamplers.")
    if unknown:
        notes.append(f"presetSamplers has no sampler {_names_as_text(unknown)}: left out.")
    return notes


def _is_sent(name: str, value: object, api_type: ApiType) -> bool:
    if name == TEMPLATE_ARGUMENTS:
        return api_type.takes_template_arguments and isinstance(value, Mapping)
    if name == THINKING:
        return _can_switch(api_type)
    return bool(api_type.sampler_names.get(name))


def _is_within_arguments(api_type: ApiType) -> bool:
    return api_type.thinking is not None and api_type.thinking.location == TEMPLATE_ARGUMENTS


def _can_switch(api_type: ApiType) -> bool:
    switch = api_type.thinking
    if switch is None or switch.mode not in MODES or not switch.field:
        return False
    return api_type.takes_template_arguments or not _is_within_arguments(api_type)


def _thinking_members(mode: object, api_type: ApiType) -> dict[str, Any]:
    """The members set by a `thinkingMode`; {} for `off` where the server takes an effort, which has no such value."""
    switch = api_type.thinking
    if mode is None or switch is None or not _can_switch(api_type):
        return {}
    word = str(mode).strip().lower()
    if switch.mode == "bool":
        return {switch.field: word not in OFF}
    return {} if word in OFF else {switch.field: word if word in EFFORTS else "medium"}


def _names_as_text(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
