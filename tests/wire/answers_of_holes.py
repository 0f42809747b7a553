"""Answers with damage behind a reason that was no end, and the verdict on each: no answer with a hole is complete."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, DONE, UNREADABLE, Case, Verdict, as_json, called, chunk, lines, sse

_DAMAGE = b'{"choices": [{"index": 0, "delta": {"content": "not'


def holes() -> Iterator[Case]:
    """Streams whose reason comes early, or belongs to another choice."""

    def case(name: str, verdict: Verdict, *frames: object, protocol: str = "openai-chat") -> Case:
        return Case(protocol=protocol, name=name, body=sse(*frames), verdict=verdict, reach="reader")

    begun, ended = chunk({"content": "Hi "}, "stop"), chunk({}, "stop")
    between = sse(begun, _DAMAGE, chunk({"content": "you"}), DONE)
    yield Case(
        protocol="openai-chat", name="damage between words that all say stop", body=between, verdict=UNREADABLE
    )
    yield case("damage before a reason and words", UNREADABLE, begun, _DAMAGE, chunk({"content": "x"}, "stop"), DONE)
    yield case("damage behind words behind a stop", UNREADABLE, begun, begun, _DAMAGE, ended, DONE)
    yield case("damage behind words without a reason", UNREADABLE, begun, chunk({"content": "x"}), _DAMAGE, DONE)
    yield case("damage behind the last reason", Verdict(text="Hi Hi "), begun, begun, ended, _DAMAGE, DONE)
    texts = ({"choices": [{"text": "H", "finish_reason": "stop"}]}, _DAMAGE, {"choices": [{"text": "i"}]})
    yield case("damage between texts that all say stop", UNREADABLE, *texts, DONE, protocol="openai-completions")
    tokens = ({"token": "H", "finish_reason": "stop"}, {"token": "i", "finish_reason": "stop"})
    kobold = b"".join(b"event: message\n" + sse(one) for one in (tokens[0], _DAMAGE, tokens[1]))
    yield Case(
        protocol="koboldcpp",
        name="damage between tokens that all say stop",
        body=kobold,
        verdict=UNREADABLE,
        reach="reader",
    )
    yield from _holes_of_choices()
    yield from _holes_of_calls()


def _holes_of_choices() -> Iterator[Case]:
    def case(name: str, verdict: Verdict, *frames: object) -> Case:
        return Case(
            protocol="openai-chat", name=f"two choices: {name}", body=sse(*frames), verdict=verdict, reach="reader"
        )

    first, second, end = _piece(0, "Hi"), _piece(1, "no"), _piece(0, "", "stop")
    hi = Verdict(text="Hi")
    yield case("the second has no end", BROKEN_OFF, first, second, end)
    yield case("damage in the second", UNREADABLE, first, second, end, _DAMAGE, _piece(1, "x", "stop"), DONE)
    yield case("damage before the second begins", UNREADABLE, first, end, _DAMAGE, _piece(1, "x"), DONE)
    yield case("both ended", hi, first, second, end, _piece(1, "", "stop"))
    yield case("damage behind both ends", hi, first, second, end, _piece(1, "", "stop"), _DAMAGE)
    counts = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    yield case("counts before the second ends", BROKEN_OFF, first, second, end, counts, second)


def _holes_of_calls() -> Iterator[Case]:
    def case(name: str, verdict: Verdict, *frames: object) -> Case:
        return Case(
            protocol="openai-chat",
            name=f"a call that is cut: {name}",
            body=sse(*frames),
            verdict=verdict,
            reach="reader",
        )

    cut = {"index": 0, "id": "a", "function": {"name": "w", "arguments": '{"a":'}}
    piece = {"tool_calls": [cut]}
    yield case("an end without a reason", BROKEN_OFF, chunk(piece), DONE)
    yield case("a stop and no end", BROKEN_OFF, chunk(piece, "stop"))
    yield case("damage behind a stop", UNREADABLE, chunk(piece, "stop"), _DAMAGE, DONE)
    as_made = called(("w", '{"a":'))
    yield case("by the model", as_made, chunk(piece), chunk({}, "tool_calls"), DONE)
    by_length = Verdict(calls=as_made.calls, reason="length")
    yield case("by a limit", by_length, chunk(piece), chunk({}, "length"))
    empty = {"index": 1, "id": "b", "function": {"name": "", "arguments": ""}}
    good = {"index": 0, "id": "a", "function": {"name": "w", "arguments": "{}"}}
    for calls, verdict in (([good, empty], called(("w", "{}"))), ([empty], UNREADABLE)):
        said = {"tool_calls": calls}
        yield case(f"nothing of {len(calls)}", verdict, chunk(said), chunk({}, "tool_calls"), DONE)
        body = as_json({"choices": [{"message": said, "finish_reason": "tool_calls"}]})
        yield Case(
            protocol="openai-chat", name=f"an empty call of {len(calls)}", body=body, verdict=verdict, reach="reader"
        )
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "w", "input": "SELECT"}}
    yield case("free text", called(("w", "SELECT")), chunk({"tool_calls": [custom]}), DONE)


def _piece(index: int, text: str, reason: str | None = None) -> Mapping[str, Any]:
    return {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]}


def lost_words() -> Iterator[Case]:
    """Objects within a stream whose words stand where another protocol has them, or where none has."""
    hi, you = Verdict(text="Hi you"), {"content": " you"}
    for name, verdict, frame in (
        ("words of llama.cpp", UNREADABLE, you),
        ("words of Ollama's chat", UNREADABLE, {"message": you, "done": False}),
        ("words of Ollama's generate", UNREADABLE, {"response": " you", "done": False}),
        ("words of the Responses API", UNREADABLE, {"type": "response.output_text.delta", "delta": " you"}),
        ("words in a choice", UNREADABLE, {"choices": [{"index": 0, **you}]}),
        ("words in a delta, named text", UNREADABLE, {"choices": [{"index": 0, "delta": {"text": " you"}}]}),
        ("words in an unknown part", UNREADABLE, {"choices": [{"index": 0, "delta": {"content": {"foo": " you"}}}]}),
        ("words in a part, named content", hi, {"choices": [{"index": 0, "delta": {"content": [you]}}]}),
        ("an empty place", Verdict(text="Hi"), {"content": "", "choices": []}),
    ):
        yield _within("openai-chat", name, verdict, frame)
    spoken = chunk(you)
    yield _within("koboldcpp", "a chunk", UNREADABLE, spoken)
    yield _within("koboldcpp", "a text", UNREADABLE, {"text": " you"})
    for name, choice in (
        ("words in a choice", you),
        ("a delta that is a text", {"delta": " you"}),
        ("words in a delta, named text", {"delta": {"text": " you"}}),
    ):
        yield _within("openai-completions", name, UNREADABLE, {"choices": [{"index": 0, **choice}]})
    yield _within("ollama-chat", "a line of generate", UNREADABLE, {"response": " you", "done": False})
    yield _within("ollama-chat", "a chunk", UNREADABLE, spoken)
    yield _within("ollama-chat", "a text in its message", hi, {"message": {"text": " you"}, "done": False})
    yield _within("ollama-generate", "a text", UNREADABLE, {"text": " you", "done": False})
    yield _within("ollama-generate", "a line of the chat", UNREADABLE, {"message": you, "done": False})
    yield _within("openai-responses", "a chunk", UNREADABLE, spoken)
    yield _within("openai-responses", "a piece without a type", UNREADABLE, {"delta": " you"})


def _within(protocol: str, name: str, verdict: Verdict, frame: Mapping[str, Any]) -> Case:
    """The frame behind the word `Hi`, and the end."""
    reason = {"finish_reason": "stop"}
    around: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
        "openai-chat": (chunk({"content": "Hi"}), chunk({}, "stop")),
        "openai-completions": ({"choices": [{"text": "Hi"}]}, {"choices": [{"text": "", **reason}]}),
        "koboldcpp": ({"token": "Hi"}, {"token": "", **reason}),
        "ollama-chat": ({"message": {"content": "Hi"}, "done": False}, {"done": True}),
        "ollama-generate": ({"response": "Hi", "done": False}, {"response": "", "done": True}),
        "openai-responses": (
            {"type": "response.output_text.delta", "delta": "Hi"},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
    }
    begin, end = around[protocol]
    body = lines(begin, frame, end) if protocol.startswith("ollama") else sse(begin, frame, end)
    if protocol == "koboldcpp":
        body = body.replace(b"data:", b"event: message\ndata:")
    return Case(protocol=protocol, name=f"a hole: {name}", body=body, verdict=verdict, reach="reader")


_WRAPPINGS = ("data", "result", "response", "body", "payload", "output", "completion")
_WHOLE: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
    "openai-completions": {"choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}]},
    "openai-responses": {"status": "completed", "output": [{"type": "message", "content": "Hi"}]},
    "ollama-chat": {"message": {"content": "Hi"}, "done": True},
    "ollama-generate": {"response": "Hi", "done": True},
    "koboldcpp": {"results": [{"text": "Hi"}]},
}


def wrapped() -> Iterator[Case]:
    """Answers within another object, and choices whose words stand elsewhere: refused, and never an empty answer."""
    for protocol, answer in _WHOLE.items():
        beside: dict[str, Any] = (
            {"done": True, "done_reason": "stop"} if protocol.startswith("ollama") else {"code": 0, "success": True}
        )
        for name, inner in (*((name, answer) for name in _WRAPPINGS), ("data", [answer])):
            yield Case(
                protocol=protocol, name=f"wrapped in {name}", body=as_json({name: inner, **beside}),
                verdict=UNREADABLE, media_type="application/json", reach="reader",
            )  # fmt: skip
    for protocol in ("openai-chat", "openai-completions"):
        choices: Mapping[str, Mapping[str, Any]] = {
            "content": {"content": "Hi"},
            "messages": {"messages": [{"content": "Hi"}]},
            "response": {"response": "Hi"},
            "a message with a text": {"message": {"role": "assistant", "text": "Hi"}},
            "a message with a response": {"message": {"role": "assistant", "response": "Hi"}},
            "a message that is a text": {"message": "Hi"},
        }
        for name, choice in choices.items():
            body = as_json({"choices": [{"index": 0, **choice, "finish_reason": "stop"}]})
            yield Case(
                protocol=protocol, name=f"words in a whole choice: {name}", body=body, verdict=UNREADABLE,
                media_type="application/json", reach="reader",
            )  # fmt: skip


def reasons_without_done() -> Iterator[Case]:
    """Ollama's reason of the end counts in the last line; one in every line is no end before that."""
    for protocol, word in (("ollama-chat", "message"), ("ollama-generate", "response")):

        def line(text: str, word: str = word, **members: object) -> Mapping[str, Any]:
            return {word: {"content": text} if word == "message" else text, **members}

        hi, cut = line("Hi", done=False), Verdict(text="Hi", reason="length")
        for name, verdict, frames in (
            ("false", cut, (hi, line("", done=False, done_reason="length"))),
            ("missing", cut, (hi, line("", done_reason="length"))),
            ("in a line before the last", BROKEN_OFF, (line("Hi", done_reason="stop"), hi)),
            ("in each line", Verdict(text="HiHi"), (line("Hi", done_reason="stop"),) * 2),
            ("an error", BROKEN_OFF, (hi, line("", done=False, done_reason="error"))),
        ):
            yield Case(
                protocol=protocol, name=f"a reason and `done` is {name}", body=lines(*frames), verdict=verdict,
                media_type="application/x-ndjson", reach="reader",
            )  # fmt: skip
