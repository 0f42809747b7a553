"""Answers that end with the reasons in use, whole and streamed, by each protocol, and the verdict on each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from tests.wire.answer_kit import BROKEN_OFF, LINES, Case, Verdict, as_json, chunk, lines, sse

BROKEN = (
    *("error", "abort", "aborted", "insufficient_system_resource", "network_error", "failed", "server_error"),
    *("timeout", "timed out", "cancelled", "canceled", "USER_CANCEL", "incomplete", "error: out of memory", "ERROR"),
    *("disconnect", "client_disconnected", "model_error", "INTERNAL_ERROR", "MALFORMED_FUNCTION_CALL", "overloaded"),
    *("modelUnloaded", "gpu_oom", "unauthorized", "rate_limit", "TIME_LIMIT", "interrupted", "stream_closed"),
)
REASONS: Mapping[str, tuple[str, ...]] = {
    "stop": (
        *("stop", "STOP", "end_turn", "eos", "eos_token", "done", "stop_sequence", "COMPLETE", "eosFound", "other"),
        *("FinishReason.STOP", "stop: a word", "load"),
    ),
    "length": (
        *("length", "LENGTH", "model_length", "MAX_TOKENS", "maxTokens", "max-tokens", "MAXTOKENS", "context_limit"),
        *("model_context_window_exceeded", "max_output_tokens", "length: 8192 tokens", "token limit", "truncated"),
        *("maxPredictedTokensReached", "contextLengthReached"),
    ),
    "content_filter": (
        *("content_filter", "content_filter: violence", "SAFETY", "RECITATION", "sensitive", "CONTENT_FILTERED"),
        *(
            "PROHIBITED_CONTENT",
            "BLOCKLIST",
            "SPII",
            "guardrail_intervened",
            "refusal",
            "contentFilter",
            "LANGUAGE",
            "unsafe",
        ),
    ),
}
NO_END = ("", "null", "None", "NOT_FINISHED", "FINISH_REASON_UNSPECIFIED", "in_progress")
"""What some servers write in place of null."""

_FEW = ("abort", "error: out of memory", "MAX_TOKENS", "content_filter: violence", "eos_token")


def in_stream(reason: str) -> Mapping[str, bytes]:
    """By each protocol, an answer of one word that is streamed and ends with this reason."""
    ollama: dict[str, Any] = {"done": True, "done_reason": reason}
    return {
        "openai-chat": sse(chunk({"content": "Hi"}), chunk({}, reason), b"[DONE]"),
        "openai-completions": sse(
            {"choices": [{"text": "Hi"}]}, {"choices": [{"text": "", "finish_reason": reason}]}, b"[DONE]"
        ),
        "ollama-chat": lines({"message": {"content": "Hi"}, "done": False}, {"message": {"content": ""}, **ollama}),
        "ollama-generate": lines({"response": "Hi", "done": False}, {"response": "", **ollama}),
        "koboldcpp": sse({"token": "Hi"}, {"token": "", "finish_reason": reason}),
    }


def in_whole(reason: str) -> Mapping[str, bytes]:
    """The same in one object."""
    ollama: dict[str, Any] = {"done": True, "done_reason": reason}
    bodies: Mapping[str, Any] = {
        "openai-chat": {"choices": [{"message": {"content": "Hi"}, "finish_reason": reason}]},
        "openai-completions": {"choices": [{"text": "Hi", "finish_reason": reason}]},
        "ollama-chat": {"message": {"content": "Hi"}, **ollama},
        "ollama-generate": {"response": "Hi", **ollama},
        "koboldcpp": {"results": [{"text": "Hi", "finish_reason": reason}]},
    }
    return {protocol: as_json(body) for protocol, body in bodies.items()}


def ends() -> Iterator[Case]:
    verdicts = [(word, Verdict(text="Hi", reason=reason)) for reason, words in REASONS.items() for word in words]
    for write in (in_stream, in_whole):
        for word, verdict in (*verdicts, *((word, BROKEN_OFF) for word in BROKEN)):
            yield from _by_each_protocol(word, write, verdict)
    for word in NO_END:
        yield _case("openai-chat", word, sse(chunk({"content": "H"}, word), chunk({"content": "i"})), BROKEN_OFF)
        yield _case("openai-chat", word, sse(chunk({"content": "H"}, word), chunk({"content": "i"}, "length")), _CUT)
        yield _case("koboldcpp", word, sse({"token": "H", "finish_reason": word}, _LAST_TOKEN), _CUT)
    call = {"index": 0, "id": "a", "function": {"name": "w", "arguments": '{"c":'}}
    for reason in ("abort", "network_error"):
        yield _case(
            "openai-chat", reason, sse(chunk({"tool_calls": [call]}), chunk({}, reason), b"[DONE]"), BROKEN_OFF
        )
    for reason in ("tool_use", "TOOL_CALLS", "toolCalls", "function_call", "stop", "end_turn"):
        said = Verdict(calls=(("w", "{}"),), reason="tool_calls")
        whole_call = call | {"function": {"name": "w", "arguments": "{}"}}
        yield _case("openai-chat", reason, sse(chunk({"tool_calls": [whole_call]}), chunk({}, reason)), said)
        yield _case(
            "openai-chat",
            reason,
            as_json({"choices": [{"message": {"tool_calls": [whole_call]}, "finish_reason": reason}]}),
            said,
        )
    in_each = sse(chunk({"content": "H"}, "stop"), chunk({"content": "i"}, "length"))
    yield _case("openai-chat", "stop in each chunk", in_each, _CUT)
    in_object = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": {"type": "length", "length": 2}}]}
    yield _case("openai-chat", "in an object", sse(in_object), _CUT)


_CUT = Verdict(text="Hi", reason="length")
_LAST_TOKEN = {"token": "i", "finish_reason": "length"}


def _by_each_protocol(word: str, write: Callable[[str], Mapping[str, bytes]], verdict: Verdict) -> Iterator[Case]:
    for protocol, body in write(word).items():
        yield _case(protocol, word, body, verdict, reach="all" if word in _FEW else "reader")


def _case(
    protocol: str, reason: str, body: bytes, verdict: Verdict, *, reach: Literal["all", "reader"] = "reader"
) -> Case:
    words = f"reason {reason!r}" if verdict.error and reason not in NO_END else ""
    form = "in a stream" if body.startswith(b"data:") or b"}\n{" in body else "in whole"
    label = "application/x-ndjson" if protocol in LINES else "text/event-stream"
    return Case(
        protocol=protocol,
        name=f"the end {reason!r} {form}",
        body=body,
        verdict=verdict,
        words=words,
        media_type=label,
        reach=reach,
    )
