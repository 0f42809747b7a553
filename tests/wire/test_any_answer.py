"""Any bytes at all have one verdict: read at once and byte by byte, and nothing but an answer or a ProviderError."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.wire.answer_cases import CASES
from tests.wire.answer_kit import READERS, Case
from tests.wire.test_answer_reader import read, read_whole

COUNT = 5_000
MOST_SPLIT = 2_048
TOKENS = (
    *(b"NaN", b"-Infinity", rb"\ud83d", rb"\ude00", b"\xf0\x9f", b"\x98\x80", b"\xff", b"\xef\xbb\xbf", b"\x00"),
    *(b"\r", b"\n", b"\r\n", b"\n\n", b"data: ", b"data:", b"event: error\n", b"error: ", b": ping\n", b"[DONE]"),
    *(b"null", b"[]", b"{}", b"{", b"}", b'"', b"\\", b'{"error":{"message":"x","code":429}}', b'"error":"x",'),
    *(
        b'"done":true,',
        b'"done":false,',
        b'"choices":[],',
        b'"content":null,',
        b'"finish_reason":"error",',
        b"<html>",
    ),
    *(b'"done":true}', b'{"done":true}', b"123456789012345678901234567890", b"1e20", b'"index":1,', b'"index":2,'),
    *(b'{"data":', b'{"response":', b'"x_groq":{"usage":{"prompt_tokens":1}},', b'"done_reason":"load",'),
)


def _mutated(body: bytes, others: list[Case], chance: random.Random) -> bytes:
    """`body` with one to three changes: cut, joined with another, bytes left out, repeated, changed or put in."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randint(0, len(body))
        end = min(len(body), start + chance.randint(1, 40))
        other = chance.choice(others).body
        body = chance.choice(
            (
                body[:start],
                body[start:],
                body[:start] + other[chance.randint(0, len(other)) :],
                body[:start] + body[end:],
                body[:end] + body[start:],
                body[:start] + bytes([chance.randrange(256)]) + body[start + 1 :],
                body[:start] + chance.choice(TOKENS) + body[start:],
                body[:start] + chance.choice(TOKENS) + body[end:],
            )
        )
    return body


def strings_of(protocol: str, count: int) -> Iterator[Case]:
    """`count` bodies of a protocol: its cases as they are, and changed."""
    chance = random.Random(protocol)
    cases = [case for case in CASES if case.protocol == protocol]
    labels = sorted({case.media_type for case in CASES})
    for n in range(count):
        case = cases[n] if n < len(cases) else chance.choice(cases)
        body = case.body if n < len(cases) else _mutated(case.body, cases, chance)
        label = case.media_type if n < len(cases) else chance.choice(labels)
        yield Case(
            protocol=protocol, name=f"{protocol} {n}", body=body[:MOST_SPLIT], verdict=case.verdict, media_type=label
        )


@pytest.mark.slow
@pytest.mark.parametrize("protocol", READERS)
def test_any_bytes_have_one_verdict_whole_and_byte_by_byte(protocol: str) -> None:
    kinds: Counter[str] = Counter()
    for case in strings_of(protocol, COUNT):
        at_once = read_whole(case)
        assert read(case, (case.body[n : n + 1] for n in range(len(case.body)))) == at_once, case
        kinds[at_once[0].error or "an answer"] += 1
    assert kinds["an answer"] > COUNT / 100
    assert kinds["ProviderInvalidOutput"] > COUNT / 50


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 1.5, "", "x", "0", "1", "abort", "stop", [], {}, [[]], [None], [{}]),
    *({"a": 1}, {"type": "x"}, ["a"], {"error": "x"}, 2**64 - 1, 1e20, {"a": 1e20}, {"content": "x"}, "load"),
)
NAMES = (
    *("error", "errors", "detail", "msg", "code", "index", "id", "item_id", "output_index", "content_index", "delta"),
    *("message", "text", "finish_reason", "type", "item", "part", "response", "output", "status", "arguments"),
    *("content", "data", "result", "done", "done_reason", "completion_tokens", "logprobs", "annotations", "images"),
    *("name", "function", "tool_calls", "function_call", "usage", "x_groq", "base_resp", "choices", "object"),
)


def _with_other_values(value: Any, chance: random.Random) -> Any:
    """`value` with some of what is in it left out, put in, or replaced by a value of any type."""
    if chance.random() < 0.06:
        return chance.choice(VALUES)
    if isinstance(value, list):
        return [_with_other_values(one, chance) for one in value] + [chance.choice(VALUES)] * (chance.random() < 0.1)
    if not isinstance(value, dict):
        return value
    kept = {name: _with_other_values(one, chance) for name, one in value.items() if chance.random() > 0.03}
    return kept | ({chance.choice(NAMES): chance.choice(VALUES)} if chance.random() < 0.05 else {})


def _frames(body: bytes) -> tuple[bytes, list[Any]]:
    """The beginning of each frame of a body, and the frames that are JSON."""
    front = b"data: " if body.startswith(b"data:") else b""
    frames = []
    for line in body.splitlines():
        with suppress(orjson.JSONDecodeError):
            frames.append(orjson.loads(line.removeprefix(b"data:")))
    return front, frames


@pytest.mark.slow
@pytest.mark.parametrize("protocol", READERS)
def test_any_values_in_an_answer_have_one_verdict_whole_and_in_pieces(protocol: str) -> None:
    chance = random.Random(protocol)
    cases = [(case, *_frames(case.body)) for case in CASES if case.protocol == protocol]
    for _ in range(COUNT):
        case, front, frames = chance.choice(cases)
        lines = (front + orjson.dumps(_with_other_values(frame, chance)) for frame in frames)
        odd = replace(case, body=(b"\n\n" if front else b"\n").join(lines))
        pieces = (odd.body[start : start + 7] for start in range(0, len(odd.body), 7))
        assert read(odd, pieces) == read_whole(odd), odd
