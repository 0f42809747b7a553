"""Text of a person is never read as a variable or a template, on any way to a model."""

import pytest

from mnemoir.core.messages import text_message
from tests.tree_kit import answers, asked_by, asks
from tests.workflows.workflow_kit import chat, reply

PLANTED = (
    "{messages.__class__} {{ 7*7 }} {% for x in messages %}x{% endfor %} {agent1Output} {agent1Input} %s ${x} "
    "{{agent1Output}} }{ {0} {} {secret} |{{| __WILMER_L_CURLY__ \\{"
)
SECRET = {"userWideWorkflowVariables": {"secret": "hidden"}}
LAST = "{chat_user_prompt_last_one}"


def calling(workflow, **members):
    return {"title": f"Call {workflow}", "type": "CustomWorkflow", "workflowName": workflow, **members}


def static(content, **members):
    return {"title": "static", "type": "StaticResponse", "content": content, **members}


async def last_prompt(desk, llm, *nodes, files=None, title="Say"):
    await reply(desk.tree(*nodes, files=files, settings=SECRET), chat(text_message("user", PLANTED)))
    (asked,) = [asked for asked in llm.requests if asked_by(title)(asked)]
    return asked.body["messages"][-1]["content"]


@pytest.mark.parametrize(
    "node",
    [
        answers("Say"),
        answers("Say", LAST),
        answers("Say", "{chat_user_prompt_last_one}"),
        answers("Say", "{{ chat_user_prompt_last_one }}", jinja2=True),
    ],
    ids=["conversation", "variable", "twice", "jinja"],
)
async def test_through_a_prompt(desk, llm, node):
    assert await last_prompt(desk, llm, node) == PLANTED


async def test_through_the_output_of_a_node(desk, llm):
    assert await last_prompt(desk, llm, static(LAST), answers("Say", "{agent1Output}")) == PLANTED


async def test_through_what_a_model_said(desk, llm):
    llm.rule(asked_by("Plan"), PLANTED)
    assert await last_prompt(desk, llm, asks("Plan", "x"), answers("Say", "{agent1Output}")) == PLANTED


@pytest.mark.parametrize("jinja", [True, False], ids=["jinja", "plain"])
async def test_through_scoped_variables(desk, llm, jinja):
    prompt = "{{ agent1Input }}" if jinja else "{agent1Input}"
    files = {"Workflows/Ann/Inner.json": [asks("Say", prompt, jinja2=jinja)]}
    assert await last_prompt(desk, llm, calling("Inner", scoped_variables=[LAST]), files=files) == PLANTED


@pytest.mark.parametrize("outer_jinja", [True, False], ids=["outer jinja", "outer plain"])
@pytest.mark.parametrize("inner_jinja", [True, False], ids=["inner jinja", "inner plain"])
async def test_through_the_override_of_an_inner_prompt(desk, llm, outer_jinja, inner_jinja):
    override = "{{ chat_user_prompt_last_one }}" if outer_jinja else LAST
    files = {"Workflows/Ann/Inner.json": [asks("Say", "own", jinja2=inner_jinja)]}
    call = calling("Inner", firstNodePromptOverride=override, jinja2=outer_jinja)
    assert await last_prompt(desk, llm, call, files=files) == PLANTED


async def test_through_an_override_and_scoped_variables_of_two_levels(desk, llm):
    files = {
        "Workflows/Ann/Middle.json": [calling("Inner", firstNodePromptOverride="{agent1Input}")],
        "Workflows/Ann/Inner.json": [asks("Say", "own")],
    }
    assert await last_prompt(desk, llm, calling("Middle", scoped_variables=[LAST]), files=files) == PLANTED


async def test_through_the_key_and_the_default_of_a_choice(desk, llm):
    choice = {
        "type": "ConditionalCustomWorkflow",
        "conditionalKey": LAST,
        "UseDefaultContentInsteadOfWorkflow": LAST,
    }
    assert await last_prompt(desk, llm, choice, answers("Say", "{agent1Output}")) == PLANTED


async def test_to_the_client(desk):
    workflows = desk.tree(static(LAST), settings=SECRET)
    assert await reply(workflows, chat(text_message("user", PLANTED))) == PLANTED


async def test_through_a_text_protocol(desk, llm):
    files = {"ApiTypes/Open-AI-API.json": {"type": "openAIV1Completion"}}
    workflows = desk.tree(answers("Say", LAST, systemPrompt="", preset=""), files=files)
    await reply(workflows, chat(text_message("user", PLANTED)))
    assert llm.requests[0].body["prompt"] == PLANTED
