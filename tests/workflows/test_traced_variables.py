"""Positions of variables in traced prompts: exact, or left out."""

import pytest

from mnemoir.core.messages import text_message
from mnemoir.core.runs import MOST_TRACED_CHARACTERS
from mnemoir.workflows.text.fields import Filling, TextPosition
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.tracing import traced_messages, variables_in
from tests.scripted_llm import Answer
from tests.tree_kit import answers, asks
from tests.workflows.workflow_kit import caller, chat, events, nodes_of, reply, talk


def shown(node):
    """Each variable of a node with the text at its position."""
    texts = [node.prompt] if isinstance(node.prompt, str) else [message["content"] for message in node.prompt]
    return [(place.name, texts[place.message][place.start : place.end]) for place in node.variables]


async def test_positions_of_variables_are_known_in_a_list_of_messages(desk, llm):
    llm.queue(Answer(text="a plan"), Answer(text="Soup."))
    node = answers("You follow {agent1Output}, always.", "So: {chat_user_prompt_last_one} ({agent1Output})")
    await reply(desk.tree(asks("Plan", "x"), node), talk("Hi", stream=False))
    _, say = nodes_of(await desk.runs.next())
    assert shown(say) == [("agent1Output", "a plan"), ("chat_user_prompt_last_one", "Hi"), ("agent1Output", "a plan")]
    assert [place.message for place in say.variables] == [0, 1, 1]


async def test_positions_of_variables_are_known_in_templates(desk, llm):
    llm.queue(Answer(text="a plan"), Answer(text="Soup."))
    prompt = "{% for m in messages %}[{{ m.content | upper }}]{% endfor %} {{ agent1Output }}{{ 1 + 1 }}"
    await reply(desk.tree(asks("Plan", "x"), {**answers("Say", prompt), "jinja2": True}), talk("Hi", stream=False))
    _, say = nodes_of(await desk.runs.next())
    assert shown(say) == [("messages", "HI"), ("agent1Output", "a plan")]


async def test_positions_of_variables_are_known_in_a_text_prompt(desk, llm):
    endpoint = {"endpoint": llm.url, "apiTypeConfigFileName": "Text"}
    files = {"Endpoints/Main.json": endpoint, "ApiTypes/Text.json": {"type": "openAIV1Completion"}}
    await reply(desk.tree(answers("Say", "<{chat_user_prompt_last_one}>", preset=""), files=files), talk("Hi"))
    (say,) = nodes_of(await desk.runs.next())
    assert isinstance(say.prompt, str)
    assert shown(say) == [("chat_user_prompt_last_one", "Hi")]


@pytest.mark.parametrize("jinja", [False, True])
async def test_positions_of_a_parents_variables_are_known_in_the_child(desk, jinja):
    inner = {"Workflows/Ann/Inner.json": [asks("Inner", "x")]}
    text = "Sum up {{ chat_user_prompt_last_one }}!" if jinja else "Sum up {chat_user_prompt_last_one}!"
    call = {"title": "Call", "type": "CustomWorkflow", "workflowName": "Inner", "firstNodePromptOverride": text}
    await reply(desk.tree({**call, "jinja2": jinja}, answers("Say"), files=inner), talk("Hi"))
    (node, _) = nodes_of(await desk.runs.next())
    assert shown(node.children[0].nodes[0]) == [("chat_user_prompt_last_one", "Hi")]


async def test_recalled_memories_have_a_position_like_a_variable(desk, memory):
    await events(desk.tree({"type": "Recall"}, {"type": "Respond", "title": "Say"}), chat(), caller())
    _, say = nodes_of(await desk.runs.next())
    ((name, text),) = shown(say)
    assert name == "recalled_memories"
    assert (text.startswith("<recalled_memories>"), "Is vegetarian" in text) == (True, True)


def test_a_text_that_occurs_twice_or_was_changed_is_left_out():
    filling = {"prompt": Filling("tea", [TextPosition("a", 0, 3)])}
    assert variables_in("tea or tea, she said", filling) == []
    assert variables_in("coffee", filling) == []


def test_a_text_cut_short_is_left_out():
    long = "x" * MOST_TRACED_CHARACTERS
    prompt = traced_messages([text_message("user", f"{long}tea")])
    assert (
        variables_in(prompt, {"prompt": Filling(f"{long}tea", [TextPosition("a", len(long), len(long) + 3)])}) == []
    )


def test_unknown_names_have_no_position_and_empty_values_have_one():
    places: list[TextPosition] = []
    assert fill("{a}{b}{{c}}", {"a": ""}, places=places) == "{b}{c}"
    assert places == [TextPosition("a", 0, 0)]


def test_variables_in_macros_and_blocks_have_no_position():
    places: list[TextPosition] = []
    text = fill("{% macro m() %}{{ a }}{% endmacro %}{{ m() }}-{{ a }}", {"a": "tea"}, jinja=True, places=places)
    assert text == "tea-tea"
    assert places[-1] == TextPosition("a", 4, 7)
    assert {place.name for place in places} <= {"a", "m"}
