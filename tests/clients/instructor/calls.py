"""instructor, over the `openai` package."""

import json

import instructor
import openai
import pytest
from mnemoir_calls import MODEL, USER
from pydantic import BaseModel


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    snow: bool


GRAZ = {"city": "Graz", "snow": True}


@pytest.fixture
def ask(servers):
    """Asks for weather in one of instructor's modes."""

    def asking(mode, **more):
        client = openai.OpenAI(base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0)
        patched = instructor.from_openai(client, mode=mode)
        return patched.chat.completions.create(
            model=MODEL, messages=[USER], response_model=Weather, max_retries=0, **more
        )

    return asking


@pytest.mark.parametrize("mode", [instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT])
def test_an_answer_is_structured_by_a_call(ask, far, mode):
    far.says(tool_calls=[("Weather", GRAZ)])
    assert ask(mode).model_dump() == GRAZ
    assert far.body["tool_choice"]["function"]["name"] == "Weather"


@pytest.mark.parametrize("mode", [instructor.Mode.JSON_SCHEMA, instructor.Mode.JSON])
def test_an_answer_is_structured_by_its_text(ask, far, mode):
    far.says(json.dumps(GRAZ))
    assert ask(mode).model_dump() == GRAZ
    wanted = {instructor.Mode.JSON_SCHEMA: "json_schema", instructor.Mode.JSON: "json_object"}
    assert far.body["response_format"]["type"] == wanted[mode]


def test_an_answer_is_found_in_a_block_of_markdown(ask, far):
    far.says(f"```json\n{json.dumps(GRAZ)}\n```")
    assert ask(instructor.Mode.MD_JSON).model_dump() == GRAZ


def test_an_answer_is_structured_while_it_streams(servers, far):
    client = openai.OpenAI(base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0)
    far.says(tool_calls=[("Weather", GRAZ)])
    patched = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    *_, last = patched.chat.completions.create_partial(model=MODEL, messages=[USER], response_model=Weather)
    assert (last.city, last.snow) == ("Graz", True)


def test_members_that_mnemoir_does_not_use_arrive(ask, far):
    far.says(tool_calls=[("Weather", GRAZ)])
    ask(instructor.Mode.TOOLS, parallel_tool_calls=False, logprobs=True, extra_body={"top_k": 20})
    assert (far.body["parallel_tool_calls"], far.body["logprobs"], far.body["top_k"]) == (False, True, 20)
