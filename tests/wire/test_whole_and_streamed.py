"""What a server says in one object has the same verdict as the same in one piece of a stream, however odd it is."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.wire.answer_kit import DONE, SOUND, Case, as_json, lines, sse
from tests.wire.test_answer_reader import read_whole

COUNT = 4_000
REASONS: Sequence[object] = (
    *("stop", "length", "tool_calls", "abort", "content_filter", "null", "", "SAFETY", "eos_token", None, 7, False),
    {"type": "length"},
)
CONTENTS: Sequence[object] = (
    *("Hi", "", None, 7, True, {}, [], [None], ["Hi"], [[]], {"text": "Hi"}, {"type": "text", "text": "Hi"}),
    *([{"type": "text", "text": "Hi"}], [{"type": "odd"}], [{"type": "text", "text": None}]),
    *([{"type": "refusal", "refusal": "no"}], [{"type": "thinking", "thinking": "hm"}], [{"value": "Hi"}]),
)
_W = {"name": "w", "arguments": "{}"}
_NAMES: Sequence[dict[str, Any]] = (_W, {"name": ""}, {})
CALLS: Sequence[object] = (
    *(None, [], {}, "x", [None], [{}], ["w"], [{"function": _W}], [{"id": "a", "function": None}]),
    *([{"id": "a", "function": {"name": "w", "arguments": {"c": 1}}}], [{"id": 7, "function": {"name": "w"}}]),
    *([{"id": "a", "function": _W}] * 2, [{"id": "a", "type": "custom", "custom": {"name": "w", "input": "x"}}]),
    *([{"id": "a", "function": _W}, {"id": "b", "function": {"name": "v", "arguments": ""}}], [{"function": "w"}]),
    *([{"id": "", "function": {"name": "", "arguments": "{}"}}], [{"function": {"name": 5}}]),
    *([{"id": True, "function": {"name": "w"}}], [{"function": {"name": "w", "arguments": [1]}}], [_W]),
)
OTHERS: Sequence[Mapping[str, Any]] = (
    *({}, {"reasoning": "hm"}, {"reasoning_content": "hm"}, {"reasoning_content": None, "reasoning": "x"}),
    *({"refusal": "no"}, {"refusal": None}, {"refusal": 5}, {"function_call": _W}, {"function_call": None}),
    *({"error": {"message": "x"}}, {"error": None}, {"function_call": "w"}, {"thinking": "hm"}, {"thinking": 5}),
)


def _message(chance: random.Random) -> dict[str, Any]:
    said = dict(chance.choice(OTHERS))
    if chance.random() < 0.8:
        said["content"] = chance.choice(CONTENTS)
    if chance.random() < 0.5:
        said["tool_calls"] = chance.choice(CALLS)
    return said


def _chat(chance: random.Random) -> tuple[bytes, bytes]:
    odd: tuple[Any, Any] = ({"finish_reason": chance.choice(REASONS)}, _message(chance))
    plain: tuple[Any, Any] = ({"finish_reason": "stop"}, {"content": "Hi"})
    choices = chance.choice(([odd], [odd], [odd, plain], [plain, odd]))
    whole = as_json({"choices": [{**choice, "message": said} for choice, said in choices]})
    return whole, sse({"choices": [{**choice, "delta": said} for choice, said in choices]}, DONE)


def _text(chance: random.Random) -> tuple[bytes, bytes]:
    texts: Sequence[Any] = [{"text": "Hi"}, {"text": ""}, {"text": None}, {"text": 7}, {"text": []}]
    holders: Sequence[Any] = tuple({name: _message(chance)} for name in ("message", "delta"))
    choice: dict[str, Any] = {"finish_reason": chance.choice(REASONS)} | chance.choice(
        [*texts, *holders, {"text": "", "error": "x"}]
    )
    if choice.get("text", "") is None and not choice["finish_reason"]:
        choice["text"] = ""
    plain = {"text": "Hi", "finish_reason": "stop"}
    choices = chance.choice(([choice], [choice], [choice, plain], [plain, choice]))
    return as_json({"choices": choices}), sse({"choices": choices}, DONE)


def _ollama(chance: random.Random) -> tuple[bytes, bytes]:
    said: Any = chance.choice([_message(chance), _message(chance), None, "x", 7])
    end = {"done": True, "done_reason": chance.choice(REASONS)}
    line = end | chance.choice([{"message": said}, {"message": said, "error": ""}, {}, {"detail": "x"}])
    return as_json(line), lines(line)


def _kobold(chance: random.Random) -> tuple[bytes, bytes]:
    end, text = chance.choice(REASONS), chance.choice(("Hi", "", None, 7))
    return as_json({"results": [{"text": text, "finish_reason": end}]}), sse({"token": text, "finish_reason": end})


def _responses(chance: random.Random) -> tuple[bytes, bytes]:
    parts = [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": "no"}, {"type": "odd"}, None, 7]
    contents = [[chance.choice(parts)], [], None, [chance.choice(parts), chance.choice(parts)], "Hi"]
    items: list[Any] = [
        {"type": "message", "content": chance.choice(contents)},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": text} for text in ("hm", "so")]},
        {
            "type": "function_call",
            "call_id": chance.choice(["a", 7, None, ""]),
            **chance.choice([_W, {"name": ""}, {}]),
        },
        *({"type": "web_search_call"}, None),
    ]
    output = [chance.choice(items) for _ in range(chance.randint(0, 3))]
    status = chance.choice(("completed", "incomplete", "failed", "cancelled", "in_progress"))
    why = chance.choice((None, {"reason": "content_filter"}, {"reason": "server_error"}, {"reason": "x"}))
    response = {"status": status, "output": output, "incomplete_details": why}
    return as_json(response), sse({"type": "response.completed", "response": response})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "draw"),
    [
        ("openai-chat", _chat),
        ("openai-completions", _text),
        ("openai-responses", _responses),
        ("ollama-chat", _ollama),
        ("koboldcpp", _kobold),
    ],
)
def test_one_object_has_the_verdict_of_one_piece_of_a_stream(protocol: str, draw: Any) -> None:
    chance = random.Random(protocol)
    differing = []
    for _ in range(COUNT):
        whole, streamed = draw(chance)
        of_whole, of_stream = (
            read_whole(Case(protocol=protocol, name="", body=body, verdict=SOUND, media_type=label))[0]
            for body, label in ((whole, "application/json"), (streamed, "text/event-stream"))
        )
        if of_whole != of_stream:
            differing.append((whole, of_whole, of_stream))
    assert differing == []
