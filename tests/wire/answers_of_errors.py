"""Errors of what stands before a model's server, in the middle of a stream and in place of an answer, by protocol."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, LINES, Case, Verdict, as_json, chunk, failed, lines, sse

_SLOW, _DEAD = failed("ProviderRefused", 429), failed("ProviderUnavailable", 503)
SHAPES: Sequence[tuple[dict[str, Any], Verdict, str]] = (
    ({"errors": ["model is gone"]}, BROKEN_OFF, "model is gone"),
    ({"success": False, "errors": [{"code": 429, "message": "too fast"}], "result": None}, _SLOW, "too fast"),
    ({"code": 503, "msg": "no capacity", "data": None}, _DEAD, "no capacity"),
    ({"code": "InvalidParameter", "message": "no such model", "request_id": "r1"}, BROKEN_OFF, "no such model"),
    ({"detail": {"msg": "Server is busy", "type": "service_unavailable"}}, _DEAD, "Server is busy"),
    ({"detail": "out of memory"}, BROKEN_OFF, "out of memory"),
    ({"object": "error", "message": "dead", "code": 503}, _DEAD, "dead"),
    ({"error": True, "message": "no GPU left"}, BROKEN_OFF, "no GPU left"),
    ({"error": 429, "message": "slow down"}, _SLOW, "slow down"),
    ({"statusCode": 503, "error": "Service Unavailable", "message": "the worker died"}, _DEAD, "the worker died"),
    ({"error_code": 429, "error_msg": "qps limit"}, _SLOW, "qps limit"),
    ({"x_groq": {"id": "r1", "error": "over capacity"}}, BROKEN_OFF, "over capacity"),
    ({"base_resp": {"status_code": 1008, "status_msg": "no balance"}}, BROKEN_OFF, "no balance"),
    ({"status": 503, "title": "Bad Gateway"}, _DEAD, "Bad Gateway"),
    ({"statusCode": 503}, _DEAD, "503"),
    ({"errmsg": "no such app", "errcode": 7}, BROKEN_OFF, "no such app"),
    ({"fault": {"faultstring": "quota violation", "code": 429}}, _SLOW, "quota violation"),
)
BESIDE: Sequence[Mapping[str, Any]] = (
    {"x_groq": {"id": "r1", "error": "over capacity"}},
    {"errors": [{"message": "over capacity"}]},
    {"base_resp": {"status_code": 1002, "status_msg": "over capacity"}},
)
"""Errors beside a choice."""
HARMLESS: Sequence[Mapping[str, Any]] = (
    {"errors": []},
    {"x_groq": {"id": "r1"}},
    {"code": 200, "msg": "success"},
    {"type": "ping", "status": "ok", "message": "alive"},
    {"base_resp": {"status_code": 0, "status_msg": ""}},
)
"""Frames without choices that are no errors."""


def _around(protocol: str, frame: Mapping[str, Any]) -> bytes:
    """The frame behind a word of an answer that goes on."""
    if protocol == "openai-chat":
        return sse(chunk({"content": "Hi"}), frame, chunk({}, "stop"), b"[DONE]")
    if protocol == "openai-completions":
        return sse({"choices": [{"text": "Hi"}]}, frame, {"choices": [{"text": "", "finish_reason": "stop"}]})
    if protocol == "openai-responses":
        end = {"type": "response.completed", "response": {"status": "completed", "output": []}}
        return sse({"type": "response.output_text.delta", "delta": "Hi"}, frame, end)
    if protocol == "ollama-chat":
        return lines({"message": {"content": "Hi"}, "done": False}, frame, {"message": {}, "done": True})
    if protocol == "ollama-generate":
        return lines({"response": "Hi", "done": False}, frame, {"response": "", "done": True})
    return sse({"token": "Hi"}, frame, {"token": "", "finish_reason": "stop"})


_PROTOCOLS = ("openai-chat", "openai-completions", "openai-responses", *LINES, "koboldcpp")


def errors() -> Iterator[Case]:
    for protocol in _PROTOCOLS:
        for n, (shape, verdict, words) in enumerate(SHAPES):
            everywhere = n < 3 or "detail" in shape
            for form, body in (("in a stream", _around(protocol, shape)), ("in whole", as_json(shape))):
                yield _case(protocol, f"the error {shape} {form}", body, verdict, words, everywhere=everywhere)
        for frame in HARMLESS if protocol.startswith("openai") else ():
            yield _case(protocol, f"the frame {frame}", _around(protocol, frame), Verdict(text="Hi"))
    for beside in BESIDE:
        for body in (
            sse(chunk({"content": "Hi"}), chunk({}, "stop", **beside), b"[DONE]"),
            as_json({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], **beside}),
        ):
            yield _case("openai-chat", f"{beside} beside a choice", body, BROKEN_OFF, "over capacity")


def _case(
    protocol: str, name: str, body: bytes, verdict: Verdict, words: str = "", *, everywhere: bool = False
) -> Case:
    return Case(
        protocol=protocol,
        name=name,
        body=body,
        verdict=verdict,
        words=words,
        media_type="application/x-ndjson" if protocol in LINES else "text/event-stream",
        reach="all" if everywhere else "reader",
    )
