"""The options of a model's request: layers of settings, and three members named by the API type.

A layer comes from a preset file or from the samplers of an endpoint. In a layer, null removes a member of a lower
layer, and the text `__wilmer_null__` sends a null.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mnemoir.workflows.config.api_type import ApiType

_LITERAL_NULL = "__wilmer_null__"
_VERBATIM = frozenset({"grammar", "json_schema"})  # nulls in a schema are part of it


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
