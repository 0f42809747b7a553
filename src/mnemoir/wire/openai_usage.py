"""Token counts as OpenAI's chat and text completions spell them, both ways."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.events import Usage
from mnemoir.core.messages import Extra
from mnemoir.wire import upstream
from mnemoir.wire.extras import members_for, merged, unread

_COUNTS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_CACHED = frozenset({"cached_tokens"})


def read_usage(value: object) -> Usage:
    """The counts of an answer; what is missing, or no number, counts as 0."""
    prompt, answer = (upstream.member(value, f"{kind}_tokens_details") for kind in ("prompt", "completion"))
    return Usage(
        input_tokens=upstream.count(upstream.member(value, "prompt_tokens")),
        output_tokens=upstream.count(upstream.member(value, "completion_tokens")),
        cached_tokens=upstream.count(upstream.member(prompt, "cached_tokens")),
        reasoning_tokens=upstream.count(upstream.member(answer, "reasoning_tokens")),
        extra=_details(value),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """The counts and their sum, with the other details that the model's server gave where it speaks this protocol."""
    written: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    if usage.reasoning_tokens:
        written["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return written if usage.extra is None else merged(members_for(usage.extra, "openai-chat"), written)


def _details(value: object) -> Extra | None:
    """What a usage object holds beside what is read of it; None for nothing."""
    if not isinstance(value, Mapping) or value.keys() <= _COUNTS:
        return None
    details = unread(value, _COUNTS) or {}
    inner = value.get("prompt_tokens_details")
    if details.keys() == {"prompt_tokens_details"} and (not isinstance(inner, Mapping) or inner.keys() <= _CACHED):
        return None
    return Extra(route="openai-chat", members=details)
