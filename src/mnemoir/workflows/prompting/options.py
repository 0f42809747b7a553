"""The members of a model's request beside its prompt: the preset, and three members the protocol's file names."""

from collections.abc import Mapping
from typing import Any

from mnemoir.workflows.config.api_type import ApiType


def options(
    preset: Mapping[str, Any], api_type: ApiType, *, context_tokens: int | None, max_tokens: int, stream: bool
) -> dict[str, Any]:
    """The preset without its nulls, overwritten by what the endpoint, the client and the node say.

    Where two of the named members are one, the limit of the answer wins. Ollama takes `stream` beside its options and
    not among them.
    """
    sent = {key: value for key, value in preset.items() if value is not None}
    if api_type.truncate_property and context_tokens is not None:
        sent[api_type.truncate_property] = context_tokens
    if _takes_stream_elsewhere(api_type):
        sent.pop(api_type.stream_property, None)
    elif api_type.stream_property:
        sent[api_type.stream_property] = stream
    if api_type.max_tokens_property:
        sent[api_type.max_tokens_property] = max_tokens
    return sent


def _takes_stream_elsewhere(api_type: ApiType) -> bool:
    return api_type.kind in ("ollama-chat", "ollama-generate")
