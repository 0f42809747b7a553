"""Answers whose choices are odd: their order and indexes, and where their words stand; with the verdict on each."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, DONE, UNREADABLE, Case, Verdict, as_json, chunk, failed, sse

_HI, _CUT = Verdict(text="Hi"), Verdict(text="Hi", reason="length")


def _choices(*choices: Mapping[str, Any]) -> dict[str, Any]:
    return {"choices": list(choices)}


def _piece(index: object, text: str, reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": {"content": text}, "finish_reason": reason}


def _whole(index: object, text: str, reason: str = "stop") -> dict[str, Any]:
    return {"index": index, "message": {"content": text}, "finish_reason": reason}


def by_index() -> Iterator[Case]:
    """The answer is the choice of the lowest index, wherever it stands and however it is written."""

    def case(name: str, *frames: object, verdict: Verdict = _HI, protocol: str = "openai-chat") -> Case:
        return _case(name, sse(*frames, DONE), verdict, protocol)

    yield case("an index as text", _choices(_piece("0", "H")), _choices(_piece("0", "i", "length")), verdict=_CUT)
    yield case("only index 1", _choices(_piece(1, "H")), _choices(_piece(1, "i", "length")), verdict=_CUT)
    yield case("only index 1 as text", _choices(_piece("1", "Hi", "stop")), {"choices": [], "usage": None})
    yield case("index 1 before index 0", _choices(_piece(1, "no")), _choices(_piece(0, "Hi", "stop")))
    yield case("both in one frame", _choices(_piece(1, "no"), _piece(0, "Hi", "stop")))
    yield case("no indexes in one frame", _choices(*({"delta": {"content": one}} for one in ("Hi", "no"))))
    yield case(
        "two beside index 1", _choices(_piece(2, "no")), _choices(_piece(1, "Hi", "stop")), _choices(_piece(2, "no"))
    )
    yield case("an index of null", _choices(_piece(None, "Hi", "stop")))
    yield case(
        "index 0 that says nothing", _choices(_piece(1, "Hi")), _choices({"index": 0, "delta": {}}), verdict=_HI
    )
    role = {"index": 0, "delta": {"role": "assistant", "content": ""}}
    yield case("a role on index 0 and words on 1", _choices(role), _choices(_piece(0, "Hi", "stop")))
    last = {"index": 0, "delta": {}, "finish_reason": "length"}
    yield case("words on index 1 and the end on 0", _choices(_piece(1, "Hi")), _choices(last), verdict=_CUT)
    texts = [_choices({"index": 1, "text": one, "finish_reason": None}) for one in "Hi"]
    yield case("only index 1 of a text", *texts, protocol="openai-completions")
    yield _case("only index 1, cut", sse(_choices(_piece(1, "Hi"))), BROKEN_OFF)
    for name, choices in {
        "as text": [_whole("0", "Hi")],
        "only 1": [_whole(1, "Hi")],
        "1 before 0": [_whole(1, "no"), _whole(0, "Hi")],
        "1 before 0 as text": [_whole("1", "no"), _whole("0", "Hi")],
        "none": [{"message": {"content": one}} for one in ("Hi", "no")],
    }.items():
        yield _case(f"indexes in whole: {name}", as_json(_choices(*choices)), _HI)
    both = _choices({"index": 1, "text": "no"}, {"index": 0, "text": "Hi"})
    yield _case("indexes of texts in whole", as_json(both), _HI, "openai-completions")


def by_place() -> Iterator[Case]:
    """Words count in a delta, a message or a text, by both protocols."""
    said = {"content": "Hi"}
    parts = {"content": [{"type": "text", "text": "Hi"}]}
    choices: Mapping[str, Mapping[str, Any]] = {
        "a text": {"text": "Hi"},
        "a message": {"message": said},
        "a delta": {"delta": said},
        "a message beside an empty delta": {"delta": {}, "message": said},
        "a message beside a delta of a role": {"delta": {"role": "assistant", "content": ""}, "message": said},
        "a message beside a delta of null": {"delta": None, "message": said},
        "a delta beside a message of null": {"delta": said, "message": None},
        "a delta beside an empty message": {"delta": said, "message": {}},
        "a text beside an empty delta": {"delta": {}, "text": "Hi"},
        "a text beside a message of null": {"message": None, "text": "Hi"},
        "a text beside a message without content": {"message": {"role": "assistant", "content": None}, "text": "Hi"},
        "a message beside an empty text": {"message": said, "text": ""},
        "a delta beside an empty text": {"delta": said, "text": ""},
        "a message of parts": {"message": parts},
        "a delta of parts": {"delta": parts},
    }
    for protocol in ("openai-chat", "openai-completions"):
        for name, choice in choices.items():
            frame = _choices({**choice, "finish_reason": "length"})
            yield _case(name, sse(frame, DONE), _CUT, protocol)
            yield _case(f"{name}, whole", as_json(frame), _CUT, protocol)
        frames = (_choices({"delta": {"content": one}}) for one in "Hi")
        again = _choices({"delta": {}, "message": said, "finish_reason": "length"})
        yield _case("a message that repeats the deltas", sse(*frames, again, DONE), _CUT, protocol)
    last = {"delta": {}, "finish_reason": "length"}
    for words in (("H", "Hi", "Hi"), ("H", "i"), ("ha", "ha"), ("a", "ab", "c")):
        grown = sse(*(_choices({"message": {"content": one}}) for one in words), _choices(last), DONE)
        whole_text = {"H": "Hi", "ha": "haha", "a": "abc"}[words[0]]
        yield _case(f"messages of {words}", grown, Verdict(text=whole_text, reason="length"))
    camel = {"delta": {"content": "Hi"}, "finishReason": "MAX_TOKENS"}
    yield _case("a reason in camel case", sse(_choices(camel)), _CUT)
    yield _case("a reason in camel case beside null", sse(_choices({**camel, "finish_reason": None})), _CUT)
    whole = {"message": {"content": "Hi"}, "finishReason": "MAX_TOKENS"}
    yield _case("a reason in camel case, whole", as_json(_choices(whole)), _CUT)
    broken = sse(chunk({"content": "Hi"}), _choices({"delta": {}, "finishReason": "ABORT"}), DONE)
    yield _case("a failure in camel case", broken, BROKEN_OFF)


_ODD_CHOICES: Mapping[str, tuple[Mapping[str, Any], Verdict]] = {
    "a reason of a failure": ({"text": "no", "finish_reason": "error"}, BROKEN_OFF),
    "an error": ({"error": {"message": "gone", "code": 503}}, failed("ProviderUnavailable", 503)),
    "an error in its message": ({"message": {"error": "gone"}, "finish_reason": "stop"}, BROKEN_OFF),
    "a message of a number": ({"message": {"content": 7}, "finish_reason": "stop"}, UNREADABLE),
    "a message that is a text": ({"message": "no", "finish_reason": "stop"}, UNREADABLE),
    "words in its content": ({"content": "no", "finish_reason": "stop"}, UNREADABLE),
    "words in its response": ({"response": "no", "finish_reason": "stop"}, UNREADABLE),
    "words in the text of a message": ({"message": {"text": "no"}, "finish_reason": "stop"}, UNREADABLE),
    "a text": ({"text": "no", "finish_reason": "stop"}, _HI),
    "a message": ({"message": {"content": "no"}, "finish_reason": "length"}, _HI),
    "a message of parts": ({"message": {"content": [{"type": "text", "text": "no"}]}, "finish_reason": "stop"}, _HI),
    "nothing but a reason": ({"message": {}, "finish_reason": "content_filter"}, _HI),
}
"""Choices of index 1, with the verdict on an answer `Hi` that they stand beside."""
_CALLS = {"a call of no name": [{"id": "a", "function": {"arguments": "{}"}}], "calls that are none": "w"}


def further_choices() -> Iterator[Case]:
    """A choice beside the answer goes to the client, too: it is read as strictly, and may hide no hole."""
    odd = dict(_ODD_CHOICES) | {
        name: ({"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}, UNREADABLE)
        for name, calls in _CALLS.items()
    }
    for protocol, said in (("openai-chat", {"message": {"content": "Hi"}}), ("openai-completions", {"text": "Hi"})):
        first = {"index": 0, **said, "finish_reason": "stop"}
        for name, (choice, verdict) in odd.items():
            if protocol == "openai-completions" and name in _CALLS:
                continue  # its protocol has no calls
            other = {"index": 1, **choice}
            yield _case(f"beside it, whole: {name}", as_json(_choices(first, other)), verdict, protocol)
            yield _case(f"beside it, first: {name}", as_json(_choices(other, first)), verdict, protocol)
            yield _case(f"beside it: {name}", sse(_choices(first), _choices(other), DONE), verdict, protocol)
    begun, end = _choices(_piece(0, "Hi")), _choices(_piece(0, "", "stop"))
    cut = {
        "index": 1,
        "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "w", "arguments": "{"}}]},
    }
    yield _case("a call beside it that is cut", sse(begun, end, _choices(cut), DONE), BROKEN_OFF)
    yield _case("a call beside it without an end", sse(begun, end, _choices(cut)), BROKEN_OFF)
    late = _choices(_piece(1, "no", "stop"))
    yield _case("damage before all of another", sse(begun, end, b"{oops", late, DONE), UNREADABLE)


def _case(name: str, body: bytes, verdict: Verdict, protocol: str = "openai-chat") -> Case:
    return Case(protocol=protocol, name=name, body=body, verdict=verdict, reach="reader")
