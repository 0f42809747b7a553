"""StaticResponse, StringConcatenator, ArithmeticProcessor and Conditional."""

import pytest

from mnemoir.core.messages import text_message
from mnemoir.workflows.nodes.arithmetic_processor import ArithmeticProcessor
from mnemoir.workflows.nodes.conditional import Conditional
from mnemoir.workflows.nodes.static_response import StaticResponse
from mnemoir.workflows.nodes.string_concatenator import StringConcatenator


async def test_a_static_response_is_its_text_with_the_variables_in_it(bench):
    bench.outputs = {1: "blue"}
    assert await bench.run(StaticResponse, content="The sky is {agent1Output}.") == "The sky is blue."


async def test_a_static_response_without_a_text_is_empty(bench):
    assert await bench.run(StaticResponse) == ""


async def test_text_of_a_person_is_never_read_as_a_variable(bench):
    bench.messages = [text_message("user", "{agent1Output} {{ 7*7 }}")]
    bench.outputs = {1: "secret"}
    assert await bench.run(StaticResponse, content="{chat_user_prompt_last_one}") == "{agent1Output} {{ 7*7 }}"


async def test_strings_are_filled_and_joined_and_the_delimiter_stays_as_it_is(bench):
    bench.outputs = {1: "b"}
    joined = await bench.run(StringConcatenator, strings=["a", "{agent1Output}", 3, None], delimiter="{agent1Output}")
    assert joined == "a{agent1Output}b{agent1Output}3{agent1Output}None"


@pytest.mark.parametrize("strings", ["text", 7, {"a": 1}, None])
async def test_strings_that_are_no_list_join_to_nothing(bench, strings):
    assert await bench.run(StringConcatenator, strings=strings) == ""


async def test_arithmetic_uses_the_outputs_of_other_nodes(bench):
    bench.outputs = {1: "41"}
    assert await bench.run(ArithmeticProcessor, expression=" {agent1Output} + 1 ") == "42"


async def test_invalid_arithmetic_gives_minus_one_and_a_note(bench):
    assert await bench.run(ArithmeticProcessor, expression="__import__('os')") == "-1"
    assert "cannot be calculated" in bench.step.trace.notes[0]


async def test_a_condition_that_holds_is_true(bench):
    bench.outputs = {1: "Paris"}
    assert await bench.run(Conditional, condition="'{agent1Output}' == \"Paris\" AND 3 >= 2") == "TRUE"


@pytest.mark.parametrize("said", [{}, {"condition": ""}, {"condition": "two words"}, {"condition": "1 == 2"}])
async def test_a_condition_that_does_not_hold_or_cannot_be_read_is_false(bench, said):
    assert await bench.run(Conditional, **said) == "FALSE"
