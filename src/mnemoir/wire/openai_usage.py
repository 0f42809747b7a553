"""Token counts in OpenAI's chat and text completions, read and written."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.events import Usage
from mnemoir.core.messages import Extra
from mnemoir.wire import upstream
from mnemoir.wire.members import members_for, merged, unread

_COUNTS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_CACHED = frozenset({"cached_tokens"})


def read_usage(value: object) -> Usage:
    """The counts of an answer; a missing value, or one that is no number, is 0."""
    prompt, answer = (upstream.member(value, f"{kind}_tokens_details") for kind in ("prompt", "completion"))
    return Usage(
        input_tokens=upstream.count(upstream.member(value, "prompt_tokens")),
        output_tokens=upstream.count(upstream.member(value, "completion_tokens")),
        cached_tokens=upstream.count(upstream.member(prompt, "cached_tokens")),
        reasoning_tokens=upstream.count(upstream.member(answer, "reasoning_tokens")),
        extra=_details(value),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """The counts and their sum, with the other members of the model's server where it speaks this protocol.

    Some servers include more than these two counts in their sum.
    """
    written: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    if usage.reasoning_tokens:
        written["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    details = members_for(usage.extra, "openai-chat")
    if "total_tokens" in details:
        written["total_tokens"] = details["total_tokens"]
    return merged(details, written) if details else written


def _details(value: object) -> Extra | None:
    """The members of a usage object that are not read; None where there are none."""
    if not isinstance(value, Mapping):
        return None
    total = value.get("total_tokens")
    is_sum = total == upstream.count(value.get("prompt_tokens")) + upstream.count(value.get("completion_tokens"))
    details = unread(value, _COUNTS if is_sum else _COUNTS - {"total_tokens"}) or {}
    inner = value.get("prompt_tokens_details")
    if not details:
        return None
    if details.keys() == {"prompt_tokens_details"} and (not isinstance(inner, Mapping) or inner.keys() <= _CACHED):
        return None
    return Extra(route="openai-chat", members=details)
