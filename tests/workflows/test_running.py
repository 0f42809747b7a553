"""Workflows of a config tree: the answering node, the order of nodes, and the inputs of inner workflows."""

import pytest

from mnemoir.core.errors import SettingsError, WorkflowStopped
from mnemoir.core.events import Finished, MemorySkipped, NodeFinished, NodeStarted, Text
from mnemoir.core.messages import text_message
from mnemoir.workflows.services import Limits
from tests.scripted_llm import failure
from tests.tree_kit import answers, asked_by, asked_titles, asks
from tests.workflows.workflow_kit import chat, events, nodes_of, reply, shape, text_of

WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def static(content, **members):
    return {"title": content, "type": "StaticResponse", "content": content, **members}


def calling(workflow, **members):
    return {"title": f"Call {workflow}", "type": "CustomWorkflow", "workflowName": workflow, **members}


def request(stream):
    return chat(text_message("user", "Hi"), stream=stream)


def sent_to(llm, title):
    """The prompt of the node of that title."""
    (asked,) = [asked for asked in llm.requests if asked_by(title)(asked)]
    return asked.body["messages"][-1]["content"]


@WAYS
async def test_nodes_run_in_order_and_the_last_one_answers(desk, llm, stream):
    llm.reply("plan")
    llm.reply("The answer.")
    workflows = desk.tree(asks("Plan", "Think."), asks("Say", "Do: {agent1Output}"))
    assert await reply(workflows, request(stream)) == "The answer."
    assert sent_to(llm, "Say") == "Do: plan"
    assert [asked.body["stream"] for asked in llm.requests] == [False, stream]


@WAYS
async def test_nodes_behind_the_responder_run_when_the_client_has_its_answer(desk, llm, stream):
    workflows = desk.tree(answers("Say", "Say it."), asks("Keep", "Keep: {agent1Output}"))
    llm.rule(asked_by("Say"), "The answer.")
    llm.reply("kept", silent=True)
    happened = await events(workflows, request(stream))
    assert (text_of(happened), happened[-1]) == ("The answer.", Finished())
    llm.release()
    run = await desk.runs.next()
    assert [node.output for node in nodes_of(run)] == ["The answer.", "kept"]
    assert sent_to(llm, "Keep") == "Keep: The answer."
    assert run.status == "finished"


async def test_the_end_is_sent_once_and_last(desk):
    happened = await events(desk.tree(answers("Say")))
    assert [event for event in happened if isinstance(event, Finished)] == [happened[-1]]


async def test_nodes_before_the_answer_are_announced_and_the_responder_is_not(desk, llm):
    happened = await events(desk.tree(asks("Plan", "x"), answers("Say", "x")))
    told = [event for event in happened if isinstance(event, NodeStarted | NodeFinished)]
    assert [(type(event), event.node) for event in told] == [(NodeStarted, "Plan"), (NodeFinished, "Plan")]


@pytest.mark.parametrize("value", [None, "", "text", ["a", 1], {"b": None}])
@WAYS
async def test_an_answer_of_any_type_is_framed_as_text(desk, stream, value):
    inner: dict[str, object] = {"Workflows/Ann/Inner.json": []} if value is None else {}
    node = calling("Inner") if value is None else {"type": "StaticResponse", "content": str(value)}
    happened = await events(desk.tree(node, files=inner), request(stream))
    shown = "" if value is None else str(value)
    assert (text_of(happened), happened[-1]) == (shown, Finished())


@WAYS
async def test_an_empty_workflow_answers_with_nothing(desk, stream):
    assert await events(desk.tree(), request(stream)) == [MemorySkipped(reason="workflow"), Finished()]


@WAYS
async def test_a_failure_before_the_answer_is_raised_and_ends_the_run(desk, llm, stream):
    llm.queue(failure(400, "no such model"))
    with pytest.raises(Exception, match="no such model"):
        await events(desk.tree(asks("Plan", "x"), answers("Say")), request(stream))
    run = await desk.runs.next()
    assert (run.status, len(llm.requests)) == ("failed", 1)
    assert "no such model" in run.error


async def test_a_failure_behind_the_answer_is_only_in_the_trace(desk, llm):
    llm.rule(asked_by("Keep"), failure(400, "no such model"))
    workflows = desk.tree(answers("Say"), asks("Keep", "x"), static("never"))
    assert await reply(workflows) == "Understood."
    run = await desk.runs.next()
    assert (run.status, len(nodes_of(run))) == ("failed", 2)
    assert "no such model" in run.error


# --- inner workflows


