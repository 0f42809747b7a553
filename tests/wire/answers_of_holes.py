"""Answers with damage behind a reason that was no end, and the verdict on each: no answer with a hole is complete."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, DONE, UNREADABLE, Case, Verdict, called, chunk, sse

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
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "w", "input": "SELECT"}}
    yield case("free text", called(("w", "SELECT")), chunk({"tool_calls": [custom]}), DONE)


def _piece(index: int, text: str, reason: str | None = None) -> Mapping[str, Any]:
    return {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]}
