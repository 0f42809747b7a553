"""Answers with words, errors and ends in places beside the usual ones, and the verdict on each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.wire.answer_kit import (
    BROKEN_OFF,
    DONE,
    UNREADABLE,
    Case,
    Verdict,
    as_json,
    called,
    chunk,
    failed,
    lines,
    sse,
)

_HI = Verdict(text="Hi")
_TEXT = {"type": "text", "text": "Hi"}


def _case(name: str, protocol: str, body: bytes, verdict: Verdict) -> Case:
    label = "application/json" if body.startswith(b"{") else "text/event-stream"
    return Case(protocol=protocol, name=name, body=body, verdict=verdict, media_type=label, reach="reader")


def _both(name: str, verdict: Verdict, said: Mapping[str, Any], **beside: Any) -> Iterator[Case]:
    """A message of a chat, whole and as the one piece of a stream, with members beside its choices."""
    choice = {"index": 0, "finish_reason": "stop"} | beside.pop("choice", {})
    whole = {"choices": [{**choice, "message": said}], **beside}
    yield _case(f"whole: {name}", "openai-chat", as_json(whole), verdict)
    piece = {"choices": [{**choice, "delta": said}], **beside}
    yield _case(f"streamed: {name}", "openai-chat", sse(piece, DONE), verdict)


def unknown_parts() -> Iterator[Case]:
    """Parts of types that nobody knows: with words they are a hole."""
    parts: Sequence[tuple[Verdict, Mapping[str, Any]]] = (
        (UNREADABLE, {"type": "markdown", "text": "you"}),
        (UNREADABLE, {"type": "markdown", "value": "you"}),
        (UNREADABLE, {"type": "section", "content": [{"type": "line", "content": [{"text": "you"}]}]}),
        (UNREADABLE, {"type": "answer", "output_text": "you"}),
        (_HI, {"type": "image_url", "image_url": {"url": "data:"}}),
        (_HI, {"type": "web_search_result", "content": "of the web"}),
        (_HI, {"type": "reference", "reference_ids": [1], "text": "of a book"}),
        (_HI, {"type": "markdown", "text": " "}),
    )
    for verdict, part in parts:
        yield from _both(f"a part {part}", verdict, {"content": [_TEXT, part]})
        line = {"message": {"content": [_TEXT, part]}, "done": True}
        yield _case(f"a part {part}", "ollama-chat", as_json(line), verdict)
        message = {"type": "message", "role": "assistant", "content": [{**_TEXT, "type": "output_text"}, part]}
        response = {"status": "completed", "output": [message]}
        yield _case(f"whole: a part {part}", "openai-responses", as_json(response), verdict)
        done = {"type": "response.content_part.done", "content_index": 1, "part": part}
        pieces = ({"type": "response.output_text.delta", "delta": "Hi"}, done)
        end = {"type": "response.completed", "response": {"status": "completed", "output": []}}
        yield _case(f"streamed: a part {part}", "openai-responses", sse(*pieces, end), verdict)
    yield from _both("nothing but a part with words", UNREADABLE, {"content": [parts[1][1]]})


def words_beside() -> Iterator[Case]:
    """Words beside an empty text are an answer that nobody read; beside a text they repeat it."""
    for name in ("text", "output_text", "response", "content", "answer"):
        yield from _both(f"words in {name}", UNREADABLE, {"content": ""}, **{name: "you"})
        yield from _both(f"blanks in {name}", Verdict(), {"content": ""}, **{name: " "})
        yield from _both(f"a text and {name}", _HI, {"content": "Hi"}, **{name: "Hi"})
    empty = {"role": "assistant", "content": ""}
    for name in ("response", "text", "content", "output_text"):
        line = {"message": empty, "done": True, name: "you"}
        yield _case(f"whole: words in {name}", "ollama-chat", as_json(line), UNREADABLE)
        hi = {"message": {"content": "Hi"}, "done": False}
        yield _case(f"streamed: words in {name}", "ollama-chat", lines(hi, {**line, "done": False}, line), UNREADABLE)
        yield _case(f"all once more in {name}", "ollama-chat", lines(hi, {**line, name: "Hi"}), _HI)
    kobold = {"results": [{"text": ""}], "text": "you"}
    yield _case("words beside an empty result", "koboldcpp", as_json(kobold), UNREADABLE)
    texts = {"choices": [{"text": "", "finish_reason": "stop"}], "output_text": "you"}
    yield _case("words beside an empty text", "openai-completions", as_json(texts), UNREADABLE)
    yield _case("words beside an empty text", "openai-completions", sse(texts, DONE), UNREADABLE)


def errors_beside() -> Iterator[Case]:
    """An error beside an answer is one; what says that all is well is none."""
    said = {"content": "Hi"}
    well: Sequence[Any] = (None, {}, {"code": None, "message": None}, {"code": 0, "message": ""})
    for error in (*well, {"code": 0, "message": "success"}, {"code": "200", "details": {}, "message": "OK"}):
        yield from _both(f"no error: {error}", _HI, said, error=error)
    for beside in (
        {"error_code": 17, "error_msg": "quota"},
        {"error_code": 17},
        {"success": False, "message": "worker died"},
        {"status": "error"},
        {"status": "failed", "msg": "gone"},
        {"code": 17, "msg": "quota"},
        {"errmsg": "quota"},
        {"choice": {"native_finish_reason": "error"}},
    ):
        yield from _both(f"an error: {beside}", BROKEN_OFF, said, **beside)
    yield from _both("a status that says no", failed("ProviderUnavailable", 503), said, code=503)
    for fine in (
        {"error_code": 0, "error_msg": "success"},
        {"code": 0, "msg": "ok"},
        {"code": 1, "msg": "success"},
        {"status": "completed", "message": "done"},
        {"success": True},
        {"choice": {"native_finish_reason": "end_turn"}},
    ):
        yield from _both(f"no error: {fine}", _HI, said, **fine)
    two = {"results": [{"text": "Hi", "finish_reason": "stop"}, {"text": "you", "finish_reason": "error"}]}
    yield _case("a failure of a second result", "koboldcpp", as_json(two), BROKEN_OFF)
    for data in (b"", b"data: [DONE]\n\n", b"data:\n\n"):
        body = sse(chunk(said)) + b"event: error\n\n" + data
        yield _case(f"an event of an error and {data!r}", "openai-chat", body, BROKEN_OFF)


def ends_beside() -> Iterator[Case]:
    """Reasons that say that there is no end, or one without what they tell of."""
    said = {"content": "Hi"}
    for reason, verdict in (
        ("in_progress", BROKEN_OFF),
        ("generating", BROKEN_OFF),
        ("no_error", _HI),
        ("not_truncated", _HI),
        ("INTERNAL", BROKEN_OFF),
        ("tool_calls", _HI),
    ):
        yield from _both(f"the reason {reason}", verdict, said, choice={"finish_reason": reason})
        kobold = {"results": [{"text": "Hi", "finish_reason": reason}]}
        yield _case(f"the reason {reason}", "koboldcpp", as_json(kobold), verdict)
    yield from _both("the reason of a call, and nothing", UNREADABLE, {}, choice={"finish_reason": "tool_calls"})
    going, end = chunk(said, "in_progress"), chunk({}, "stop")
    yield _case("going on in each piece", "openai-chat", sse(going, going, end), Verdict(text="HiHi"))
    message = {"type": "message", "role": "assistant", "content": "Hi"}
    call = {"type": "function_call", "call_id": "a", "name": "w", "arguments": '{"a":1}'}
    cut = Verdict(text="Hi", reason="length")
    items: Sequence[tuple[str, Verdict, Mapping[str, Any]]] = (
        ("failed", BROKEN_OFF, message),
        ("failed", BROKEN_OFF, call),
        ("in_progress", cut, message),
        ("in_progress", called(("w", '{"a":1}')), call),
        ("in_progress", UNREADABLE, {**call, "arguments": '{"a":'}),
        ("done", _HI, message),
    )
    for status, verdict, item in items:
        response = {"status": "completed", "output": [{**item, "status": status}]}
        name = f"an item that is {status}: {item}"
        yield _case(f"whole: {name}", "openai-responses", as_json(response), verdict)
        streamed = sse({"type": "response.completed", "response": response})
        yield _case(f"streamed: {name}", "openai-responses", streamed, verdict)


def last_messages() -> Iterator[Case]:
    """A whole message beside or behind the pieces fills in their end; one that says something else is a hole."""
    pieces = (chunk({"content": "Hi "}), chunk({"content": "you"}))
    call = {"id": "a", "function": {"name": "w", "arguments": "{}"}}
    for text, verdict in (
        ("Hi you and me", Verdict(text="Hi you and me")),
        ("Hi you", Verdict(text="Hi you")),
        ("you", Verdict(text="Hi you")),
        (" Hi you ", Verdict(text="Hi you")),
        ("", Verdict(text="Hi you")),
        (None, Verdict(text="Hi you")),
        ("Hi and you", UNREADABLE),
        ("Hello", UNREADABLE),
    ):
        message = {"role": "assistant", "content": text}
        end = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        beside = {"choices": [{**end["choices"][0], "delta": {"content": "you"}}]}
        for protocol in ("openai-chat", "openai-completions"):
            yield _case(f"a message behind the pieces: {text}", protocol, sse(*pieces, end, DONE), verdict)
            yield _case(f"a message beside a piece: {text}", protocol, sse(pieces[0], beside, DONE), verdict)
        response: Mapping[str, Any] = {"status": "completed", "output": [], "output_text": text}
        deltas = ({"type": "response.output_text.delta", "delta": one} for one in ("Hi ", "you"))
        body = sse(*deltas, {"type": "response.completed", "response": response})
        if text not in ("you", " Hi you "):  # of a stream only digests are kept
            yield _case(f"a text beside the output: {text}", "openai-responses", body, verdict)
        whole = {**response, "output": [{"type": "message", "content": "Hi you"}]}
        yield _case(f"whole: a text beside the output: {text}", "openai-responses", as_json(whole), verdict)
    last = {
        "choices": [{"index": 0, "message": {"content": "Hi you", "tool_calls": [call]}, "finish_reason": "stop"}]
    }
    calling = Verdict(text="Hi you", calls=(("w", "{}"),), reason="tool_calls")
    yield _case("a call in the message behind the pieces", "openai-chat", sse(*pieces, last, DONE), calling)
    many = [chunk({"content": f"{n} "}) for n in range(500)]
    long = "".join(f"{n} " for n in range(500))
    for text, verdict in (
        (long, Verdict(text=long)),
        (long + "and", Verdict(text=long + "and")),
        (long[:-9] + "and", UNREADABLE),
    ):
        end = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
        yield _case(f"a long text and {text[-5:]}", "openai-chat", sse(*many, end), verdict)
    alone = {"status": "completed", "output": [], "output_text": "Hi"}
    yield _case("a text beside no output", "openai-responses", as_json(alone), _HI)
    refused = [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": "no"}]
    both = {"status": "completed", "output": [{"type": "message", "content": refused}]}
    yield _case("a text and a refusal", "openai-responses", as_json(both), Verdict(text="Hi\n\nno"))


def unknown_fields() -> Iterator[Case]:
    """Fields that the standard of events does not know are ignored; a line of an error is none."""
    hi, end = sse(chunk({"content": "Hi"})), sse(chunk({}, "stop"), DONE)
    for line, verdict in (
        (b"foo: bar\n", _HI),
        (b"x-trace-id:7\n\n", _HI),
        (b"foo: bar\ndata: " + as_json(chunk({"content": " you"})) + b"\n\n", Verdict(text="Hi you")),
        (b"ValueError: gone\n\n", UNREADABLE),
        (b"something went wrong: gone\n\n", UNREADABLE),
    ):
        yield _case(f"a line {line[:20]!r}", "openai-chat", hi + line + end, verdict)


def attacks() -> Iterator[Case]:
    yield from unknown_parts()
    yield from words_beside()
    yield from errors_beside()
    yield from ends_beside()
    yield from last_messages()
    yield from unknown_fields()