@WAYS
async def test_an_inner_workflow_run_by_the_responder_answers_the_client(desk, llm, stream):
    files = {"Workflows/Ann/Inner.json": [static("before"), answers("Inner", "x"), static("behind")]}
    llm.reply("one two")
    workflows = desk.tree(calling("Inner", returnToUser=True), static("{agent1Output}!"), files=files)
    happened = await events(workflows, request(stream))
    assert [e.text for e in happened if isinstance(e, Text)] == (["one ", "two"] if stream else ["one two"])
    (workflow,) = (await desk.runs.next()).workflows
    assert shape(workflow) == [("Call Inner", [["before", "Inner", "behind"]]), "{agent1Output}!"]
    assert workflow.nodes[1].output == "one two!"


async def test_remaining_nodes_of_an_inner_workflow_run_before_those_of_its_parent(desk, llm):
    files = {"Workflows/Ann/Inner.json": [answers("Inner"), asks("Inner behind", "x")]}
    workflows = desk.tree(calling("Inner", returnToUser=True), asks("Outer behind", "x"), files=files)
    await reply(workflows)
    await desk.runs.next()
    assert asked_titles(llm) == ["Inner", "Inner behind", "Outer behind"]


async def test_a_silent_inner_workflow_runs_to_its_end_before_its_parent_continues(desk, llm):
    files = {"Workflows/Ann/Inner.json": [answers("Inner", "x"), asks("Inner behind", "x")]}
    llm.rule(asked_by("Inner"), "from within")
    workflows = desk.tree(calling("Inner"), answers("Say", "{agent1Output}"), files=files)
    happened = await events(workflows)
    assert asked_titles(llm) == ["Inner", "Inner behind", "Say"]
    assert sent_to(llm, "Say") == "from within"
    assert text_of(happened) == "Understood."


async def test_an_inner_workflow_reads_its_scoped_variables_and_nothing_of_its_parents(desk, llm):
    seen = "{agent1Input}|{agent2Input}|{agent3Input}|{agent1Output}|{own}|{theirs}"
    files = {
        "Workflows/Ann/Chat.json": {"nodes": [static("A"), scoped("Inner", "{agent1Output}", 7)], "theirs": "T"},
        "Workflows/Ann/Inner.json": {"nodes": [asks("Inner", seen)], "own": "O"},
    }
    await reply(desk.tree(files=files))
    assert sent_to(llm, "Inner") == "A|7|{agent3Input}|{agent1Output}|O|{theirs}"


def scoped(workflow, *variables, **members):
    return calling(workflow, scoped_variables=list(variables), **members)


async def test_every_level_has_its_own_inputs(desk, llm):
    files = {
        "Workflows/Ann/Middle.json": [static("M"), scoped("Inner", "{agent1Input}{agent1Output}")],
        "Workflows/Ann/Inner.json": [asks("Inner", "{agent1Input}|{agent2Input}")],
    }
    await reply(desk.tree(scoped("Middle", "a", "b"), files=files))
    assert sent_to(llm, "Inner") == "aM|{agent2Input}"


async def test_overrides_go_to_the_first_node_that_has_a_prompt(desk, llm):
    inner = [calling("Empty"), asks("First", "own"), asks("Second", "own")]
    files = {"Workflows/Ann/Inner.json": inner, "Workflows/Ann/Empty.json": []}
    over = {"firstNodeSystemPromptOverride": "New {x}", "firstNodePromptOverride": "{agent1Output}"}
    outer = {"nodes": [static("A"), calling("Inner", **over)], "x": "X"}
    await reply(desk.tree(files={**files, "Workflows/Ann/Chat.json": outer}))
    said = [[message["content"] for message in asked.body["messages"]] for asked in llm.requests]
    assert said == [["New X", "A"], ["Second", "own"]]


async def test_an_empty_override_replaces_nothing(desk, llm):
    files = {"Workflows/Ann/Inner.json": [asks("Inner", "own")]}
    await reply(desk.tree(calling("Inner", firstNodePromptOverride=""), files=files))
    assert sent_to(llm, "Inner") == "own"


async def test_an_override_may_name_variables_of_the_inner_workflow(desk, llm):
    files = {"Workflows/Ann/Inner.json": {"nodes": [asks("Inner", "own")], "theirs": "T"}}
    await reply(desk.tree(calling("Inner", firstNodePromptOverride="{theirs}"), files=files))
    assert sent_to(llm, "Inner") == "T"


async def test_an_inner_workflow_is_looked_up_in_the_folder_a_node_names(desk):
    files = {"Workflows/_common/Inner.json": [static("common")], "Workflows/Ann/Inner.json": [static("own")]}
    workflows = desk.tree(calling("Inner", workflowUserFolderOverride="_common"), files=files)
    assert await reply(workflows) == "common"


