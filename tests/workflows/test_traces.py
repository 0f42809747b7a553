"""Traces of runs: nodes, prompts, outputs, times and token counts."""

from contextlib import nullcontext

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Usage
from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.core.runs import MOST_TRACED_CHARACTERS, NodeTrace, RecalledMemory
from mnemoir.workflows.tracing import add_tokens, output_text, traced_messages, traced_text
from tests.narrowing import instance, present
from tests.scripted_llm import Answer, failure
from tests.tree_kit import answers, asks
from tests.workflows.workflow_kit import caller, chat, events, nodes_of, reply, talk

KEY = "sk-canary-2718281828"
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@WAYS
async def test_a_node_trace_has_the_prompt_the_endpoint_and_the_answer(desk, llm, stream):
    llm.queue(Answer(text="Soup is good.", usage=(11, 4)))
    await reply(desk.tree(answers("Say")), talk("Hi", stream=stream))
    run = await desk.runs.next()
    (node,) = nodes_of(run)
    assert (node.number, node.title, node.type) == (1, "Say", "Standard")
    assert (node.endpoint, node.preset, node.model) == ("Main", "Calm", "far-model")
    assert node.prompt == [{"role": "system", "content": "Say"}, {"role": "user", "content": "Hi"}]
    assert node.output == "Soup is good."
    assert (run.user, run.workflows[0].name, run.workflows[0].folder) == ("Ann", "Chat", "Ann")
    assert (run.status, run.error, run.category, run.stream) == ("finished", None, None, stream)


async def test_tokens_are_those_the_models_server_counted(desk, llm):
    llm.queue(Answer(text="Soup.", usage=(11, 4)))
    await reply(desk.tree(answers("Say")), talk("Hi", stream=False))
    (node,) = nodes_of(await desk.runs.next())
    assert (node.input_tokens, node.output_tokens, node.tokens_counted) == (11, 4, False)


async def test_tokens_are_estimated_where_the_server_counts_none(desk, llm):
    llm.queue(Answer(text="Soup is good.", usage=(0, 0)))
    await reply(desk.tree(answers("Say")), talk("Hi"))
    (node,) = nodes_of(await desk.runs.next())
    assert node.tokens_counted
    assert (node.input_tokens > 0, node.output_tokens > 0) == (True, True)


def test_several_calls_of_a_node_add_up_counted_or_estimated():
    trace = NodeTrace(number=1, title="t", type="x", started_ms=0)
    add_tokens(trace, Usage(), [text_message("user", "one two")], ["three"])
    estimated = (trace.input_tokens, trace.output_tokens)
    add_tokens(trace, Usage(input_tokens=10, output_tokens=5), [], [])
    assert (trace.input_tokens, trace.output_tokens) == (estimated[0] + 10, estimated[1] + 5)
    assert trace.tokens_counted


@WAYS
async def test_times_follow_each_other(desk, llm, stream):
    llm.reply("one two")
    await reply(desk.tree(asks("Plan", "x"), answers("Say"), asks("Keep", "x")), talk("Hi", stream=stream))
    run = await desk.runs.next()
    plan, say, keep = nodes_of(run)
    planned, begun, answered = present(plan.duration_ms), present(say.first_token_ms), present(run.answered_ms)
    moments = [plan.started_ms, plan.started_ms + planned, begun, answered]
    assert moments == sorted(moments)
    assert say.started_ms <= begun <= present(run.first_token_ms)
    assert answered <= keep.started_ms + present(keep.duration_ms) <= present(run.duration_ms)


async def test_inner_workflows_are_children_of_the_node_that_ran_them(desk):
    inner = {"Workflows/_common/Inner.json": [asks("Inner", "x")]}
    call = {"title": "Call", "type": "CustomWorkflow", "workflowName": "Inner"}
    call["workflowUserFolderOverride"] = "_common"
    await reply(desk.tree(call, answers("Say"), files=inner))
    (node, _) = nodes_of(await desk.runs.next())
    (child,) = node.children
    assert (child.name, child.folder, [inside.title for inside in child.nodes]) == ("Inner", "_common", ["Inner"])
    assert node.output == "Understood."


