"""Answers whose choices are odd: their order and indexes, and where their words stand; with the verdict on each."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.answer_kit import BROKEN_OFF, DONE, Case, Verdict, as_json, chunk, sse

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


def _case(name: str, body: bytes, verdict: Verdict, protocol: str = "openai-chat") -> Case:
    return Case(protocol=protocol, name=name, body=body, verdict=verdict, reach="reader")
