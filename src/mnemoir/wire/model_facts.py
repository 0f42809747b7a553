"""Facts that a model's server reports of its models: capabilities, context length, and size.

An Ollama reports all of them at `/api/show` and `/api/tags`. Servers of OpenAI's protocol share no names for them;
the cards of their `/models` are read for the names that are in use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemoir.wire import upstream
from mnemoir.wire.members import Json

_CONTEXT = ("context_length", "context_window", "max_model_len", "max_context_length", "n_ctx", "n_ctx_train")
_INSIDE = ("meta", "top_provider")  # objects of a card that may hold the same members
_LONGEST = 64 * 1024  # characters of a template
_DETAILS = ("format", "family", "parameter_size", "quantization_level")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """`capabilities` have Ollama's names, None where the server reports none. `size_bytes` is that of the files.

    `parameters` and `template` are texts of an Ollama's model file, `details` its facts about the files.
    """

    capabilities: Sequence[str] | None = None
    context_tokens: int | None = None
    size_bytes: int | None = None
    parameters: str = ""
    template: str = ""
    details: Mapping[str, str] = field(default_factory=dict)


def read_shown(body: Json) -> ModelFacts:
    """The facts in an answer of Ollama's `/api/show`: all but the size."""
    told = upstream.member(body, "capabilities")
    return ModelFacts(
        capabilities=_texts(told) if isinstance(told, list) else None,
        context_tokens=_context_of_model_info(upstream.member(body, "model_info")),
        parameters=_text(body, "parameters"),
        template=_text(body, "template"),
        details={name: text for name in _DETAILS if (text := _text(body.get("details"), name))},
    )


def read_size(tags: Json, model: str) -> int | None:
    """The size in bytes of a model listed in an answer of Ollama's `/api/tags`."""
    entry = _entry(tags.get("models"), "name", {model, f"{model}:latest"})
    return upstream.count(entry.get("size")) or None


def read_card(models: Json, model: str) -> ModelFacts:
    """The facts of a model in an answer of `/models` by a server of OpenAI's protocol."""
    card = _entry(models.get("data"), "id", {model})
    inside = [upstream.member(card, name) for name in _INSIDE]
    contexts = (upstream.count(upstream.member(place, name)) for place in (card, *inside) for name in _CONTEXT)
    named = _entry(models.get("models"), "name", {model})  # llama.cpp lists its models a second time, with abilities
    able = {**_abilities(named), **_abilities(card)}
    known = {name for name, can in able.items() if can} | ({"tools"} if able.get("tools", True) else set())
    return ModelFacts(
        capabilities=["completion", *sorted(known)] if able else None,
        context_tokens=next((tokens for tokens in contexts if tokens), None),
        size_bytes=upstream.count(upstream.member(inside[0], "size")) or None,
    )


def _abilities(card: Json) -> dict[str, bool]:
    """The abilities that a card affirms or denies of its model; those it does not mention are missing."""
    able: dict[str, bool] = {}
    kinds = upstream.member(card.get("architecture"), "input_modalities") or card.get("input_modalities")
    if isinstance(kinds, list):
        able["vision"] = "image" in kinds
    parameters = card.get("supported_parameters")
    if isinstance(parameters, list):
        able["tools"] = "tools" in parameters
        able["thinking"] = "reasoning" in parameters
    told = card.get("capabilities")
    if isinstance(told, list):
        able["vision"] = "vision" in told or "multimodal" in told
    elif isinstance(told, Mapping):
        words = {"vision": "vision", "function_calling": "tools", "reasoning": "thinking"}
        able |= {ours: told[theirs] is True for theirs, ours in words.items() if theirs in told}
    return able


def _context_of_model_info(info: object) -> int | None:
    if not isinstance(info, Mapping):
        return None
    lengths = (upstream.count(value) for name, value in info.items() if str(name).endswith(".context_length"))
    return next((length for length in lengths if length), None)


def _entry(listed: object, key: str, names: set[str]) -> dict[str, Any]:
    """The entry with one of these names; empty where there is none."""
    entries = listed if isinstance(listed, list) else []
    return next((one for one in entries if isinstance(one, dict) and str(one.get(key)) in names), {})


def _texts(values: Sequence[object]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _text(body: object, name: str) -> str:
    value = upstream.member(body, name)
    return value[:_LONGEST] if isinstance(value, str) else ""
