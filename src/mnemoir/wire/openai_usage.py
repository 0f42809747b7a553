"""Token counts as OpenAI's chat and text completions spell them, both ways."""

from typing import Any

from mnemoir.core.events import Usage
from mnemoir.wire import upstream


def read_usage(value: object) -> Usage:
    """The counts of an answer; what is missing, or no number, counts as 0."""
    return Usage(
        input_tokens=upstream.count(upstream.member(value, "prompt_tokens")),
        output_tokens=upstream.count(upstream.member(value, "completion_tokens")),
        cached_tokens=upstream.count(
            upstream.member(upstream.member(value, "prompt_tokens_details"), "cached_tokens")
        ),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """The counts, and their sum."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
