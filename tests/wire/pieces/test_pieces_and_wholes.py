"""What a stream of the Responses API says whole is what its pieces said, or more of it at the end: else a hole."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import ModelEvent, ToolCallPart
from mnemoir.wire import openai_responses
from tests.wire.answer_kit import UNREADABLE, Case, Verdict, as_json, sse
from tests.wire.test_answer_reader import read, read_whole

_AT = {"output_index": 0, "item_id": "m", "content_index": 0}
_IN = {"output_index": 0, "item_id": "f"}
_KINDS: Mapping[str, tuple[str, str, str, str]] = {
    "text": ("output_text", "text", "message", "content"),
    "refusal": ("refusal", "refusal", "message", "content"),
    "reasoning": ("reasoning_text", "text", "reasoning", "content"),
    "summary": ("reasoning_summary_text", "text", "reasoning", "summary"),
}


def _end(*output: object, **members: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output), **members}}


def _wholes(kind: str, whole: str) -> Iterator[tuple[str, list[object]]]:
    """The last events of a stream that say the whole text in one place each."""
    event, member, item_type, name = _KINDS[kind]
    at = {"output_index": 0, "item_id": "m", f"{name}_index": 0}
    part = {"type": event.removeprefix("reasoning_") if kind == "summary" else event, member: whole}
    item = {"type": item_type, "id": "m", name: [part]}
    said = {"type": "message", "id": "n", "content": [{"type": "output_text", "text": "Hi"}]}
    of_part = "response.reasoning_summary_part.done" if kind == "summary" else "response.content_part.done"
    shown = {"type": "response.output_text.delta", "output_index": 1, "item_id": "n", "delta": "Hi"}
    behind = [shown] if item_type == "reasoning" else []
    yield "text", [{"type": f"response.{event}.done", member: whole, **at}, *behind, _end()]
    yield "part", [{"type": of_part, "part": part, **at}, *behind, _end()]
    yield "item", [{"type": "response.output_item.done", "output_index": 0, "item": item}, *behind, _end()]
    yield "response", [*behind, _end(item, *([said] if behind else []))]


def _pieces(kind: str, *texts: str) -> list[dict[str, Any]]:
    event, _, _, name = _KINDS[kind]
    at = {"output_index": 0, "item_id": "m", f"{name}_index": 0}
    return [{"type": f"response.{event}.delta", "delta": text, **at} for text in texts]


def _bare(events: Sequence[Any]) -> list[Any]:
    """The events without any place."""
    return [
        {name: value for name, value in event.items() if name not in ("output_index", "item_id", "content_index")}
        for event in events
    ]


def _verdicts(*frames: object) -> Verdict:
    """The one verdict on a stream, read at once and byte by byte."""
    case = Case(protocol="openai-responses", name="", body=sse(*frames), verdict=Verdict())
    whole = read_whole(case)
    assert read(case, (case.body[n : n + 1] for n in range(len(case.body)))) == whole
    return whole[0]


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (("Hello ", "world"), "Hello big world"),
        (("world",), "Hello world"),
        (("Hello ", "world"), "Hello"),
        (("Hello ", "world"), "Good day"),
        (("Hello  ", "world"), "Hello world"),
    ],
)
def test_a_whole_text_that_does_not_go_on_from_its_pieces_is_an_error(
    kind: str, pieces: Sequence[str], whole: str
) -> None:
    for place, events in _wholes(kind, whole):
        assert _verdicts(*_pieces(kind, *pieces), *events) == UNREADABLE, place
        if kind == "text":
            assert _verdicts(*_bare(_pieces(kind, *pieces)), *_bare(events)) == UNREADABLE, place


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    ("pieces", "whole", "said"),
    [
        (("Hello ", "wor"), "Hello world", "Hello world"),
        (("\n\nHello", " world"), "Hello world", "\n\nHello world"),
        (("\nHello", " wor"), "Hello world", "\nHello world"),
        (("Hello", " world", " \n"), "Hello world", "Hello world \n"),
        (("Hello",), " Hello ", "Hello"),
        (("\n", "Hello"), "\nHello", "\nHello"),
        (("Hello ", "\ufffd", "\ufffd"), "Hello \U0001f600", "Hello \ufffd\ufffd"),
        (("Hello",), "", "Hello"),
        (("Hello",), " ", "Hello"),
    ],
)
def test_a_whole_text_fills_in_its_end_and_may_differ_in_white_space_around_it(
    kind: str, pieces: Sequence[str], whole: str, said: str
) -> None:
    for place, events in _wholes(kind, whole):
        verdict = _verdicts(*_pieces(kind, *pieces), *events)
        words = verdict.thinking if kind in ("reasoning", "summary") else verdict.text
        assert (verdict.error, words.removesuffix(" ")) == ("", said.removesuffix(" ")), place


def test_texts_that_are_missing_or_in_another_order_at_the_end_are_no_contradiction() -> None:
    a, b = ({"type": "message", "id": one, "content": [{"type": "output_text", "text": one}]} for one in "ab")
    shown = [
        {"type": "response.output_text.delta", "output_index": n, "item_id": one, "delta": one}
        for n, one in enumerate("ab")
    ]
    done = {"type": "response.output_text.done", **_AT}
    for output in ([a, b], [b, a], [b], [a], []):
        assert _verdicts(*shown, _end(*output)) == Verdict(text="ab")
    for member in ({}, {"text": None}, {"text": ""}):
        assert _verdicts(*_pieces("text", "Hi"), {**done, **member}, _end()) == Verdict(text="Hi")
    no_places = _bare([shown[0], {**done, "text": "a"}, shown[1], {**done, "text": "b"}, _end(a, b)])
    assert _verdicts(*no_places) == Verdict(text="ab")


def test_a_summary_in_other_words_than_the_reasoning_is_no_contradiction() -> None:
    content = [{"type": "reasoning_text", "text": "hm, tea"}]
    item = {"type": "reasoning", "id": "m", "content": content, "summary": [{"type": "summary_text", "text": "tea"}]}
    said = {"type": "message", "id": "n", "content": [{"type": "output_text", "text": "Hi"}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    verdict = Verdict(text="Hi", thinking="hm, tea")
    assert _verdicts(*_pieces("reasoning", "hm, ", "tea"), done, _end(item, said)) == verdict
    assert _verdicts(*_pieces("reasoning", "hm, ", "tea"), _end(item, said)) == verdict


# --- calls

_CALL = {"type": "function_call", "id": "f", "call_id": "c1", "name": "w"}
_BEGUN = {"type": "response.output_item.added", "output_index": 0, "item": {**_CALL, "arguments": ""}}


def _arguments(*texts: str, **members: Any) -> list[dict[str, Any]]:
    kind = "response.function_call_arguments.delta"
    return [{"type": kind, "delta": text, **(members or _IN)} for text in texts]


def _whole_calls(whole: object) -> Iterator[tuple[str, list[object]]]:
    item = {**_CALL, "arguments": whole}
    yield "arguments", [{"type": "response.function_call_arguments.done", "arguments": whole, **_IN}, _end()]
    yield "item", [{"type": "response.output_item.done", "output_index": 0, "item": item}, _end()]
    yield "response", [_end(item)]


@pytest.mark.parametrize("whole", ['{"a":1,"b":2}', '{"a":true}', '{"a":2}', "{}", '{"a":1', {"a": 2}])
def test_whole_arguments_that_do_not_go_on_from_their_pieces_are_an_error(whole: object) -> None:
    for place, events in _whole_calls(whole):
        assert _verdicts(_BEGUN, *_arguments('{"a":1', "}"), *events) == UNREADABLE, place


@pytest.mark.parametrize("whole", ['{"a":1}', ' {"a": 1.0}\n', {"a": 1}, None, "", '{"a":2,"a":1}'])
def test_whole_arguments_of_the_same_value_leave_those_of_the_pieces(whole: object) -> None:
    for place, events in _whole_calls(whole):
        verdict = Verdict(calls=(("w", '{"a":1}'),), reason="tool_calls")
        assert _verdicts(_BEGUN, *_arguments('{"a":1', "}"), *events) == verdict, place


def test_whole_arguments_fill_in_the_end_of_their_pieces() -> None:
    for place, events in _whole_calls('{"a":1,"b":2}'):
        verdict = Verdict(calls=(("w", '{"a":1,"b":2}'),), reason="tool_calls")
        assert _verdicts(_BEGUN, *_arguments('{"a":1', ',"b"'), *events) == verdict, place


def test_pieces_of_a_call_wait_for_its_name() -> None:
    item = {**_CALL, "arguments": '{"a":1}'}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    nameless = {**_BEGUN, "item": {**_CALL, "name": None, "arguments": ""}}
    called = Verdict(calls=(("w", '{"a":1}'),), reason="tool_calls")
    pieces = _arguments('{"a"', ":1}")
    for frames in (
        (*pieces, _end(item)),
        (*pieces, done, _end(item)),
        (*pieces, done, _end()),
        (*pieces, _BEGUN, _end()),
        (pieces[0], _BEGUN, pieces[1], done, _end()),
        (nameless, *pieces, done, _end(item)),
        (nameless, *pieces, {**done, "item": {**item, "name": ""}}, _end(item)),
        (_BEGUN, *pieces, {**done, "item": {**item, "name": ""}}, _end({**item, "name": None})),
        (*_arguments('{"a":1}', item_id="other"), _end(item)),
        (*_bare(pieces), _end(item)),
        ({"type": "response.function_call_arguments.done", "arguments": '{"a":1}', **_IN}, _end(item)),
    ):
        assert _verdicts(*frames) == called, frames


def test_two_calls_whose_names_come_last_get_their_own_arguments() -> None:
    items = [{**_CALL, "id": one, "call_id": one, "name": one, "arguments": f'"{one}"'} for one in "fg"]
    pieces = [
        piece for n, one in enumerate("gf") for piece in _arguments('"', one, '"', output_index=1 - n, item_id=one)
    ]
    both = Verdict(calls=(("f", '"f"'), ("g", '"g"')), reason="tool_calls")
    done = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(items)]
    for frames in ((*pieces, _end(*items)), (*pieces, *done, _end(*items)), (*pieces, *done, _end())):
        assert _verdicts(*frames) == both
    assert _verdicts(*pieces, _end(items[0])) == UNREADABLE


def test_a_call_that_gets_no_name_or_other_arguments_is_told_to_nobody() -> None:
    begun = {**_BEGUN, "item": {**_CALL, "name": "", "arguments": ""}}
    item = {**_CALL, "arguments": '{"a":1,"b":2}'}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    for frames in (
        (*_arguments('{"a":1}'), _end()),
        (begun, *_arguments('{"a":1}'), _end()),
        (begun, *_arguments('{"a":1}'), _end({**_CALL, "name": "", "arguments": '{"a":1}'})),
        (*_arguments('{"a":1}'), done, _end(item)),
        (*_arguments('{"a":1}'), _end(item)),
    ):
        assert _verdicts(*frames) == UNREADABLE
        assert not [event for event in _events(sse(*frames)) if isinstance(event, ToolCallPart)]


def test_a_nameless_call_beside_another_of_the_same_arguments_is_an_error() -> None:
    pieces = _arguments('{"a":1}', output_index=1, item_id="g")
    item = {**_CALL, "arguments": '{"a":1}'}
    assert _verdicts(_BEGUN, *_arguments('{"a":1}'), *pieces, _end(item)) == UNREADABLE
    assert _verdicts(_end(item, {**item, "id": "g", "call_id": "c2", "name": ""})) == UNREADABLE


def _events(body: bytes) -> list[ModelEvent]:
    """The events of a stream that comes byte by byte, up to its error."""
    reader = openai_responses.AnswerReader()
    events: list[ModelEvent] = []
    with suppress(ProviderError):
        for n in range(len(body)):
            events += reader.feed(body[n : n + 1])
    return events


# --- items that say that they are incomplete


def test_an_incomplete_item_in_a_completed_response_is_cut_by_its_length() -> None:
    text = {"type": "message", "id": "m", "status": "incomplete", "content": [{"type": "output_text", "text": "Hi"}]}
    call = {**_CALL, "status": "incomplete", "arguments": '{"a":1}'}
    half = {**call, "arguments": '{"a"'}
    why = {"incomplete_details": {"reason": "content_filter"}}
    for item, members, verdict in (
        (text, {}, Verdict(text="Hi", reason="length")),
        (text, why, Verdict(text="Hi", reason="content_filter")),
        (call, {}, Verdict(calls=(("w", '{"a":1}'),), reason="length")),
        (half, {}, UNREADABLE),
    ):
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        assert _verdicts(_end(item, **members)) == verdict
        assert _verdicts(done, _end(**members)) == verdict
        body = as_json(_end(item, **members)["response"])
        case = Case(protocol="openai-responses", name="", body=body, verdict=verdict, media_type="application/json")
        assert read_whole(case)[0] == verdict
