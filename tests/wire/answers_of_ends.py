"""Answers that end with the reasons in use, whole and streamed, by each protocol, and the verdict on each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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


_COUNTS: Mapping[str, tuple[Any, tuple[int, int]]] = {
    "texts": ({"prompt_tokens": "3", "completion_tokens": "2"}, (3, 2)),
    "floats": ({"prompt_tokens": 3.0, "completion_tokens": 2.0}, (3, 2)),
    "no whole number": ({"prompt_tokens": 3.5, "completion_tokens": 2}, (0, 2)),
    "nulls": ({"prompt_tokens": None, "completion_tokens": None}, (0, 0)),
    "negative": ({"prompt_tokens": -3, "completion_tokens": 2}, (0, 2)),
    "beyond all tokens": ({"prompt_tokens": 2**64 - 1, "completion_tokens": 2}, (0, 2)),
    "camel case": ({"promptTokens": 3, "completionTokens": 2, "totalTokens": 5}, (3, 2)),
    "by other names": ({"input_tokens": 3, "output_tokens": 2}, (3, 2)),
    "as Gemini counts": ({"promptTokenCount": 3, "candidatesTokenCount": 2}, (3, 2)),
    "lists and objects": ({"prompt_tokens": [3], "completion_tokens": {"a": 2}}, (0, 0)),
    "odd details": ({"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": [1]}, (3, 2)),
    "null": (None, (0, 0)),
    "a list": ([3, 2], (0, 0)),
    "a text": ("3", (0, 0)),
    "a number": (7, (0, 0)),
    "nothing": ({}, (0, 0)),
}


def counts() -> Iterator[Case]:
    """Counts in odd shapes are read or left out; a good answer stays one."""
    hi = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}
    item = {"type": "message", "content": "Hi"}
    for name, (usage, tokens) in _COUNTS.items():
        verdict = Verdict(text="Hi", usage=tokens)
        for protocol, body in (
            ("openai-chat", as_json({"choices": [hi], "usage": usage})),
            ("openai-chat", sse({"choices": [hi]}, {"choices": [], "usage": usage}, b"[DONE]")),
            ("openai-completions", as_json({"choices": [{"text": "Hi"}], "usage": usage})),
            ("openai-responses", as_json({"status": "completed", "output": [item], "usage": usage})),
        ):
            yield Case(protocol=protocol, name=f"counts: {name}", body=body, verdict=verdict, reach="reader")
    behind, read = {"x_groq": {"usage": _COUNTS["floats"][0]}}, Verdict(text="Hi", usage=(3, 2))
    for body in (as_json({"choices": [hi], **behind}), sse({"choices": [hi], **behind}, b"[DONE]")):
        yield Case(protocol="openai-chat", name="counts of a server behind", body=body, verdict=read, reach="reader")
    numbers: Sequence[tuple[Any, int]] = ((3.0, 3), ("3", 3), (-1, 0), (None, 0), ([], 0), (2**64 - 1, 0))
    for count, number in numbers:
        read = Verdict(text="Hi", usage=(number, 2))
        line = {"message": {"content": "Hi"}, "done": True, "prompt_eval_count": count, "eval_count": 2}
        result = {"results": [{"text": "Hi", "prompt_tokens": count, "completion_tokens": 2}]}
        yield Case(protocol="ollama-chat", name=f"a count {count}", body=as_json(line), verdict=read, reach="reader")
        yield Case(protocol="koboldcpp", name=f"a count {count}", body=as_json(result), verdict=read, reach="reader")
