"""Frames that hold no answer, and frames that are JSON but for a trifle, by protocol, with the verdict on each."""

from collections.abc import Iterator

from tests.wire.answer_kit import (
    BROKEN_OFF,
    DONE,
    END,
    HI,
    LINES,
    SOUND,
    UNREADABLE,
    Case,
    Verdict,
    as_json,
    called,
    chunk,
    lines,
    sse,
    whole,
)

_JSON = "application/json"
_MARK = b"\xef\xbb\xbf"
_PINGS = (
    *(b"data: ping\n\n", b"data: PING\n\n", b'data: "ping"\n\n', b"data: [ping]\n\n", b"data: keep-alive\n\n"),
    *(b"data: null\n\n", b'data: ""\n\n', b"event: ping\ndata: 12:30\n\n", b"event: heartbeat\ndata: {}\n\n"),
    *(b"event: ping\n\n", b"event: keepalive\ndata:\n\n", b"data: data: null\n\n"),
)


def odd_frames() -> Iterator[Case]:
    hi, end = {"type": "response.output_text.delta", "delta": "Hi "}, {"status": "completed", "output": []}
    done = {"type": "response.completed", "response": end}
    for ping in _PINGS:
        yield _case(f"the ping {ping!r}", sse(HI) + ping + sse(END, DONE), SOUND)
        yield _case(f"the ping {ping!r} first", ping + sse(HI, END, DONE), SOUND)
        yield _case(f"the ping {ping!r} of responses", sse(hi) + ping + sse(done), SOUND, "openai-responses")
    for front in (_MARK, b"data: ", b"data:", b"data: data: ", _MARK + b"data:", b" data: "):
        frames = b"".join(b"data: " + front + as_json(one) + b"\n\n" for one in (HI, END, DONE))
        yield _case(f"{front!r} in each frame", frames, SOUND)
        if front.startswith(_MARK):
            marked = b"".join(front + b"data: " + as_json(one) + b"\n\n" for one in (HI, END, DONE))
            yield _case(f"{front!r} before each frame", marked, SOUND)
    for mark in (b"[done]", b'"[DONE]"', b" [DONE] ", _MARK + b"[DONE]", b"data: [DONE]"):
        yield _case(f"the end as {mark!r}", sse(HI, mark), SOUND)
    yield _case("words behind a field in a frame", sse(HI, b"data: no", END), UNREADABLE, words="'no'")
    raw = b'{"choices":[{"index":0,"delta":{"content":"a\tb\x0c\x00"},"finish_reason":"stop"}]}'
    yield _case("control characters in a text", sse(raw, DONE), Verdict(text="a\tb\x0c\x00"))
    many = b'{"choices":[{"message":{"content":"a\tb\nc\r\nd"},"finish_reason":"stop"}]}'
    yield _case("control characters in a text, whole", many, Verdict(text="a\tb\nc\r\nd"))
    arguments = b'{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"w","arguments":"{\t}"}}]}}]}'
    yield _case("a tab in arguments", sse(arguments, DONE), called(("w", "{\t}")))
    yield _case("a text without an end", sse(b'{"choices":[{"delta":{"content":"a\t', END, DONE), UNREADABLE)
    for charset, text in (
        ("iso-8859-1", "Grüße"),
        ("windows-1252", "10 €"),
        ("gbk", "你好"),
        ("Latin-1", "Gr\u00fc\u00df"),
    ):
        data = sse(as_json(chunk({"content": text})).decode().encode(charset), END, DONE)
        label = f"text/event-stream; charset={charset}"
        yield _case(f"text in {charset}", data, Verdict(text=text), label=label)
        said = as_json(whole({"content": text}) | {"usage": None}).decode().encode(charset)
        yield _case(f"text in {charset}, whole", said, Verdict(text=text), label=label)
    sound = sse(chunk({"content": "Grüße"}), END, DONE)
    yield _case("UTF-8 by another label", sound, Verdict(text="Grüße"), label="text/event-stream; charset=iso-8859-1")
    unknown = sound.replace("ü".encode(), b"\xff")
    yield _case(
        "bytes of no charset", unknown, Verdict(text="Gr\ufffdße"), label="text/event-stream; charset=klingon"
    )
    yield _case("tabs between the members", sse(HI, as_json(END).replace(b":", b":\t"), DONE), SOUND)


def odd_parts() -> Iterator[Case]:
    for part in (
        {"type": "text", "text": {"value": "Hi ", "annotations": []}},
        {"type": "text", "value": "Hi "},
        {"value": "Hi "},
        {"type": "output_text", "text": "Hi "},
    ):
        said = {"content": [None, part]}
        yield _case(f"the part {part}", sse(chunk(said), END, DONE), SOUND)
        yield _case(f"the part {part}, whole", as_json(whole(said) | {"usage": None}), SOUND)
        yield _case(f"the part {part} of a line", lines({"message": said, "done": True}), SOUND, "ollama-chat")
    yield _case("a part that is a number", sse(chunk({"content": [7]}), END, DONE), UNREADABLE)


def odd_lines() -> Iterator[Case]:
    cut = Verdict(reason="length")
    for protocol, around in (
        ("ollama-chat", {"message": {"content": "Hi "}}),
        ("ollama-generate", {"response": "Hi "}),
    ):
        empty = dict.fromkeys(around)
        for nothing in (empty, {}):
            end = {**nothing, "done": True, "done_reason": "length"}
            yield _case(f"no more than the reason {nothing}", lines(end), cut, protocol)
            yield _case(
                f"no more than the reason {nothing}, whole", as_json(end), cut, protocol, label="application/json"
            )
            bare = {**nothing, "done": False}
            said = lines({**around, "done": False}, bare, {**nothing, "done": True})
            yield _case(f"a line that says nothing {nothing}", said, SOUND, protocol)
        marked = lines(around | {"done": False}, b"null", _MARK + as_json({"done": True, "done_reason": "stop"}))
        yield _case("null and a mark", marked, SOUND, protocol)
        yield _case("nothing but empty lines", lines({"done": False}, {"done": False}), BROKEN_OFF, protocol)
        yield _case("nothing and a done", lines({"done": False}, {"done": True}), UNREADABLE, protocol)
        tab = as_json({**around, "done": True}).replace(b"Hi ", b"a\tb")
        yield _case("a tab in a text", tab + b"\n", Verdict(text="a\tb"), protocol)


def _case(
    name: str,
    body: bytes,
    verdict: Verdict,
    protocol: str = "openai-chat",
    *,
    words: str = "",
    label: str = "",
) -> Case:
    return Case(
        protocol=protocol,
        name=name,
        body=body,
        verdict=verdict,
        words=words,
        media_type=label or ("application/x-ndjson" if protocol in LINES else "text/event-stream"),
        reach="reader",
    )
