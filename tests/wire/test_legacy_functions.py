"""Functions are read as tools, and calls are written back as function calls."""

from typing import Any

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.wire.openai_chat import read_request, with_tools, write_request
from mnemoir.wire.openai_chat_answers import of_function_call

WEATHER = {"name": "weather", "description": "of a town", "parameters": {"type": "object", "properties": {}}}
TOOL = {"type": "function", "function": WEATHER}
ASKED = {"role": "user", "content": "Rain in Graz, and in Linz?"}


def asked(**members: Any) -> dict[str, Any]:
    return {"messages": [ASKED], **members}


def test_a_request_without_functions_is_left_as_it_is() -> None:
    for body in (asked(tools=[TOOL]), asked(functions=None, function_call=None), asked(functions=[])):
        assert with_tools(body) == (body, False, ())


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ({"name": "weather"}, {"type": "function", "function": {"name": "weather"}}),
    ],
)
def test_functions_become_tools_and_their_choice_that_of_a_tool(choice: object, expected: object) -> None:
    chat = read_request(asked(functions=[WEATHER], function_call=choice))
    body = write_request(chat.request, stream=False)
    assert (body["tools"], body["tool_choice"], chat.function_calls) == ([TOOL], expected, True)
    assert body.keys().isdisjoint(("functions", "function_call"))


def test_a_request_of_both_keeps_its_tools_and_names_what_it_lost() -> None:
    chat = read_request(asked(tools=[TOOL], functions=[WEATHER], function_call="auto"))
    assert (chat.request.tools, chat.request.tool_choice, chat.function_calls) == ((TOOL,), None, False)
    assert chat.request.dropped == ("functions", "function_call")


def test_calls_of_a_history_get_their_ids_by_place_and_answers_those_of_their_calls() -> None:
    first, second = ({"name": "weather", "arguments": f'{{"town": "{town}"}}'} for town in ("Graz", "Linz"))
    history = [
        ASKED,
        {"role": "assistant", "content": None, "function_call": first},
        {"role": "function", "name": "weather", "content": "dry"},
        {"role": "assistant", "content": "Now Linz.", "function_call": second},
        {"role": "function", "name": "weather", "content": "rain"},
    ]
    chat = read_request({"messages": history})
    assert write_request(chat.request, stream=False)["messages"] == [
        ASKED,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": first}],
        },
        {"role": "tool", "content": "dry", "tool_call_id": "call_1"},
        {
            "role": "assistant",
            "content": "Now Linz.",
            "tool_calls": [{"id": "call_3", "type": "function", "function": second}],
        },
        {"role": "tool", "content": "rain", "tool_call_id": "call_3"},
    ]


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"functions": {"name": "weather"}}, "functions"),
        ({"functions": ["weather"]}, "functions[0]"),
        ({"functions": [WEATHER], "function_call": 7}, "function_call"),
        ({"functions": [WEATHER], "function_call": {"name": 7}}, "function_call.name"),
        ({"messages": [{"role": "assistant", "function_call": "weather"}]}, "messages[0].function_call"),
        ({"messages": [{"role": "function", "name": 7, "content": ""}]}, "messages[0].name"),
    ],
)
def test_functions_of_another_shape_are_refused_by_their_field(members: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_request(asked(**members))
    assert caught.value.field == field


def test_a_whole_choice_has_its_first_call_as_function_call() -> None:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "weather", "arguments": f"{n}"}} for n in (1, 2)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    written = of_function_call({"index": 0, "message": message, "finish_reason": "tool_calls"})
    assert written == {
        "index": 0,
        "message": {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "1"}},
        "finish_reason": "function_call",
    }


def test_pieces_of_further_calls_are_left_out() -> None:
    def piece(index: int) -> dict[str, Any]:
        return {"index": 0, "delta": {"tool_calls": [{"index": index, "function": {"arguments": "{"}}]}}

    assert of_function_call(piece(0)) == {"index": 0, "delta": {"function_call": {"arguments": "{"}}}
    assert of_function_call(piece(1)) == {"index": 0, "delta": {}}
