"""Answers of OpenAI's chat protocol as they come, byte for byte, and the verdict on each."""

from collections.abc import Sequence
from typing import Any

import orjson

from tests.wire.answer_kit import (
    BROKEN_OFF,
    COUNTED,
    DONE,
    END,
    HI,
    SAID,
    SOUND,
    UNREADABLE,
    USAGE,
    Case,
    Verdict,
    as_json,
    chunk,
    failed,
    sse,
    whole,
)


def _stream(name: str, body: bytes, verdict: Verdict, words: str = "", **members: Any) -> Case:
    return Case(protocol="openai-chat", name=name, body=body, verdict=verdict, words=words, **members)


def _after(frame: bytes) -> bytes:
    return sse(HI) + frame + sse(END, DONE)


STREAMS: Sequence[Case] = (
    _stream("plain", sse(HI, chunk({"content": "you"}), END, COUNTED, DONE), Verdict(text="Hi you", usage=(3, 2))),
    _stream("without a mark of its end", sse(HI, END), SOUND),
    _stream("done without a reason", sse(HI, DONE), SOUND),
    _stream("done and no choice at all", sse(COUNTED, DONE), UNREADABLE, "no choices"),
    _stream("done alone", sse(DONE), UNREADABLE, "no choices"),
    _stream("neither reason nor done", sse(HI), BROKEN_OFF, "before its answer was complete"),
    _stream("nothing", b"", BROKEN_OFF, "before its answer was complete"),
    _stream("nothing, labelled as JSON", b" \n", UNREADABLE, "not JSON", media_type="application/json"),
    _stream("empty data", _after(b"data: \n\ndata:\n\n"), SOUND),
    _stream("comments and fields", _after(b": ping\n\nid: 7\nretry: 9\n\nevent: ping\ndata: {}\n\n"), SOUND),
    _stream("a frame that is cut", _after(b'data: {"choices":[{"del\n\n'), UNREADABLE, "not JSON"),
    _stream("a frame of plain words", _after(b"data: Internal Server Error\n\n"), UNREADABLE, "Internal Server"),
    _stream("a line of plain words", _after(b"upstream connect error\n\n"), UNREADABLE, "upstream connect"),
    _stream("a frame that is a number", _after(b"data: 7\n\n"), UNREADABLE, "not an object"),
    _stream("a frame that is a list", _after(b"data: []\n\n"), UNREADABLE, "not an object"),
    _stream("a frame that is null", _after(b"data: null\n\n"), SOUND),
    _stream("a frame that is a text", _after(b'data: "Internal Server Error"\n\n'), UNREADABLE, "not an object"),
    _stream("unreadable behind the reason", sse(HI, END, b"{oops", DONE), SOUND),
    _stream("an error behind the reason", sse(HI, END, {"error": {"message": "late"}}, DONE), BROKEN_OFF, "late"),
    _stream(
        "an error of a code",
        _after(sse({"error": {"message": "slow", "code": 429}})),
        failed("ProviderRefused", 429),
        "slow",
    ),
    _stream("an error that is a text", _after(sse({"error": "boom"})), BROKEN_OFF, "boom"),
    _stream(
        "an error beside an error",
        _after(sse({"error": "slow", "code": 429})),
        failed("ProviderRefused", 429),
        "slow",
    ),
    _stream("an error of null", _after(sse(chunk({"content": ""}, error=None), {"error": ""}, {"error": {}})), SOUND),
    _stream(
        "a flat error",
        _after(sse({"object": "error", "message": "dead", "code": 500})),
        failed("ProviderUnavailable", 500),
        "dead",
    ),
    _stream("a detail", _after(sse({"detail": "out of memory"})), BROKEN_OFF, "out of memory"),
    _stream(
        "a list of details",
        _after(sse({"detail": [{"loc": ["body", "n"], "msg": "wrong"}]})),
        BROKEN_OFF,
        "body.n: wrong",
    ),
    _stream("a message without choices", _after(sse({"message": "no such model"})), BROKEN_OFF, "no such model"),
    _stream("an event named error", _after(b'event: error\ndata: {"message":"gone"}\n\n'), BROKEN_OFF, "gone"),
    _stream("an event named error, in words", _after(b"event: error\ndata: gone away\n\n"), BROKEN_OFF, "gone away"),
    _stream(
        "a field named error",
        b'error: {"code":400,"message":"too long"}\n\n',
        failed("ProviderRefused", 400),
        "too long",
    ),
    _stream(
        "bare JSON within",
        _after(b'{"error":{"code":400,"message":"too long"}}\n\n'),
        failed("ProviderRefused", 400),
        "too long",
    ),
    _stream(
        "bare JSON first",
        b'{"error":{"code":400,"message":"too long"}}\n\ndata: [DONE]\n\n',
        failed("ProviderRefused", 400),
        "too long",
    ),
    _stream(
        "an error in the choice",
        sse({"choices": [{"index": 0, "delta": {}, "error": {"message": "bad", "code": 502}}]}, DONE),
        failed("ProviderUnavailable", 502),
        "bad",
    ),
    _stream("an error in the delta", sse(HI, chunk({"error": {"message": "bad"}}), DONE), BROKEN_OFF, "bad"),
    _stream("the reason error", sse(HI, chunk({}, "error"), DONE), BROKEN_OFF, "broke off"),
    _stream(
        "the reason error beside an error",
        sse(HI, chunk({}, "error", error={"message": "disconnected"}), DONE),
        BROKEN_OFF,
        "disconnected",
    ),
    _stream(
        "an error in a list", b'[{"error":{"code":503,"message":"busy"}}]', failed("ProviderUnavailable", 503), "busy"
    ),
    _stream("a page", b"<!doctype html><html><head><title>Sign in</title></head></html>", UNREADABLE, "Sign in"),
    _stream("words", b"Not Found", UNREADABLE, "Not Found"),
    _stream("a delta that is a text", sse(chunk(None, None) | {"choices": [{"delta": "x"}]}, DONE), UNREADABLE),
    _stream("choices that are a text", sse({"choices": "x"}, DONE), UNREADABLE),
    # what is sound, though odd
    _stream(
        "a message behind empty deltas",
        sse(
            chunk({"role": "assistant", "content": ""}),
            {"choices": [{"message": {"content": "Hi "}, "finish_reason": "stop"}]},
        ),
        SOUND,
    ),
    _stream(
        "messages with a pause",
        sse(
            {"choices": [{"message": {"content": "H"}}]},
            {"choices": [{}]},
            {"choices": [{"message": {"content": "i "}}]},
            DONE,
        ),
        SOUND,
    ),
    _stream(
        "a text completion's stream",
        sse({"choices": [{"text": "Hi "}]}, {"choices": [{"text": "", "finish_reason": "stop"}]}),
        SOUND,
    ),
    _stream("content in parts", sse(chunk({"content": [{"type": "text", "text": "Hi "}]}), END), SOUND),
    _stream(
        "thinking in parts",
        sse(
            chunk(
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                        {"type": "text", "text": "Hi "},
                        {"type": "odd"},
                    ]
                }
            ),
            END,
        ),
        Verdict(text="Hi ", thinking="hm"),
    ),
    _stream(
        "messages in place of deltas",
        sse(
            {"choices": [{"message": {"content": "Hi"}}]},
            {"choices": [{"message": {"content": " you"}, "finish_reason": "stop"}]},
        ),
        Verdict(text="Hi you"),
    ),
    _stream(
        "a message behind the deltas",
        sse(HI, {"choices": [{"message": {"content": "Hi "}, "finish_reason": "stop"}]}),
        SOUND,
    ),
    _stream("a mark in front", b"\xef\xbb\xbf" + sse(HI, END, DONE), SOUND),
    _stream("a mark behind space", b"\r\n \xef\xbb\xbf\n" + sse(HI, END, DONE), SOUND),
    _stream("lines that end in CR", sse(HI, END, DONE).replace(b"\n", b"\r"), SOUND),
    _stream("lines that end in CRLF", sse(HI, END, DONE).replace(b"\n", b"\r\n"), SOUND),
    _stream("lines of all ends", b"data: " + as_json(HI) + b"\r\r\ndata: " + as_json(END) + b"\n\r\n", SOUND),
    _stream("events that no blank line divides", b"data: " + as_json(HI) + b"\ndata: " + as_json(END) + b"\n", SOUND),
    _stream(
        "data over two lines",
        b'data: {"choices":[{"delta":\ndata: {"content":"Hi "},"finish_reason":"stop"}]}\n\n',
        SOUND,
    ),
    _stream(
        "half a pair alone",
        sse(b'{"choices":[{"delta":{"content":"a \\udcaf b"}}]}', END),
        Verdict(text="a \ufffd b"),
    ),
    _stream(
        "a pair over two frames",
        sse(
            b'{"choices":[{"delta":{"content":"a \\ud83d"}}]}',
            b'{"choices":[{"delta":{"content":"\\ude00 b"}}]}',
            END,
        ),
        Verdict(text="a \U0001f600 b"),
    ),
    _stream(
        "half a pair at the end",
        sse(b'{"choices":[{"delta":{"content":"a \\ud83d"}}]}', END),
        Verdict(text="a \ufffd"),
    ),
    _stream(
        "half a pair before other text",
        sse(b'{"choices":[{"delta":{"content":"a \\ud83d"}}]}', HI, END),
        Verdict(text="a \ufffdHi "),
    ),
    _stream(
        "an escaped backslash before what looks like half a pair",
        sse(b'{"choices":[{"delta":{"content":"a \\\\ud83d"}}]}', END),
        Verdict(text="a \\ud83d"),
    ),
    _stream(
        "a character over three frames",
        sse(
            b'{"choices":[{"delta":{"content":"a \xf0"}}]}',
            b'{"choices":[{"delta":{"content":"\x9f"}}]}',
            b'{"choices":[{"delta":{"content":"\x98\x80 b"}}]}',
            END,
        ),
        Verdict(text="a \U0001f600 b"),
    ),
    _stream(
        "bytes that are not UTF-8",
        sse(b'{"choices":[{"delta":{"content":"a \xff b"}}]}', END),
        Verdict(text="a \ufffd b"),
    ),
    _stream(
        "numbers that JSON lacks",
        sse(
            b'{"choices":[{"delta":{"content":"Hi "},"logprobs":{"x":-Infinity,"y":NaN}}]}',
            END,
            b'{"choices":[],"usage":{"prompt_tokens":NaN,"completion_tokens":2}}',
            DONE,
        ),
        Verdict(text="Hi ", usage=(0, 2)),
    ),
    _stream(
        "words about NaN",
        sse(b'{"choices":[{"delta":{"content":"NaN, Infinity"},"logprobs":NaN}]}', END),
        Verdict(text="NaN, Infinity"),
    ),
)


