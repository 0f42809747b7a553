"""Tool calls of OpenAI's chat protocol as they come, whole and in pieces, and the verdict on each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from tests.wire.answer_kit import DONE, SOUND, UNREADABLE, Case, Verdict, as_json, called, chunk, sse


def _stream(name: str, body: bytes, verdict: Verdict, words: str = "", **members: Any) -> Case:
    return Case(protocol="openai-chat", name=name, body=body, verdict=verdict, words=words, **members)


def _both(name: str, said: Mapping[str, Any], verdict: Verdict, words: str = "") -> Iterator[Case]:
    """What is said in a delta, and in the message of a whole answer."""
    yield _stream(name, sse(chunk(said), chunk({}, "stop"), DONE), verdict, words)
    whole = {"choices": [{"message": said, "finish_reason": "stop"}]}
    yield _stream(f"{name}, whole", as_json(whole), verdict, words, media_type="application/json")


def _call(arguments: Any = "{}", **members: Any) -> dict[str, Any]:
    given = {"index": 0, "id": "a", "type": "function", "function": {"name": "w", "arguments": arguments}}
    return {name: value for name, value in {**given, **members}.items() if value is not None}


def _pieces(*calls: object) -> bytes:
    return sse(*(chunk({"tool_calls": [call]}) for call in calls), chunk({}, "tool_calls"), DONE)


def _cut(*pieces: bytes, index: int = 0) -> bytes:
    """A call whose arguments come in these pieces of JSON text, as they are."""
    head = as_json(chunk({"tool_calls": [{"index": index, "id": "a", "function": {"name": "w", "arguments": "X"}}]}))
    rest = as_json(chunk({"tool_calls": [{"index": index, "function": {"arguments": "X"}}]}))
    frames = [(rest if n else head).replace(b"X", piece) for n, piece in enumerate(pieces)]
    return sse(*frames, chunk({}, "tool_calls"), DONE)


_SMILE = called(("w", '{"c":"\U0001f600"}'))
_BROKEN = called(("w", '{"c":"\ufffd"}'))
HALVES: Sequence[Case] = (
    _stream("a pair over two fragments", _cut(rb"{\"c\":\"\ud83d", rb"\ude00\"}"), _SMILE),
    _stream("a character over three fragments", _cut(b'{\\"c\\":\\"\xf0', b"\x9f\x98", b'\x80\\"}'), _SMILE),
    _stream("an empty fragment between the halves", _cut(rb"{\"c\":\"\ud83d", b"", rb"\ude00\"}"), _SMILE),
    _stream("half a pair and no other", _cut(rb"{\"c\":\"\ud83d", rb"\"}"), _BROKEN),
    _stream("half a pair at the end", _cut(rb"{\"c\":1}\ud83d"), called(("w", '{"c":1}\ufffd'))),
    _stream("half a pair in the first fragment alone", _cut(rb"\ud83d", rb"\ude00"), called(("w", "\U0001f600"))),
    _stream(
        "halves that belong to two calls",
        _cut(rb"{\"c\":\"\ud83d").removesuffix(sse(chunk({}, "tool_calls"), DONE))
        + _cut(rb"\ude00\"}", index=1).replace(b'"a"', b'"b"').replace(b'"w"', b'"v"'),
        called(("w", '{"c":"\ufffd'), ("v", '\ufffd"}')),
    ),
)
CALLS: Sequence[Case] = (
    _stream(
        "two calls on one index",
        _pieces(_call(), _call(id="b", function={"name": "v", "arguments": "[]"})),
        called(("w", "{}"), ("v", "[]")),
    ),
    _stream(
        "arguments of two calls on one index",
        _pieces(
            _call('{"c":'),
            _call("1}", id=None, function={"arguments": "1}"}),
            _call(id="b", function={"name": "v", "arguments": "{"}),
            _call(id=None, function={"arguments": "}"}),
        ),
        called(("w", '{"c":1}'), ("v", "{}")),
    ),
    _stream("a call without an id", _pieces(_call(id=None)), called(("w", "{}"))),
    _stream(
        "another id without a name",
        _pieces(_call("{"), {"index": 0, "id": "b", "function": {"arguments": "}"}}),
        called(("w", "{}")),
    ),
    _stream(
        "the same id on another index",
        _pieces(_call("{"), {"index": 1, "id": "a", "function": {"arguments": "}"}}),
        called(("w", "{}")),
    ),
    _stream("the same id and name in each piece", _pieces(_call("{"), _call("}")), called(("w", "{}"))),
    _stream(
        "pieces without id and index",
        _pieces(_call("{", index=None), {"function": {"arguments": "}"}}),
        called(("w", "{}")),
    ),
    _stream(
        "named calls without id and index",
        _pieces(_call(index=None, id=""), _call(index=None, id="", function={"name": "v", "arguments": "{}"})),
        called(("w", "{}"), ("v", "{}")),
    ),
    _stream(
        "an index that is a text",
        _pieces(_call("{", index="0"), {"index": "0", "function": {"arguments": "}"}}),
        called(("w", "{}")),
    ),
    _stream("arguments that are an object", _pieces(_call({"c": 1})), called(("w", '{"c":1}'))),
    _stream(
        "arguments with a number that JSON lacks",
        _pieces(orjson.Fragment(b'{"id":"a","function":{"name":"w","arguments":{"c":NaN}}}')),
        UNREADABLE,
        "does not have",
    ),
    _stream(
        "a call without a name",
        _pieces({"index": 0, "id": "a", "function": {"arguments": "{}"}}),
        UNREADABLE,
        "without a name",
    ),
    *_both("calls that are no list", {"tool_calls": "w"}, UNREADABLE),
    *_both("calls that are an object of nothing", {"content": "Hi ", "tool_calls": {}}, SOUND),
    *_both("calls of nothing", {"content": "Hi ", "tool_calls": [None]}, SOUND),
    *_both("a call beside nothing", {"tool_calls": [None, _call()]}, called(("w", "{}"))),
    *_both("a call that is a text", {"tool_calls": ["w"]}, UNREADABLE, "not an object"),
    *_both(
        "a name of nothing",
        {"tool_calls": [_call(function={"name": "", "arguments": "{}"})]},
        UNREADABLE,
        "without a name",
    ),
    *_both("no name", {"tool_calls": [_call(function={"arguments": "{}"})]}, UNREADABLE, "without a name"),
    *_both(
        "arguments of null", {"tool_calls": [_call(function={"name": "w", "arguments": None})]}, called(("w", ""))
    ),
    *_both("arguments that are a list", {"tool_calls": [_call([])]}, UNREADABLE),
    *_both("ids that are numbers", {"tool_calls": [_call(id=7)]}, called(("w", "{}"))),
    *_both("a call by its former name", {"function_call": {"name": "w", "arguments": "{}"}}, called(("w", "{}"))),
    *_both("no call by its former name", {"content": "Hi ", "function_call": None}, SOUND),
    *_both(
        "a call by both names",
        {"tool_calls": [_call()], "function_call": {"name": "w", "arguments": "{}"}},
        called(("w", "{}")),
    ),
    _stream(
        "a call by its former name in pieces",
        sse(
            chunk({"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": ""}}),
            *(chunk({"function_call": {"arguments": text}}) for text in ('{"c"', ":1}")),
            chunk({}, "function_call"),
        ),
        called(("w", '{"c":1}')),
        reach="all",
    ),
    _stream(
        "several calls of one id",
        _pieces(_call(), _call(index=1, function={"name": "v", "arguments": "[]"})),
        called(("w", "{}"), ("v", "[]")),
        reach="all",
    ),
)
