"""Each answer has one verdict, however the network cuts it, and each error keeps the words of the server."""

from collections.abc import Iterable
from itertools import chain

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Alternative, Finished, Gathering, ModelEvent, Note, Text
from mnemoir.wire import openai_chat, upstream
from tests.each_case import check_each
from tests.wire.answer_cases import CASES
from tests.wire.answer_kit import (
    END,
    HI,
    READERS,
    Case,
    Verdict,
    as_json,
    chunk,
    sse,
    verdict_of_error,
    verdict_of_reply,
    whole,
)


def read(case: Case, pieces: Iterable[bytes]) -> tuple[Verdict, str]:
    """The verdict on a body that comes in these pieces, and the message of its error."""
    reader, gathering = READERS[case.protocol](case.media_type), Gathering()
    try:
        for piece in pieces:
            gathering.take(reader.feed(piece))
            reader.check()
        gathering.take(reader.end())
        reader.check()
        return verdict_of_reply(gathering.reply()), ""
    except ProviderError as exc:
        return verdict_of_error(exc), exc.message


def read_whole(case: Case) -> tuple[Verdict, str]:
    try:
        return verdict_of_reply(READERS[case.protocol].read_body(case.body, case.media_type)), ""
    except ProviderError as exc:
        return verdict_of_error(exc), exc.message


def test_each_answer_has_its_verdict_and_each_error_its_words() -> None:
    def check(case: Case) -> None:
        verdict, message = read_whole(case)
        assert verdict == case.verdict, message
        assert case.words in message

    check_each(CASES, check)


@pytest.mark.parametrize("part", range(4))
def test_a_verdict_is_the_same_byte_by_byte(part: int) -> None:
    def check(case: Case) -> None:
        assert read(case, (case.body[n : n + 1] for n in range(len(case.body)))) == read_whole(case)

    check_each(CASES[part::4], check)


def test_what_was_said_before_an_error_is_given_before_it_is_raised() -> None:
    reader = openai_chat.AnswerReader()
    events = reader.feed(sse(HI, b"{oops", END))
    assert [type(event).__name__ for event in events] == ["Text"]
    with pytest.raises(ProviderError):
        reader.check()
    with pytest.raises(ProviderError):
        reader.end()


def events_of(body: bytes) -> list[ModelEvent]:
    reader = openai_chat.AnswerReader()
    return [*reader.feed(body), *reader.end()]


def test_what_is_unreadable_behind_the_reason_is_noted_and_a_flood_of_it_is_not() -> None:
    notes = [event for event in events_of(sse(HI, END, *[b"{oops"] * 50)) if isinstance(event, Note)]
    assert len(notes) == 8
    assert "{oops" in notes[0].text


def test_an_unknown_part_is_named_in_a_note() -> None:
    part = {"type": "hologram", "hue": 3}
    for body in (sse(chunk({"content": [part]}), END), as_json(whole({"content": [part]}))):
        (note,) = (event for event in events_of(body) if isinstance(event, Note))
        assert "hologram" in note.text


def test_the_words_of_a_further_choice_stand_where_clients_look_for_them() -> None:
    hi = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}
    parts = {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "no"}]}
    asked = {"content": "no"}
    for choice, message in (
        ({"text": "no"}, asked),
        ({"delta": {"content": "no"}}, asked),
        ({"message": {"content": "no", "x": 1}}, {"content": "no", "x": 1}),
        ({"message": parts}, {"content": "no", "reasoning_content": "hm"}),
    ):
        other = {"index": 1, **choice, "finish_reason": "stop"}
        reply = READERS["openai-chat"].read_body(as_json({"choices": [hi, other]}))
        assert reply.alternatives == ({"index": 1, "message": message, "finish_reason": "stop"},)
        streamed = events_of(sse({"choices": [hi]}, {"choices": [other]}, b"[DONE]"))
        (told,) = (event.choice for event in streamed if isinstance(event, Alternative))
        assert told == {"index": 1, "delta": message, "finish_reason": "stop"}
    text = {"index": 1, "message": {"content": "no"}, "finish_reason": "stop"}
    of_texts = READERS["openai-completions"].read_body(as_json({"choices": [{"index": 0, "text": "Hi"}, text]}))
    assert of_texts.alternatives == ({"index": 1, "text": "no", "finish_reason": "stop"},)


FLOODS = [
    b'data: "' + rb"\"" * 250_000 + b"\n\n",
    b"data: " + b'"' * 500_001 + b"\n\n",
    b'data: "' + rb"\ud83d" * 80_000 + b"\n\n",
    b'data: "' + b"\xff\xc3" * 250_000 + b"\n\n",
    b"data: " + b"NaN-" * 125_000 + b"\n\n",
    b"data: " + b"[" * 500_000 + b"\n\n",
    b"data:\n" * 80_000 + b"\n\ndata: x\n\n",
    b"<script" * 9_000,
    b"<!--" * 16_000,
    b"<" * 64_000,
    b"{" + b" " * 500_000,
    b" " * 500_000,
    b"\r" * 500_000,
]


