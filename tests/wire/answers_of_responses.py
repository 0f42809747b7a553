"""Answers of the Responses API whose texts and calls stand in events other than the pieces, with their verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, UNREADABLE, Case, Verdict, as_json, sse

_AT = {"output_index": 0, "item_id": "m", "content_index": 0}
_PART = {"type": "output_text", "text": "Hi you"}
_MESSAGE = {"type": "message", "id": "m", "content": [_PART]}
_TEXT: Sequence[Sequence[Mapping[str, Any]]] = (
    tuple({"type": "response.output_text.delta", "delta": text, **_AT} for text in ("Hi", " ", "you")),
    ({"type": "response.output_text.done", "text": "Hi you", **_AT},),
    ({"type": "response.content_part.done", "part": _PART, **_AT},),
    ({"type": "response.output_item.done", "output_index": 0, "item": _MESSAGE},),
)
_OF_CALL = {"output_index": 1, "item_id": "f"}
_CALL = {"type": "function_call", "id": "f", "call_id": "c1", "name": "w", "arguments": '{"c":1}'}
_BEGUN = {"type": "response.output_item.added", "output_index": 1, "item": {**_CALL, "arguments": ""}}
_ARGUMENTS: Sequence[Sequence[Mapping[str, Any]]] = (
    tuple({"type": "response.function_call_arguments.delta", "delta": text, **_OF_CALL} for text in ('{"c"', ":1}")),
    ({"type": "response.function_call_arguments.done", "arguments": '{"c":1}', **_OF_CALL},),
    ({"type": "response.output_item.done", "output_index": 1, "item": _CALL},),
)
_SUMMARY = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text} for text in ("hm", "so")]}
_THOUGHT: Sequence[Sequence[Mapping[str, Any]]] = (
    tuple(
        {"type": "response.reasoning_summary_text.delta", "output_index": 7, "summary_index": n, "delta": text}
        for n, text in ((0, "h"), (0, "m"), (1, "so"))
    ),
    tuple(
        {"type": "response.reasoning_summary_text.done", "output_index": 7, "summary_index": n, "text": text}
        for n, text in enumerate(("hm", "so"))
    ),
    ({"type": "response.output_item.done", "output_index": 7, "item": _SUMMARY},),
)


def _end(*output: object, status: str = "completed", **members: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": list(output), **members}}


def _some(forms: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[list[Mapping[str, Any]]]:
    """The events of each choice of forms, in their order, that is not empty."""
    for count in range(1, len(forms) + 1):
        yield from (list(chain(*chosen)) for chosen in combinations(forms, count))


def _without(events: Sequence[Mapping[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in event.items() if name not in names} for event in events]


def whole_texts() -> Iterator[Case]:
    """Each text once, in whichever events it stands."""
    said, called = Verdict(text="Hi you"), Verdict(calls=(("w", '{"c":1}'),), reason="tool_calls")
    thought = Verdict(text="Hi you", thinking="hm\nso")
    yield _case("text in the end alone", sse(_end(_MESSAGE)), said)
    yield _case("a call in the end alone", sse(_end(_CALL)), called)
    yield _case("thoughts in the end alone", sse(_end(_SUMMARY, _MESSAGE)), thought)
    for n, events in enumerate(_some(_TEXT)):
        for end in (_end(), _end(_MESSAGE)):
            yield _case(f"text in the forms {n}", sse(*events, end), said)
            yield _case(f"text without places in the forms {n}", sse(*_without(events, *_AT), end), said)
            yield _case(f"text without indexes in the forms {n}", sse(*_without(events, "output_index"), end), said)
    for n, events in enumerate(_some(_ARGUMENTS)):
        for end in (_end(), _end(_CALL)):
            yield _case(f"a call in the forms {n}", sse(_BEGUN, *events, end), called)
            moved = sse(*_without([_BEGUN, *events], "output_index"), end)
            yield _case(f"a call without indexes in the forms {n}", moved, called)
    yield _case("a call that was never begun", sse(*_ARGUMENTS[2], _end()), called)
    for n, events in enumerate(_some(_THOUGHT)):
        yield _case(f"thoughts in the forms {n}", sse(*events, *_TEXT[0], _end(_SUMMARY, _MESSAGE)), thought)


def odd_responses() -> Iterator[Case]:
    two = [{**_MESSAGE, "id": one, "content": [{"type": "output_text", "text": one}]} for one in "ab"]
    items = [{"type": "response.output_item.done", "item": item} for item in two]
    yield _case("two items without places", sse(*items, _end(*two)), Verdict(text="ab"))
    same = [{**_MESSAGE, "content": [{"type": "output_text", "text": "ha"}]}] * 2
    at = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(same)]
    yield _case("two items of one text", sse(*at, _end(*same)), Verdict(text="haha"))
    reasoned = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]}
    yield _case("thoughts in whole", as_json(_end(reasoned, _MESSAGE)["response"]), _thinking("Hi you"))
    filtered: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    cut = Verdict(text="Hi you", reason="content_filter")
    yield _case("filtered, whole", as_json({**filtered, "output": [_MESSAGE]}), cut, everywhere=True)
    yield _case("filtered", sse(*_TEXT[0], _end(**filtered)), cut, everywhere=True)
    yield _case("no output", sse(_end()), UNREADABLE, "no message", everywhere=True)
    yield _case("no output, whole", as_json(_end()["response"]), UNREADABLE, "no message", everywhere=True)
    yield _case("thoughts and no message", sse(_end(reasoned)), UNREADABLE, "no message")
    for status in ("cancelled", "failed", "expired"):
        for form, body in (
            ("within a completed event", sse(*_TEXT[0], {**_end(), "response": {"status": status, "output": []}})),
            ("", sse(*_TEXT[0], _end(status=status))),
            ("in whole", as_json(_end(_MESSAGE, status=status)["response"])),
        ):
            if status != "expired" or form:
                yield _case(f"{status} {form}", body, BROKEN_OFF, everywhere=True)
    for reason in ("server_error", "timeout"):
        broken = _end(_MESSAGE, status="incomplete", incomplete_details={"reason": reason})
        yield _case(f"incomplete by {reason}", sse(broken), BROKEN_OFF, reason)
        yield _case(f"incomplete by {reason}, whole", as_json(broken["response"]), BROKEN_OFF, reason)
    yield _case("still made", as_json(_end(_MESSAGE, status="in_progress")["response"]), BROKEN_OFF, "before its")
    orphans = sse(*_ARGUMENTS[0], _end(_MESSAGE))
    yield _case("arguments of no call", orphans, UNREADABLE, "without a name")
    twins = [{**_CALL, "id": one} for one in ("f", "g")]
    begun = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(twins)]
    both = Verdict(calls=(("w", '{"c":1}'),) * 2, reason="tool_calls")
    yield _case("two calls of one id", sse(*begun, _end(*twins)), both)
    as_object = {**_CALL, "arguments": {"c": 1}}
    called = Verdict(calls=both.calls[:1], reason="tool_calls")
    yield _case("arguments that are an object", sse(_end(as_object)), called)
    done = {"type": "response.function_call_arguments.done", "arguments": {"c": 1}, **_OF_CALL}
    yield _case("arguments that are an object at their end", sse(_BEGUN, done, _end()), called)
    numbered = {**_CALL, "call_id": 7}
    yield _case("an id that is a number", sse(_end(numbered)), Verdict(calls=both.calls[:1], reason="tool_calls"))


def _thinking(text: str) -> Verdict:
    return Verdict(text=text, thinking="hm")


def _case(name: str, body: bytes, verdict: Verdict, words: str = "", *, everywhere: bool = False) -> Case:
    return Case(
        protocol="openai-responses",
        name=name,
        body=body,
        verdict=verdict,
        words=words,
        reach="all" if everywhere else "reader",
    )


def other_shapes() -> Iterator[Case]:
    """Texts that stand elsewhere than in a list of typed parts; an output of which nothing is known is no answer."""
    text = {"type": "output_text", "text": "Hi"}
    unknown = {"type": "output_image", "image_url": "x"}
    message = {"type": "message", "role": "assistant"}
    hi, empty = Verdict(text="Hi"), Verdict()
    shapes: Mapping[str, tuple[Verdict, Mapping[str, Any]]] = {
        "content as a text": (hi, {**message, "content": "Hi"}),
        "content as a list of texts": (hi, {**message, "content": ["H", "i"]}),
        "content as one part": (hi, {**message, "content": text}),
        "a part without a type": (hi, {**message, "content": [{"text": "Hi"}]}),
        "a text in an object": (hi, {**message, "content": [{**text, "text": {"value": "Hi", "annotations": []}}]}),
        "an item without a type": (hi, {"role": "assistant", "content": [text]}),
        "a bare part": (hi, text),
        "a bare text of an unknown kind beside": (hi, {**message, "content": [text, unknown]}),
        "no content": (empty, {**message, "content": None}),
        "an empty text": (empty, {**message, "content": [{**text, "text": ""}]}),
        "nothing but an unknown part": (UNREADABLE, {**message, "content": [unknown]}),
    }
    for name, (verdict, item) in shapes.items():
        whole = {"status": "completed", "output": [item]}
        label = "application/json"
        yield Case(
            protocol="openai-responses", name=f"whole: {name}", body=as_json(whole), verdict=verdict, media_type=label
        )
        begin = {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}}
        end = {"type": "response.completed", "response": whole}
        for frames in ((end,), (begin, {"type": "response.output_item.done", "output_index": 0, "item": item}, end)):
            called = f"streamed, {len(frames)} frames: {name}"
            yield Case(protocol="openai-responses", name=called, body=sse(*frames), verdict=verdict)
    for name, piece in {
        "a piece named text": {"type": "response.output_text.delta", "text": "Hi"},
        "a piece of a text by its short name": {"type": "response.text.delta", "delta": "Hi"},
    }.items():
        end = {"type": "response.completed", "response": {"status": "completed", "output": []}}
        yield Case(protocol="openai-responses", name=name, body=sse(piece, end), verdict=hi)


def unknown_items() -> Iterator[Case]:
    """Items that nobody knows: left out where they have no words, and else no answer may be shown without them."""
    hi, called = Verdict(text="Hi you"), {"type": "web_search_call", "id": "x", "status": "completed"}
    items: Mapping[str, tuple[Verdict, Any]] = {
        "a tool of the server": (hi, called),
        "a result of a tool": (hi, {"type": "mcp_call", "name": "w", "arguments": "{}", "output": "words"}),
        "a program that was run": (hi, {"type": "code_interpreter_call", "code": "1", "outputs": [{"logs": "1"}]}),
        "a picture": (hi, {"type": "image_generation_call", "result": "AAAA"}),
        "an unknown type": (hi, {"type": "hologram", "data": 7, "content": []}),
        "an unknown type without text": (hi, {"type": "hologram", "content": [{"type": "light", "hue": 3}]}),
        "null": (hi, None),
        "an unknown type with a text": (UNREADABLE, {"type": "hologram", "text": "words"}),
        "an unknown type with parts": (UNREADABLE, {"type": "speech", "content": [{"type": "text", "text": "no"}]}),
        "no type and a content": (UNREADABLE, {"content": "words"}),
        "a text": (UNREADABLE, "words"),
    }
    for name, (verdict, item) in items.items():
        yield _case(f"an item, whole: {name}", as_json(_end(item, _MESSAGE)["response"]), verdict)
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield _case(f"an item: {name}", sse(done, *_without(_TEXT[0], *_AT), _end(item, _MESSAGE)), verdict)
    yield _case("nothing but a picture", as_json(_end(items["a picture"][1])["response"]), UNREADABLE, "no message")


def ends_without_a_response() -> Iterator[Case]:
    """A last event that holds nothing: of an answer that came in pieces it is the end."""
    said = Verdict(text="Hi you")
    members: Sequence[Mapping[str, Any]] = ({}, {"response": None}, {"response": {}})
    for member in members:
        for kind in ("completed", "done"):
            yield _case(f"{kind} and {member}", sse(*_TEXT[0], {"type": f"response.{kind}", **member}), said)
        cut = Verdict(text="Hi you", reason="length")
        yield _case(f"incomplete and {member}", sse(*_TEXT[0], {"type": "response.incomplete", **member}), cut)
        yield _case(f"cancelled and {member}", sse(*_TEXT[0], {"type": "response.cancelled", **member}), BROKEN_OFF)
        yield _case(f"{member} and no words", sse({"type": "response.completed", **member}), UNREADABLE)
    odd = sse(*_TEXT[0], {"type": "response.completed", "response": "Hi"})
    yield _case("a response that is a text", odd, UNREADABLE, "not an object")


def pieces_against_wholes() -> Iterator[Case]:
    """Pieces that are not what the stream says at its end: words are missing."""
    gap = [event for event in _TEXT[0] if event["delta"] != " "]
    words = "words are missing"
    for n, events in enumerate((*_TEXT[1:], ())):
        yield _case(f"a gap in a text {n}", sse(*gap, *events, _end(_MESSAGE)), UNREADABLE, words, everywhere=True)
    more = {**_CALL, "arguments": '{"c":1,"d":2}'}
    yield _case("a gap in arguments", sse(_BEGUN, *_ARGUMENTS[0], _end(more)), UNREADABLE, words, everywhere=True)
    late = Verdict(calls=(("w", '{"c":1}'),), reason="tool_calls")
    yield _case("a name behind its arguments", sse(*_ARGUMENTS[0], _end(_CALL)), late, everywhere=True)
    cut = {**_MESSAGE, "status": "incomplete"}
    for body in (sse(*_TEXT[0], _end(cut)), as_json(_end(cut)["response"])):
        name = f"an incomplete item, {len(body)}"
        yield _case(name, body, Verdict(text="Hi you", reason="length"), everywhere=True)
    half = {**_CALL, "status": "incomplete", "arguments": '{"c"'}
    yield _case("an incomplete call", sse(_end(half)), UNREADABLE, "arguments are cut", everywhere=True)
