"""Answers of the other protocols as they come, byte for byte, and the verdict on each."""

from collections.abc import Iterator
from typing import Any

import orjson

from tests.wire.answer_kit import (
    BROKEN_OFF,
    COUNTED,
    DONE,
    END,
    HI,
    LINES,
    SAID,
    UNREADABLE,
    USAGE,
    Case,
    Verdict,
    as_json,
    called,
    failed,
    lines,
    sse,
    whole,
)


def _of(protocol: str, name: str, body: bytes, verdict: Verdict, words: str = "", **members: Any) -> Case:
    label = "application/x-ndjson" if protocol in LINES else "text/event-stream"
    return Case(
        protocol=protocol, name=name, body=body, verdict=verdict, words=words, **{"media_type": label, **members}
    )


def text_completions() -> Iterator[Case]:
    def case(name: str, body: bytes, verdict: Verdict, words: str = "") -> Case:
        return _of("openai-completions", name, body, verdict, words)

    hi, end = {"choices": [{"text": "Hi "}]}, {"choices": [{"text": "", "finish_reason": "stop"}]}
    yield case("plain", sse(hi, end, COUNTED, DONE), Verdict(text="Hi ", usage=(3, 2)))
    yield case("cut", sse(hi), BROKEN_OFF)
    yield case("done and no choice", sse({}, DONE), UNREADABLE, "no choices")
    yield case(
        "an error", sse(hi, {"object": "error", "message": "dead", "code": 500}), failed("ProviderUnavailable", 500)
    )
    yield case("a detail", sse(hi, {"detail": "dead"}, DONE), BROKEN_OFF, "dead")
    yield case("unreadable", sse(hi, b"{oops", DONE), UNREADABLE)
    yield case("whole", as_json({"choices": [{"text": "Hi "}], "usage": USAGE}), Verdict(text="Hi ", usage=(3, 2)))
    yield case(
        "whole of null", as_json({"choices": [{"text": None, "finish_reason": "length"}]}), Verdict(reason="length")
    )
    yield case("no choices", as_json({"choices": []}), UNREADABLE, "no choices")
    yield case("a choice of nothing", as_json({"choices": [{"index": 0}]}), UNREADABLE, "no text")
    yield case(
        "half a pair",
        sse(b'{"choices":[{"text":"a \\ud83d"}]}', b'{"choices":[{"text":"\\ude00"}]}', end),
        Verdict(text="a \U0001f600"),
    )
    yield case("a chat's answer", as_json(whole({"content": "Hi"})), SAID)
    yield case("a chat's stream", sse(HI, END, COUNTED, DONE), Verdict(text="Hi ", usage=(3, 2)))
    yield case("the reason error", as_json({"choices": [{"text": "x", "finish_reason": "error"}]}), BROKEN_OFF)


def responses() -> Iterator[Case]:
    def case(name: str, body: bytes, verdict: Verdict, words: str = "") -> Case:
        return _of("openai-responses", name, body, verdict, words)

    hi = {"type": "response.output_text.delta", "delta": "Hi"}
    answer: dict[str, Any] = {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    }
    answer = {**answer, "usage": {"input_tokens": 3, "output_tokens": 2}}
    end = {"type": "response.completed", "response": answer}
    yield case("plain", sse(hi, end), SAID)
    yield case("whole", as_json(answer), SAID)
    yield case("no pieces", sse(end), SAID)
    empty = {"status": "completed", "output": [{"type": "message", "content": None}]}
    yield case("a message of nothing", as_json(empty), Verdict())
    yield case("cut", sse(hi), BROKEN_OFF)
    yield case("unreadable", sse(hi, b"{oops", end), UNREADABLE)
    yield case(
        "failed",
        sse(hi, {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}}),
        failed("ProviderUnavailable", 500),
        "boom",
    )
    yield case(
        "an error",
        b'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"slow"}\n\n',
        failed("ProviderRefused", 429),
        "slow",
    )
    yield case("an error without a type", sse(hi) + b'event: error\ndata: {"message":"slow"}\n\n', BROKEN_OFF, "slow")
    yield case(
        "failed in whole",
        as_json({"status": "failed", "output": [], "error": {"message": "boom"}}),
        BROKEN_OFF,
        "boom",
    )
    yield case("nothing", as_json({}), UNREADABLE)
    yield case("no message", as_json({"status": "completed", "output": []}), UNREADABLE)
    yield case(
        "a call without an id",
        as_json({"status": "completed", "output": [{"type": "function_call", "name": "w", "arguments": "{}"}]}),
        called(("w", "{}")),
    )