@pytest.mark.slow
def test_a_flood_that_cannot_be_read_is_refused_without_a_long_search() -> None:
    def check(protocol: str) -> None:
        for flood in FLOODS:
            reader = READERS[protocol]("application/json")
            pieces = (flood[start : start + 50_000] for start in range(0, len(flood), 50_000))
            with pytest.raises(ProviderError):
                list(chain(*map(reader.feed, pieces), reader.end()))

    check_each(READERS, check)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'data: {"error":{"message":"bad key","code":"invalid_api_key"}}\n\ndata: [DONE]\n\n', "bad key"),
        (b'event: error\ndata: {"message":"bad key"}\n\n', "bad key"),
        (b"event: error\ndata: bad key\n\n", "bad key"),
        (b'error: {"message":"bad key"}\n', "bad key"),
        (b'\xef\xbb\xbf{"error":"bad key"}', "bad key"),
        (b'[{"error":{"message":"bad key"}}]', "bad key"),
        (b'{"error":{"message":"bad \\ud83d key"}}', "bad \ufffd key"),
        (b'{"detail":{"error":{"message":"bad key"}}}', "bad key"),
        (b'{"object":"error","message":{"detail":[{"loc":["body","n"],"msg":"bad key"}]}}', "body.n: bad key"),
        (b"<html><head><style>a{}</style><title> bad key </title></head><body>x</body></html>", "bad key"),
        (b"bad key", "bad key"),
        (b'{"code":7}', '{"code":7}'),
        (b'{"error":true,"message":"bad key"}', "bad key"),
        (b'{"error":401,"message":"bad key"}', "bad key"),
        (b'{"error":"Unauthorized","message":"bad key"}', "Unauthorized: bad key"),
        (b'{"error":"bad key","message":"bad key"}', "bad key"),
        (b'{"errors":[{"message":"bad key"},{"message":"no user"}]}', "bad key; no user"),
        (b'{"success":false,"errors":["bad key"]}', "bad key"),
        (b'{"code":401,"msg":"bad key","data":null}', "bad key"),
        (b'{"detail":{"msg":"bad key","type":"x"}}', "bad key"),
        (b'{"fault":{"faultstring":"bad key"}}', "bad key"),
        (b'{"error_code":1,"error_msg":"bad key"}', "bad key"),
        (b'{"Message":"bad key"}', "bad key"),
        (
            b'{"error":{"message":"Provider error","metadata":{"raw":"bad key"}}}',
            "Provider error: bad key",
        ),
        (b'{"error":{"message":"","error":"bad key"}}', "bad key"),
        (b'{"error":["bad key"]}', "bad key"),
    ],
)
def test_the_words_of_an_error_are_found_in_any_shape(body: bytes, words: str) -> None:
    assert upstream.error_in_body(upstream.error_value(body), status=401).message == words


def test_a_long_answer_on_another_index_is_told_before_its_end_and_the_first_is_the_other_one_then() -> None:
    reader = openai_chat.AnswerReader()

    def piece(index: int, text: str) -> bytes:
        return sse({"choices": [{"index": index, "delta": {"content": text}}]})

    assert [event for _ in range(63) for event in reader.feed(piece(1, "x"))] == []
    assert reader.feed(piece(1, "y"))[-1] == Text("y")
    assert reader.feed(piece(1, "z")) == [Text("z")]
    (other,) = reader.feed(piece(0, "late"))
    assert isinstance(other, Alternative)
    assert other.choice["index"] == 1
    assert reader.feed(sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})) == []
    assert reader.end()[-1] == Finished(reason="length")


def test_a_flood_of_calls_or_places_is_refused_or_kept_small() -> None:
    calls = [{"index": n, "id": str(n), "function": {"name": "w", "arguments": ""}} for n in range(2_000)]
    items = [{"type": "function_call", "name": "w", "call_id": str(n)} for n in range(2_000)]
    for protocol, body in {
        "openai-chat": sse(chunk({"tool_calls": calls})),
        "openai-responses": as_json({"status": "completed", "output": items}),
        "ollama-chat": as_json({"message": {"tool_calls": calls}, "done": True}),
    }.items():
        with pytest.raises(ProviderError, match="more than 1024 tool calls"):
            READERS[protocol]("application/json").read(body)
    choices = ({"choices": [{"index": n, "delta": {"content": "x"}}]} for n in range(5_000))
    with pytest.raises(ProviderError, match="more than 4096 choices"):
        READERS["openai-chat"]("").read(sse(*choices))
    texts = [{"type": "response.output_text.delta", "output_index": n, "delta": "x"} for n in range(10_000)]
    done = [{"type": "response.output_text.done", "output_index": n, "text": "x"} for n in range(100)]
    end = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    assert READERS["openai-responses"]("").read(sse(*texts, *done, end)).text == "x" * 10_000
