"""Events and lines come out the same however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.wire.stream_readers import NamedEvent, NdjsonReader, SseReader
from tests.stages import staged

STREAM = (
    b": a comment\n\n"
    b"event: message\r\n"
    b"id: 7\r\n"
    b'data: {"a":"\xc3\xa4\xe2\x82\xac"}\r\n\r\n'
    b"data:first\n"
    b"data: second\n\n"
    b"\n"
    b"retry: 10\n"
    b"data: [DONE]\n\n"
)
EVENTS = ['{"a":"ä€"}'.encode(), b"first\nsecond", b"[DONE]"]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=30))
def test_sse_events_do_not_depend_on_where_reads_end(places: list[int]) -> None:
    reader = SseReader()
    assert [event for piece in cut(STREAM, places) for event in reader.feed(piece)] == EVENTS


def test_sse_events_survive_reads_of_one_byte() -> None:
    reader = SseReader()
    assert [event for byte in STREAM for event in reader.feed(bytes([byte]))] == EVENTS


@pytest.mark.parametrize("read_size", staged([1, 1000, 2_000_000], quick=[1000]))
def test_an_sse_event_of_one_mebibyte_arrives_whole(read_size: int) -> None:
    event = b"x" * 1_048_576
    stream = b"data: " + event + b"\n\n"
    reader = SseReader()
    pieces = (stream[at : at + read_size] for at in range(0, len(stream), read_size))
    assert [found for piece in pieces for found in reader.feed(piece)] == [event]


def test_an_sse_event_without_its_blank_line_is_given_at_the_end() -> None:
    reader = SseReader()
    assert reader.feed(b"data: [DONE]") == []
    assert reader.end() == [b"[DONE]"]
    assert reader.end() == []


@pytest.mark.parametrize(
    "flood", [b"data: " + b"x" * 200, b"data: xxxxxxxxxx\n" * 20, b"x" * 200], ids=["line", "lines", "no field"]
)
def test_an_sse_event_over_the_limit_is_refused(flood: bytes) -> None:
    with pytest.raises(ProviderInvalidOutput, match="more than 100 bytes"):
        SseReader(most_bytes=100).feed(flood)


def test_a_carriage_return_ends_a_line_at_once_and_swallows_the_line_feed_behind_it() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\n") == []
    assert reader.feed(b"\r") == [b"a"]
    assert reader.feed(b"\ndata: b\r\r") == [b"b"]
    assert [event for byte in b"data: c\r\n\r\ndata: d\n\r" for event in reader.feed(bytes([byte]))] == [b"c", b"d"]


def test_a_line_that_is_no_field_is_an_event_of_its_own() -> None:
    stream = b'data: a\nupstream error\n{"b":1}\n\nerror: gone\nid\nretry: 7\n: comment\n\n'
    assert SseReader().feed(stream) == [b"a", b"upstream error", b'{"b":1}', NamedEvent(b"error", b"gone")]


@pytest.mark.parametrize("by_name", [False, True])
def test_a_name_holds_until_the_next_but_that_of_a_ping_and_counts_where_names_count(by_name: bool) -> None:
    stream = b"event: ping\ndata: a\n\ndata: b\n\nevent: message\ndata: c\n\nevent:error\ndata: d\n\n"
    pinged: list[object] = [NamedEvent(b"ping", b"a"), NamedEvent(b"ping", b"b") if by_name else b"b"]
    assert SseReader(by_name=by_name).feed(stream) == [*pinged, b"c", NamedEvent(b"error", b"d")]


@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=30))
def test_json_lines_do_not_depend_on_where_reads_end(places: list[int]) -> None:
    reader = NdjsonReader()
    stream = '{"a":"ä€"}\r\n\n \n{"b":2}\n{"c":3}'.encode()
    lines = [line for piece in cut(stream, places) for line in reader.feed(piece)]
    assert [line.strip() for line in lines] == ['{"a":"ä€"}'.encode(), b'{"b":2}']
    assert reader.end() == [b'{"c":3}']
    assert reader.end() == []


def test_a_json_line_over_the_limit_is_refused() -> None:
    for flood in (b"x" * 101, b"x" * 101 + b"\n", b"{}\n" + b"x" * 101 + b"\n{}\n"):
        with pytest.raises(ProviderInvalidOutput, match="more than 100 bytes"):
            NdjsonReader(most_bytes=100).feed(flood)