def ollama() -> Iterator[Case]:
    for protocol, around in (
        ("ollama-chat", lambda text: {"message": {"content": text}}),
        ("ollama-generate", lambda text: {"response": text}),
    ):

        def case(
            name: str, body: bytes, verdict: Verdict, words: str = "", protocol: str = protocol, **members: Any
        ) -> Case:
            return _of(protocol, name, body, verdict, words, **members)

        def line(text: str, protocol: str = protocol, around: Any = around, **members: Any) -> dict[str, Any]:
            return {"model": "m1", **around(text), "done": False, **members}

        end = line("", done=True, done_reason="stop", prompt_eval_count=3, eval_count=2)
        as_label: dict[str, Any] = {"media_type": "application/json"}
        yield case("plain", lines(line("Hi"), end), SAID)
        yield case("cut", lines(line("Hi")), BROKEN_OFF)
        yield case("lines without done", lines(around("Hi"), around(" you")), BROKEN_OFF, **as_label)
        yield case("one line without done", lines(around("Hi")), BROKEN_OFF)
        yield case("whole without done", as_json(around("Hi")), Verdict(text="Hi"), **as_label)
        yield case("whole and not done", as_json(line("Hi")), BROKEN_OFF, **as_label)
        yield case("whole", as_json(line("Hi") | end | around("Hi")), SAID, **as_label)
        yield case(
            "whole over several lines",
            orjson.dumps(end | around("Hi"), option=orjson.OPT_INDENT_2),
            SAID,
            **as_label,
        )
        yield case("an error", lines(line("Hi"), {"error": "CUDA error"}), BROKEN_OFF, "CUDA error")
        yield case("an error of nothing", lines(line("Hi"), {**end, "error": ""}), SAID)
        yield case("a done without an answer", lines({"done": True}), UNREADABLE, "no message")
        yield case("an object of nothing", as_json({}), UNREADABLE, "no message", **as_label)
        yield case("unreadable", lines(line("Hi"), b"{oops", end), UNREADABLE, "not JSON")
        yield case("a list", lines([]), UNREADABLE)
        yield case(
            "a page", b"<html><h1>502 Bad Gateway</h1></html>", UNREADABLE, "502 Bad Gateway", media_type="text/html"
        )
        yield case("events", sse(line("Hi"), end), SAID)
        yield case("a mark in front", b"\xef\xbb\xbf" + lines(line("Hi"), end), SAID)
        yield case(
            "half a pair",
            lines(
                as_json(line("a X")).replace(b"X", rb"\ud83d"), as_json(line("X b")).replace(b"X", rb"\ude00"), end
            ),
            Verdict(text="a \U0001f600 b", usage=(3, 2)),
        )
        yield case(
            "a number that JSON lacks",
            lines(line("Hi"), as_json(end).replace(b":3", b":NaN")),
            Verdict(text="Hi", usage=(0, 2)),
        )
    call = {"message": {"tool_calls": [{"function": {"name": "w", "arguments": {"c": 1}}}]}, "done": True}
    yield _of("ollama-chat", "a call", lines(call), called(("w", '{"c":1}')))
    lacking = as_json(call).replace(b"1", b"NaN")
    yield _of("ollama-chat", "a call with a number that JSON lacks", lines(lacking), UNREADABLE, "does not have")
    parts = {"message": {"content": [{"type": "text", "text": "Hi"}]}, "done": True}
    yield _of("ollama-chat", "content in parts", lines(parts), Verdict(text="Hi"))