@WAYS
async def test_a_failure_is_in_the_trace_of_its_node_and_of_the_run(desk, llm, stream):
    llm.queue(failure(400, "no such model"))
    with pytest.raises(ProviderError):
        await reply(desk.tree(answers("Say")), talk("Hi", stream=stream))
    run = await desk.runs.next()
    (node,) = nodes_of(run)
    assert "no such model" in present(node.error)
    assert (run.status, run.error, run.answered_ms) == ("failed", node.error, None)
    assert node.prompt
    assert present(node.duration_ms) <= present(run.duration_ms)


@WAYS
@pytest.mark.parametrize("fault", [None, failure(401, f"bad key {KEY}")])
@pytest.mark.parametrize("api_type", ["Open-AI-API", "Text"])
async def test_the_key_of_an_endpoint_is_in_no_trace(desk, llm, stream, fault, api_type):
    endpoint = {"endpoint": llm.url, "apiTypeConfigFileName": api_type, "apiKey": KEY}
    files = {"Endpoints/Main.json": endpoint, "ApiTypes/Text.json": {"type": "openAIV1Completion"}}
    llm.queue(*([fault] if fault else []))
    with nullcontext() if fault is None else pytest.raises(ProviderError):
        await reply(desk.tree(answers("Say", preset=""), files=files), talk("Hi", stream=stream))
    assert llm.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(await desk.runs.next())


async def test_recalled_memories_are_traced(desk, memory):
    respond = {"type": "Respond", "title": "Say"}
    await events(desk.tree({"type": "Recall"}, respond), chat(), caller())
    recall, say = nodes_of(await desk.runs.next())
    assert recall.memories == [RecalledMemory(text="Is vegetarian")]
    assert "Is vegetarian" in instance(dict, present(say.prompt)[0])["content"]


async def test_outputs_that_are_no_text_are_shown_as_json():
    assert [output_text(value) for value in ("a", None, {"b": [1, None]}, 7)] == ["a", "", '{"b":[1,null]}', "7"]


def test_of_a_long_conversation_the_newest_messages_are_shown():
    messages = [text_message("user", letter * (MOST_TRACED_CHARACTERS // 2)) for letter in "abc"]
    told = traced_messages(messages)
    assert told[0] == {"role": "note", "content": "1 earlier messages are not shown."}
    assert [entry["content"][0] for entry in told[1:]] == ["b", "c"]


def test_one_message_that_is_too_long_is_cut():
    assert len(traced_messages([text_message("user", "a" * 2 * MOST_TRACED_CHARACTERS)])[0]["content"]) == 65536


def test_pictures_are_counted():
    asked = Message(role="user", parts=(TextPart(text="What?"), ImagePart(url="data:,"), ImagePart(url="data:,")))
    assert traced_messages([asked]) == [{"role": "user", "content": "What?", "images": 2}]


def test_of_a_long_text_the_end_is_shown():
    told = traced_text("a" + "b" * MOST_TRACED_CHARACTERS)
    assert told == "[1 earlier characters are not shown.]\n" + "b" * MOST_TRACED_CHARACTERS
    assert traced_text("short") == "short"


async def test_subscribers_are_notified_when_a_node_begins_speaks_and_ends(desk, llm):
    llm.queue(Answer(text="plan"), Answer(text="Soup."))
    await reply(desk.tree(asks("Think", "x"), answers("Say")), talk("Hi", stream=True))
    await desk.runs.next()
    assert desk.runs.moves == [
        *[("Think", False, False), ("Think", True, False), ("Think", True, True)],
        *[("Say", False, False), ("Say", True, False), ("Say", True, True)],
    ]
