"""Any bytes at all have one verdict: read at once and byte by byte, and nothing but an answer or a ProviderError."""

import random
from collections import Counter
from collections.abc import Iterator

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
