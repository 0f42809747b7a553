"""Pieces of tool calls get one index and one id for each call, however a server numbers and names them."""

import re
from typing import Any

import pytest

from mnemoir.core.events import ToolCallPart
from mnemoir.wire import ollama_chat, openai_chat, openai_responses
from tests.wire.answer_kit import DONE, END, as_json, chunk, lines, sse

MADE = re.compile(r"call_[0-9a-f]{24}")


def piece(index: Any = None, id: Any = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    called = {"arguments": arguments} | ({} if name is None else {"name": name})
    given = {"index": index, "id": id, "function": called}
    return {member: value for member, value in given.items() if value is not None}


def read(*pieces: dict[str, Any]) -> list[tuple[int, str | None, str | None, str]]:
    """The index, id, name and arguments of each piece; "made" for an id that was made here."""
    reader = openai_chat.AnswerReader()
    events = reader.feed(sse(*(chunk({"tool_calls": [one]}) for one in pieces), END))
    reader.end()
    parts = [event for event in events if isinstance(event, ToolCallPart)]
    return [(one.index, _shown(one.id), one.name, one.arguments) for one in parts]


def _shown(call_id: str | None) -> str | None:
    return "made" if call_id is not None and MADE.fullmatch(call_id) else call_id


CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[Any, ...]]]] = {
    "as OpenAI sends them": (
        [piece(0, "a", "w"), piece(0, arguments="{"), piece(0, arguments="}"), piece(1, "b", "v", "{}")],
        [(0, "a", "w", ""), (0, None, None, "{"), (0, None, None, "}"), (1, "b", "v", "{}")],
    ),
    "all on one index": (
        [piece(0, "a", "w", "{"), piece(0, arguments="}"), piece(0, "b", "v", "{"), piece(0, arguments="}")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (1, "b", "v", "{"), (1, None, None, "}")],
    ),
    "a third on the first index, the second having its own": (
        [
            *(piece(0, "a", "w"), piece(1, "b", "v"), piece(0, "c", "w")),
            *(piece(1, arguments="1"), piece(0, arguments="2")),
        ],
        [(0, "a", "w", ""), (1, "b", "v", ""), (2, "c", "w", ""), (1, None, None, "1"), (2, None, None, "2")],
    ),
    "an id of its own and the name once more in each piece": (
        [
            *(
                piece(0, "a", "w", '{"c'),
                piece(0, "b", "w", '": '),
                piece(0, "c", "w", '{"d": 1}'),
                piece(0, "d", "w"),
            ),
            *(piece(0, "e", "w", "}"), piece(0, "f", "w", "\n")),
        ],
        [
            *((0, "a", "w", '{"c'), (0, None, None, '": '), (0, None, None, '{"d": 1}'), (0, None, None, "")),
            *((0, None, None, "}"), (0, None, None, "\n")),
        ],
    ),
    "calls of one function on one index, each whole before the next": (
        [piece(0, "a", "w", "{"), piece(0, "b", "w", "}"), piece(0, "c", "w", "{"), piece(0, "d", "w", "}")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (1, "c", "w", "{"), (1, None, None, "}")],
    ),
    "whole arguments before the name": (
        [piece(0, "a", None, '{"c": 1}'), piece(0, None, "w")],
        [(0, "a", None, '{"c": 1}'), (0, None, "w", "")],
    ),
    "an empty call beside another": ([piece(0, "a", "w", "{}"), piece(1, "b", "")], [(0, "a", "w", "{}")]),
    "an id alone, then its name": ([piece(0, "a"), piece(0, None, "w", "{}")], [(0, "a", "w", "{}")]),
    "another id without a name": (
        [piece(0, "a", "w", "{"), piece(0, "x", None, "}")],
        [(0, "a", "w", "{"), (0, None, None, "}")],
    ),
    "the same id on another index": (
        [piece(0, "a", "w", "{"), piece(1, "a", None, "}"), piece(1, "a", "w", "")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (0, None, None, "")],
    ),
    "one id for calls on several indexes": (
        [piece(0, "a", "w", "{"), piece(1, "a", "v", "{"), piece(0, "a", None, "}"), piece(1, "a", None, "}")],
        [(0, "a", "w", "{"), (1, "made", "v", "{"), (0, None, None, "}"), (1, None, None, "}")],
    ),
    "one id and one name on several indexes": (
        [piece(0, "a", "w"), piece(1, "a", "w"), piece(0, None, None, "{}"), piece(1, None, None, "{}")],
        [(0, "a", "w", ""), (1, "made", "w", ""), (0, None, None, "{}"), (1, None, None, "{}")],
    ),
    "one id, one name and one index for whole calls": (
        [piece(0, "a", "w", '{"c":1}'), piece(0, "a", "w", '{"c":2}'), piece(0, "a", "w", '{"c":3}')],
        [(0, "a", "w", '{"c":1}'), (1, "made", "w", '{"c":2}'), (2, "made", "w", '{"c":3}')],
    ),
    "the whole once more behind the pieces": (
        [piece(0, "a", "w", "{"), piece(0, arguments="}"), piece(0, "a", "w", "{}"), piece(0, arguments="{}")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (0, None, None, ""), (0, None, None, "")],
    ),
    "one id for all without indexes": (
        [piece(None, "a", "w", "{}"), piece(None, "a", "v", "{"), piece(None, "a", None, "}")],
        [(0, "a", "w", "{}"), (1, "made", "v", "{"), (1, None, None, "}")],
    ),
    "whole calls on one index without ids": (
        [piece(0, None, "w", "{}"), piece(0, None, "w", "{}")],
        [(0, "made", "w", "{}"), (1, "made", "w", "{}")],
    ),
    "an index that grows with each piece of one call": (
        [piece(0, "a", "w", "{"), piece(1, "a", "w", '"c":'), piece(2, "a", "w", "1}")],
        [(0, "a", "w", "{"), (0, None, None, '"c":'), (0, None, None, "1}")],
    ),
    "a second call of one name whose arguments follow": (
        [piece(0, "a", "w", "{}"), piece(0, "b", "w"), piece(0, None, None, "{}")],
        [(0, "a", "w", "{}"), (1, "b", "w", ""), (1, None, None, "{}")],
    ),
    "a second call by the same id whose arguments follow": (
        [piece(0, "a", "w", "{}"), piece(0, "a", "v"), piece(0, None, None, "{}")],
        [(0, "a", "w", "{}"), (1, "made", "v", ""), (1, None, None, "{}")],
    ),
    "id and name once more without an index": (
        [piece(None, "a", "w", "{}"), piece(None, "a", "w", "")],
        [(0, "a", "w", "{}"), (0, None, None, "")],
    ),
    "id and name once more behind the whole": (
        [piece(0, "a", "w", "{}"), piece(0, "a", "w", "")],
        [(0, "a", "w", "{}"), (0, None, None, "")],
    ),
    "a name in pieces": (
        [piece(0, "a", "get_"), piece(0, None, "weather"), piece(0, None, None, "{}")],
        [(0, "a", "get_", ""), (0, None, "weather", ""), (0, None, None, "{}")],
    ),
    "a name that grows": (
        [piece(0, "a", "get_"), piece(0, "a", "get_weather"), piece(0, "a", "get_weather", "{}")],
        [(0, "a", "get_", ""), (0, None, "weather", ""), (0, None, None, "{}")],
    ),
    "ids that are numbers": (
        [piece(0, 7, "w", "{"), piece(0, 7, None, "}"), piece(0, 0, "v", "{}")],
        [(0, "7", "w", "{"), (0, None, None, "}"), (1, "0", "v", "{}")],
    ),
    "id and name in each piece": (
        [piece(0, "a", "w", "{"), piece(0, "a", "w", "}")],
        [(0, "a", "w", "{"), (0, None, None, "}")],
    ),
    "without ids": (
        [piece(0, None, "w", "{}"), piece(1, None, "v", "{}")],
        [(0, "made", "w", "{}"), (1, "made", "v", "{}")],
    ),
    "an empty id": ([piece(0, "", "w", "{}")], [(0, "made", "w", "{}")]),
    "an id that comes late": (
        [piece(0, None, "w", "{"), piece(0, "a", None, "}")],
        [(0, "made", "w", "{"), (0, None, None, "}")],
    ),
    "a name that comes late": (
        [piece(0), piece(0, None, "w", "{}")],
        [(0, "made", "w", "{}")],
    ),
    "without indexes": (
        [piece(None, "a", "w", "{"), piece(None, None, None, "}"), piece(None, "b", "v", "{}")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (1, "b", "v", "{}")],
    ),
    "without ids and indexes": (
        [piece(None, None, "w", "{"), piece(None, None, None, "}"), piece(None, None, "w", "{}")],
        [(0, "made", "w", "{"), (0, None, None, "}"), (1, "made", "w", "{}")],
    ),
    "indexes from one on": (
        [piece(1, "a", "w", "{}"), piece(2, "b", "v", "{}")],
        [(1, "a", "w", "{}"), (2, "b", "v", "{}")],
    ),
    "odd indexes": (
        [piece("0", "a", "w", "{"), piece("0", None, None, "}"), piece(-1, "b", "v", "{}")],
        [(0, "a", "w", "{"), (0, None, None, "}"), (1, "b", "v", "{}")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_piece_belongs_to_one_call(name: str) -> None:
    given, expected = CASES[name]
    assert read(*given) == expected


CALL: dict[str, Any] = {"function": {"name": "w", "arguments": {"c": 1}}}
OLLAMA = {"message": {"tool_calls": [CALL, CALL]}, "done": True}
TWO = [{"message": {"tool_calls": [CALL]}}, {"message": {"tool_calls": [CALL]}, "done": True}]
CHAT = {"choices": [{"message": {"tool_calls": [CALL, CALL]}}]}
ITEM = {"type": "function_call", "name": "w", "arguments": "{}"}
RESPONSE = {"status": "completed", "output": [ITEM, ITEM]}
STREAM = sse(chunk({"tool_calls": [piece(0, None, "w", "{}"), piece(1, None, "w", "{}")]}), END)


@pytest.mark.parametrize(
    ("reader", "body"),
    [
        (ollama_chat.AnswerReader, lines(OLLAMA)),
        (
            ollama_chat.AnswerReader,
            lines(*TWO),
        ),
        (openai_chat.AnswerReader, as_json(CHAT)),
        (openai_chat.AnswerReader, STREAM),
        (openai_responses.AnswerReader, as_json(RESPONSE)),
    ],
)
def test_calls_without_an_id_get_ids_that_no_other_call_has(reader: Any, body: bytes) -> None:
    ids = [call.id for _ in range(3) for call in reader().read(body).tool_calls]
    assert len(ids) == 6
    assert len(set(ids)) == 6
    assert all(map(MADE.fullmatch, ids))


TWINS = [CALL | {"id": 7}, None, CALL | {"id": 7}]


@pytest.mark.parametrize(
    ("reader", "body"),
    [
        (ollama_chat.AnswerReader, lines({"message": {"tool_calls": TWINS}, "done": True})),
        (
            ollama_chat.AnswerReader,
            lines(*({"message": {"tool_calls": [CALL | {"id": 7}]}, "done": n} for n in (0, True))),
        ),
        (openai_chat.AnswerReader, as_json({"choices": [{"message": {"tool_calls": TWINS}}]})),
        (openai_chat.AnswerReader, sse(chunk({"tool_calls": TWINS}), END)),
        (openai_responses.AnswerReader, as_json({"status": "completed", "output": [ITEM | {"call_id": 7}] * 2})),
    ],
)
def test_of_calls_with_one_id_the_second_gets_its_own(reader: Any, body: bytes) -> None:
    first, second = reader().read(body).tool_calls
    assert (first.id, _shown(second.id)) == ("7", "made")


def test_a_name_in_pieces_is_one_name_for_every_client() -> None:
    pieces = (piece(0, "a", "get_"), piece(0, None, "weather"), piece(0, None, None, "{}"))
    events = openai_chat.AnswerReader().feed(sse(*(chunk({"tool_calls": [one]}) for one in pieces), END, DONE))
    (call,) = openai_chat.AnswerReader().read(sse(*(chunk({"tool_calls": [one]}) for one in pieces), END)).tool_calls
    assert (call.name, b'"name":"get_weather"' in ollama_chat.StreamWriter("m", "id", 1).events(events)) == (
        "get_weather",
        True,
    )


def test_an_id_that_a_model_gives_again_is_kept() -> None:
    named = {"message": {"tool_calls": [CALL | {"id": "call_0"}]}, "done": True}
    ids = [call.id for _ in range(2) for call in ollama_chat.AnswerReader().read(lines(named)).tool_calls]
    assert ids == ["call_0", "call_0"]