def odd_ollama() -> Iterator[Case]:
    """Ends without a line feed, models that were only loaded, and numbers beyond 64 bits."""

    def case(name: str, body: bytes, verdict: Verdict, words: str = "", protocol: str = "ollama-chat") -> Case:
        return _of(protocol, name, body, verdict, words, reach="reader")

    for protocol, around in (
        ("ollama-chat", lambda text: {"message": {"content": text}}),
        ("ollama-generate", lambda text: {"response": text}),
    ):
        hi, end = lines({**around("Hi"), "done": False}), as_json({**around(""), "done": True})
        yield case("no line feed at the end", hi + end, Verdict(text="Hi"), protocol=protocol)
        yield case("something behind the last object", hi + end + b" x {", Verdict(text="Hi"), protocol=protocol)
        nested = as_json({**around(""), "x": {"done": True}, "done": False})
        yield case("done within a line", hi + nested + lines({}) + end, UNREADABLE, protocol=protocol)
        for reason in ("load", "unload"):
            only = {**around(""), "done": True, "done_reason": reason}
            yield case(f"nothing but {reason}", lines(only), UNREADABLE, "no words", protocol)
            yield case(
                f"{reason} behind words", lines({**only, **around("Hi")}), Verdict(text="Hi"), protocol=protocol
            )
    for numbers in (
        '{"id":123456789012345678901234567890}',
        '{"a":[-9223372036854775809,{"b":9223372036854775808,"c":18446744073709551616}],"d":0.1}',
        '{"a":1e20,"b":1.5}',
    ):
        call = b'{"name":"w","arguments":%b}' % numbers.encode()
        whole_call = b'{"message":{"tool_calls":[{"function":%b}]},"done":true}' % call
        yield case(f"arguments {numbers}", whole_call, called(("w", numbers)))
        beside = b'{"index":0,"message":{"content":"","tool_calls":[{"id":"a","function":%b}]}}' % call
        yield case(
            f"arguments {numbers}", b'{"choices":[%b]}' % beside, called(("w", numbers)), protocol="openai-chat"
        )
        before = b'{"index":0,"id":"a","function":{"name":"v","arguments":"{}"}}'
        both = b'{"content":"Hi","tool_calls":[%b,{"index":1,"id":"b","function":%b}]}' % (before, call)
        yield case(
            f"arguments {numbers} in a stream", sse(b'{"choices":[{"delta":%b}]}' % both, DONE),
            Verdict(text="Hi", calls=(("v", "{}"), ("w", numbers)), reason="tool_calls"), protocol="openai-chat",
        )  # fmt: skip
        item = b'{"type":"function_call","call_id":"a",%b' % call[1:]
        output = b'{"status":"completed","output":[%b]}' % item
        yield case(f"arguments {numbers}", output, called(("w", numbers)), protocol="openai-responses")
        done = sse(b'{"type":"response.output_item.done","item":%b}' % item, {"type": "response.done"})
        yield case(f"arguments {numbers} in a stream", done, called(("w", numbers)), protocol="openai-responses")
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    call = b'{"name":"w","arguments":%b}' % deep
    yield case(
        "deep arguments", b'{"message":{"tool_calls":[{"function":%b}]},"done":true}' % call, UNREADABLE, "levels"
    )
    beside = b'{"choices":[{"message":{"tool_calls":[{"id":"a","function":%b}]}}]}' % call
    yield case("deep arguments", beside, UNREADABLE, "levels", "openai-chat")
    for protocol in ("openai-chat", "openai-completions", "openai-responses", "koboldcpp"):
        yield case("nothing but a deep member", b'{"x":%b}' % deep, UNREADABLE, protocol=protocol)
        yield case("a deep error", b'{"error":%b}' % deep, BROKEN_OFF, "levels", protocol)


def kobold() -> Iterator[Case]:
    def case(name: str, body: bytes, verdict: Verdict, words: str = "", **members: Any) -> Case:
        return _of("koboldcpp", name, body, verdict, words, **members)

    yield case(
        "plain",
        b"event: message\n" + sse({"token": "Hi"}, {"token": "", "finish_reason": "length"}),
        Verdict(text="Hi", reason="length"),
    )
    yield case("the end of the body", sse({"token": "Hi"}), Verdict(text="Hi"))
    yield case("nothing", b"", BROKEN_OFF)
    yield case("nothing, labelled as JSON", b"", UNREADABLE, media_type="application/json")
    yield case(
        "other names", b"event: progress\ndata: {oops\n\nevent: message\n" + sse({"token": "Hi"}), Verdict(text="Hi")
    )
    yield case(
        "an event named error",
        sse({"token": "Hi"}) + b'event: error\ndata: {"message":"gone"}\n\n',
        BROKEN_OFF,
        "gone",
    )
    yield case(
        "an error",
        sse({"token": "Hi"}, {"error": {"msg": "gone", "code": 503}}),
        failed("ProviderUnavailable", 503),
        "gone",
    )
    yield case("unreadable", sse({"token": "Hi"}, b"{oops"), UNREADABLE)
    yield case("whole", as_json({"results": [{"text": "Hi"}]}), Verdict(text="Hi"))
    yield case("whole of null", as_json({"results": [{"text": None}]}), Verdict())
    yield case("no results", as_json({"results": []}), UNREADABLE, "no text")