def _json(name: str, value: object, verdict: Verdict, words: str = "") -> Case:
    return _stream(name, as_json(value), verdict, words, media_type="application/json")


_NO_CHOICES: Sequence[object] = ([], None, {}, "x", 7)
WHOLE: Sequence[Case] = (
    _json("whole", whole({"role": "assistant", "content": "Hi"}), SAID),
    _json(
        "whole, written over several lines", orjson.dumps(whole({"content": "Hi"}), option=orjson.OPT_INDENT_2), SAID
    ),
    _json(
        "content of null, cut at the limit",
        whole({"content": None}, "length"),
        Verdict(reason="length", usage=(3, 2)),
    ),
    _json("no content", whole({"role": "assistant"}), Verdict(usage=(3, 2))),
    _json(
        "only a reason",
        {"choices": [{"finish_reason": "content_filter"}], "usage": USAGE},
        Verdict(reason="content_filter", usage=(3, 2)),
    ),
    _json(
        "no message and no reason",
        {"choices": [{"index": 0, "finish_reason": None}]},
        UNREADABLE,
        "without a message",
    ),
    *(_json(f"choices {choices}", {"choices": choices}, UNREADABLE, "no choices") for choices in _NO_CHOICES),
    _json("no choices", {}, UNREADABLE, "no choices"),
    _json("no choices and a message", {"choices": [], "message": "slow down"}, BROKEN_OFF, "slow down"),
    _json("an error of another shape", {"success": False, "state": "x"}, UNREADABLE, '"state":"x"'),
    _json("an only delta", whole(None) | {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}, SAID),
    _json(
        "thinking beside text",
        whole(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "Hi"},
                ]
            }
        ),
        Verdict(text="Hi", thinking="hm", usage=(3, 2)),
    ),
    _json(
        "reasoning beside null",
        whole({"content": None, "reasoning_content": "hm"}, "length"),
        Verdict(thinking="hm", reason="length", usage=(3, 2)),
    ),
    _json("content that is a number", whole({"content": 7}), UNREADABLE),
    _json("the reason error in whole", whole({"content": "half"}, "error"), BROKEN_OFF, "broke off"),
    _json(
        "an error in the message",
        whole({"content": "", "error": {"message": "bad", "code": 500}}),
        failed("ProviderUnavailable", 500),
        "bad",
    ),
    _json(
        "an error",
        {"error": {"message": "free-models-per-day", "code": 429}},
        failed("ProviderRefused", 429),
        "free-models",
    ),
    _json("an error in words", {"error": "Unexpected endpoint"}, BROKEN_OFF, "Unexpected endpoint"),
    _json("an error within an error", {"error": {"error": {"message": "deep"}}}, BROKEN_OFF, "deep"),
    _json("a text completion", {"choices": [{"text": "Hi", "finish_reason": "stop"}], "usage": USAGE}, SAID),
    _json("half an object", b'{"choices": [{"mess', UNREADABLE, "not JSON"),
    _json(
        "whole with half a pair",
        b'{"choices":[{"message":{"content":"a \\ud83d"},"finish_reason":"stop"}]}',
        Verdict(text="a \ufffd"),
    ),
    _json(
        "whole with a number that JSON lacks",
        b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop","logprobs":{"x":NaN}}]}',
        Verdict(text="Hi"),
    ),
    _json("a stream labelled as JSON", sse(HI, END, DONE), SOUND),
    _json(
        "a whole call without an id",
        whole({"content": None, "tool_calls": [{"function": {"name": "w", "arguments": "{}"}}]}),
        Verdict(calls=(("w", "{}"),), reason="tool_calls", usage=(3, 2)),
    ),
    _json(
        "a whole call with a number that JSON lacks",
        b'{"choices":[{"message":{"tool_calls":[{"function":{"name":"w","arguments":{"c":[Infinity]}}}]}}]}',
        UNREADABLE,
        "does not have",
    ),
)
