"""The `openai` package: tools and structured output, and the examples of `mnemoir init`."""

import json

import pytest
from mnemoir_calls import MODEL, PARAMETERS, PIXEL, USER, WEATHER, call
from openai_kit import asking, client
from pydantic import BaseModel

TOOL = {"type": "function", "function": WEATHER}
TWO_CALLS = [("weather", {"city": "Graz"}), ("weather", {"city": "Linz"})]


class Weather(BaseModel):
    city: str
    snow: bool


@pytest.fixture
def sdk(servers):
    with client(servers["openai"]) as made:
        yield made


@pytest.fixture
def chat(sdk):
    return asking(sdk)


def test_tools_are_called_and_their_results_go_back(chat, far):
    far.says(tool_calls=TWO_CALLS)
    message = chat(tools=[TOOL], tool_choice="required").choices[0].message
    assert [json.loads(one.function.arguments)["city"] for one in message.tool_calls] == ["Graz", "Linz"]
    assert far.body["tools"] == [TOOL]
    far.clear()
    results = [{"role": "tool", "tool_call_id": one.id, "content": "Snow."} for one in message.tool_calls]
    chat(messages=[USER, message.model_dump(exclude_none=True), *results], tools=[TOOL])
    assert [one["tool_call_id"] for one in far.body["messages"][-2:]] == [one.id for one in message.tool_calls]


def test_tools_are_called_in_a_stream(chat, far):
    far.says(tool_calls=TWO_CALLS)
    deltas = [one.choices[0].delta for one in chat(tools=[TOOL], stream=True) if one.choices]
    arguments = {0: "", 1: ""}
    for part in [part for delta in deltas for part in delta.tool_calls or []]:
        arguments[part.index] += part.function.arguments or ""
    assert [json.loads(text)["city"] for text in arguments.values()] == ["Graz", "Linz"]


def test_old_functions_become_tools_and_come_back_as_a_function_call(chat, far):
    far.says(tool_calls=TWO_CALLS[:1])
    choice = chat(functions=[WEATHER], function_call={"name": "weather"}).choices[0]
    assert json.loads(choice.message.function_call.arguments) == {"city": "Graz"}
    assert choice.finish_reason == "function_call"
    assert far.body["tools"] == [TOOL]
    assert far.body["tool_choice"] == {"type": "function", "function": {"name": "weather"}}


@pytest.mark.parametrize("strict", [True, False, None])
def test_strict_and_description_of_a_schema_arrive_as_sent(chat, far, strict):
    told = {} if strict is None else {"strict": strict}
    closed = {**PARAMETERS, "additionalProperties": False}
    for schema in (PARAMETERS, closed):
        form = {"name": "weather", "description": "One city.", "schema": schema, **told}
        tool = {"type": "function", "function": {**WEATHER, "parameters": schema, **told}}
        far.clear()
        chat(response_format={"type": "json_schema", "json_schema": form}, tools=[tool])
        assert far.body["response_format"]["json_schema"] == form
        assert far.body["tools"] == [tool]


def test_an_answer_is_parsed(sdk, far):
    far.says('{"city": "Graz", "snow": true}')
    answer = sdk.chat.completions.parse(model=MODEL, messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(city="Graz", snow=True)


def test_a_refusal_stays_a_refusal(sdk, far):
    far.says_message({"role": "assistant", "content": None, "refusal": "I cannot help with that."})
    answer = sdk.chat.completions.parse(model=MODEL, messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed is None
    assert (answer.choices[0].message.refusal, answer.choices[0].finish_reason) == (
        "I cannot help with that.",
        "stop",
    )


def test_a_refusal_streams_as_a_refusal(chat, far):
    far.says_choices(
        {"delta": {"role": "assistant", "refusal": "I cannot "}},
        {"delta": {"refusal": "help."}},
        {"delta": {}, "finish_reason": "stop"},
    )
    choices = [one.choices[0] for one in chat(stream=True) if one.choices]
    assert "".join(choice.delta.refusal or "" for choice in choices) == "I cannot help."
    assert choices[-1].finish_reason == "stop"


def test_a_tool_call_keeps_members_that_only_its_provider_knows(chat, far):
    signed = call("weather", '{"city": "Graz"}') | {"extra_content": {"signature": "s-1"}}
    far.says_message({"role": "assistant", "content": None, "tool_calls": [signed]}, finish="tool_calls")
    (made,) = chat(tools=[TOOL]).choices[0].message.tool_calls
    assert made.model_dump()["extra_content"] == {"signature": "s-1"}


# --- the examples of `mnemoir init`


@pytest.fixture
def tree(servers):
    with client(servers["tree"]) as made:
        yield asking(made, "single-model")


def test_an_example_passes_tools_and_samplers(tree, far):
    far.says(tool_calls=TWO_CALLS)
    message = tree(tools=[TOOL], parallel_tool_calls=True, extra_body={"top_k": 20}).choices[0].message
    assert [one.function.name for one in message.tool_calls] == ["weather", "weather"]
    assert (far.body["tools"], far.body["top_k"], far.body["parallel_tool_calls"]) == ([TOOL], 20, True)


def test_an_example_passes_structured_output(servers, far):
    far.says('{"city": "Graz", "snow": true}')
    with client(servers["tree"]) as made:
        answer = made.chat.completions.parse(model="single-model", messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(city="Graz", snow=True)
    assert far.body["response_format"]["json_schema"]["strict"] is True


def test_an_example_passes_pictures(tree, far):
    picture = {"type": "image_url", "image_url": {"url": PIXEL}}
    tree(messages=[{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}])
    assert PIXEL in json.dumps(far.body["messages"])


def test_an_example_streams_tools(tree, far):
    far.says(tool_calls=TWO_CALLS[:1])
    deltas = [one.choices[0].delta for one in tree(tools=[TOOL], stream=True) if one.choices]
    assert "weather" in [part.function.name for delta in deltas for part in delta.tool_calls or []]