async def test_a_workflow_that_is_missing_is_named(desk):
    with pytest.raises(SettingsError, match="workflow 'Gone' was not found"):
        await reply(desk.tree(calling("Gone")))


# --- a choice of workflows


def choosing(key, **members):
    routes = {"Code": "InnerCode", " chat ": "InnerChat"}
    return {
        "title": "Choose",
        "type": "ConditionalCustomWorkflow",
        "conditionalKey": key,
        "conditionalWorkflows": routes,
        **members,
    }


CHOICES = {
    "Workflows/Ann/InnerCode.json": [static("code")],
    "Workflows/Ann/InnerChat.json": [static("chat")],
    "Workflows/Ann/InnerRest.json": [static("rest")],
}


@pytest.mark.parametrize(
    ("key", "members", "answer"),
    [
        ("code", {}, "code"),
        (" CODE\n", {}, "code"),
        ("chat", {}, "chat"),
        ("else", {"conditionalWorkflows": {"a": "InnerCode", "DEFAULT": "InnerRest"}}, "rest"),
        ("else", {"UseDefaultContentInsteadOfWorkflow": "None: {agent1Output}"}, "None: else"),
        ("code", {"UseDefaultContentInsteadOfWorkflow": "None"}, "code"),
    ],
)
async def test_a_text_chooses_the_workflow(desk, key, members, answer):
    assert await reply(desk.tree(static(key), choosing("{agent1Output}", **members), files=CHOICES)) == answer


async def test_a_text_without_a_route_is_an_error_with_the_known_routes(desk):
    with pytest.raises(SettingsError, match=r"no workflow for 'else'\. Its routes are: Code,"):
        await reply(desk.tree(choosing("else"), files=CHOICES))


@pytest.mark.parametrize("spelling", ["promptOverride", "firstNodePromptOverride"])
async def test_only_the_overrides_of_the_chosen_route_apply(desk, llm, spelling):
    over = {"CODE": {spelling: "for code"}, "chat": {spelling: "for chat"}}
    files = {"Workflows/Ann/InnerCode.json": [asks("Inner", "own")]}
    await reply(desk.tree(choosing("code", routeOverrides=over, firstNodePromptOverride="never"), files=files))
    assert sent_to(llm, "Inner") == "for code"


async def test_the_default_route_keeps_the_prompts_of_its_workflow(desk, llm):
    routes = {"Default": "InnerRest"}
    files = {"Workflows/Ann/InnerRest.json": [asks("Inner", "own")]}
    over = {"Default": {"promptOverride": "never"}}
    await reply(desk.tree(choosing("else", conditionalWorkflows=routes, routeOverrides=over), files=files))
    assert sent_to(llm, "Inner") == "own"


# --- limits


async def test_a_workflow_that_runs_itself_is_stopped(desk):
    workflows = desk.tree(calling("Chat"), limits=Limits(most_depth=5))
    with pytest.raises(WorkflowStopped, match=r"Workflow Chat would run 6 deep.*workflows\.most_depth"):
        await reply(workflows)


async def test_nodes_of_one_request_are_counted_over_all_its_workflows(desk):
    files = {"Workflows/Ann/Inner.json": [static("a"), static("b")]}
    workflows = desk.tree(calling("Inner"), calling("Inner"), files=files, limits=Limits(most_nodes=5))
    with pytest.raises(WorkflowStopped, match=r"ran 5 nodes and would go on with 'b' of workflow Inner"):
        await reply(workflows)


@pytest.mark.real_time
@WAYS
async def test_a_node_that_takes_too_long_is_stopped_and_its_call_ended(desk, llm, stream):
    llm.reply("one two", silent=not stream, stall_after=1)
    workflows = desk.tree(answers("Say"), limits=Limits(node_timeout_s=0.05))
    with pytest.raises(WorkflowStopped, match=r"Node 'Say' of workflow Chat took more than 0\.05 s.*timeoutSeconds"):
        await events(workflows, request(stream))
    await llm.disconnected.wait()
    assert "took more than" in str(nodes_of(await desk.runs.next())[0].error)


@pytest.mark.real_time
async def test_a_node_may_have_a_time_limit_of_its_own(desk, llm):
    llm.reply("one", silent=True)
    with pytest.raises(WorkflowStopped, match=r"took more than 0\.05 s"):
        await reply(desk.tree(answers("Say", timeoutSeconds=0.05)))


async def test_a_node_that_runs_nodes_with_limits_has_no_limit_itself(desk, llm):
    files = {"Workflows/Ann/Inner.json": [asks("Inner", timeoutSeconds=20)]}
    workflows = desk.tree(calling("Inner"), files=files, limits=Limits(node_timeout_s=1e-9))
    assert await reply(workflows) == "Understood."
