"""Histories for text completion endpoints, and the check of the `memory` of nodes."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking import check
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.node import node_types
from tests.tree_kit import asks, user, write_tree
from tests.workflows.history_kit import OWN, PREFIXES, WHOLE, keeping, remembering, text_endpoint

NAMED = {"role_prefix": PREFIXES}


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


def completing(talks, llm, memory, prompt="#sys.query#", **members):
    """A node that asks the text completion endpoint."""
    endpoint = {"maxContextTokenSize": 8192, **members.pop("of_endpoint", {})}
    node = remembering(memory, prompt=prompt, endpointName="Text", **members)
    return talks.serve(node, files=text_endpoint(llm.url, **endpoint))


def prompt_of(llm):
    return llm.requests[-1].body["prompt"]


@pytest.mark.parametrize("mode", ["conversation", "node"])
async def test_a_history_is_written_as_text_in_front_of_the_prompt(mode, talks, llm):
    completing(talks, llm, {**NAMED, "mode": mode})
    llm.reply("a1")
    client = talks.client()
    await client.says("q1")
    assert prompt_of(llm) == "<S>Answer</S>q1"
    await client.says("q2")
    await client.says("q3")
    assert prompt_of(llm) == (
        "<S>Answer</S>Human: q1\nAssistant: a1\nHuman: q2\nAssistant: Understood.\nq3"  # and then the prompt
    )


async def test_a_mark_in_the_prompt_is_replaced_by_the_history(talks, llm):
    completing(talks, llm, NAMED, prompt="<histories>\n#histories#\n</histories>\n#sys.query#")
    client = talks.client()
    await client.says("q1 #histories#")
    assert prompt_of(llm) == "<S>Answer</S><histories>\n\n</histories>\nq1 #histories#"
    await client.says("q2")
    told = "Human: q1 #histories#\nAssistant: Understood."
    assert prompt_of(llm) == f"<S>Answer</S><histories>\n{told}\n</histories>\nq2"


async def test_the_mark_may_be_in_the_system_prompt(talks, llm):
    completing(talks, llm, NAMED, systemPrompt="Before: #histories#")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert prompt_of(llm) == "<S>Before: Human: q1\nAssistant: Understood.</S>q2"


async def test_a_node_without_a_prompt_writes_the_users_turn_by_the_template(talks, llm):
    completing(talks, llm, NAMED, prompt="")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert prompt_of(llm) == "<S>Answer</S>Human: q1\nAssistant: Understood.\n<U>q2</U>"


async def test_prefixes_may_name_variables(talks, llm):
    completing(talks, llm, {"role_prefix": {"user": "{who}", "assistant": ""}}, systemPrompt="")
    talks.serve(*talks.nodes, **talks.options, settings={"userWideWorkflowVariables": {"who": "Ann"}})
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert prompt_of(llm) == "<S></S>Ann: q1\n: Understood.\nq2"


async def test_a_text_is_cut_to_what_the_context_leaves(talks, llm):
    completing(talks, llm, NAMED, of_endpoint={"maxContextTokenSize": 100}, maxResponseSizeInTokens=50)
    client = talks.client()
    for at in range(4):
        llm.reply(f"a{at} " + "word " * 6)
        await client.says(f"q{at}")
    assert prompt_of(llm).startswith("<S>Answer</S>Human: q2\nAssistant: a2 word")
    assert prompt_of(llm).endswith("\nq3")


@pytest.mark.parametrize("session", ["tea", None])
async def test_without_prefixes_such_an_endpoint_is_not_asked(session, talks, llm):
    completing(talks, llm, WHOLE)
    with pytest.raises(SettingsError, match=r"Node 'Answer' of workflow Chat: memory\.role_prefix is missing"):
        await talks.client(session).says("q1")
    assert llm.requests == []


WRONG = [
    ({"windw": {}}, "windw"),
    ({"window": {"enabled": True, "sise": 3}}, "window.sise"),
    ({"window": {"size": "many"}}, "window.size"),
    ({"window": []}, "window"),
    ({"mode": "nodes"}, "mode"),
    ({"role_prefix": {"user": "Human"}}, "role_prefix.assistant"),
    ({"query_prompt_template": ["q"]}, "query_prompt_template"),
]


@pytest.mark.parametrize(("told", "place"), [*WRONG, ("node", ""), (True, "")])
async def test_a_memory_of_the_wrong_shape_ends_the_run_with_its_position(told, place, talks, llm):
    talks.serve(remembering(told))
    named = rf"Workflow Chat: node 1 \(Answer\): memory{'.' if place else ''}{place}: "
    with pytest.raises(SettingsError, match=named):
        await talks.client().says("q1")
    assert llm.requests == []


def problems(tmp_path, *nodes, **files):
    """The problems of Ann's workflow with these nodes, by position."""
    public = tmp_path / "Public"
    tree = {
        "Users/ann.json": user(),
        "Workflows/Ann/Chat.json": nodes,
        **text_endpoint("http://127.0.0.1:9"),
        **files,
    }
    write_tree(public, "http://127.0.0.1:8", tree)
    found = check(ConfigTree.open(public), ["Ann"], node_types())
    return {problem.path: problem for problem in found if problem.file == "Workflows/Ann/Chat.json"}


@pytest.mark.parametrize("memory", [WHOLE, OWN, {"window": {"enabled": "true", "size": 3}}, {"window": None}, None])
def test_the_check_finds_nothing_wrong_with_a_sound_memory(memory, tmp_path):
    assert problems(tmp_path, remembering(memory)) == {}


@pytest.mark.parametrize(("memory", "place"), WRONG)
def test_the_check_reports_a_memory_of_the_wrong_shape_with_position_and_remedy(memory, place, tmp_path):
    ((path, problem),) = problems(tmp_path, remembering(memory)).items()
    assert path == f"$[0].memory.{place}"
    assert problem.level == "error"
    assert problem.fix


def test_the_check_reports_unknown_members_by_name(tmp_path):
    (problem,) = problems(tmp_path, remembering({"windw": {}})).values()
    assert (problem.cause, problem.fix) == ("There is no member 'windw' here.", "Remove it, or correct its name.")


def test_the_check_reports_text_endpoints_and_backups_without_prefixes(tmp_path):
    backed = {"endpoint": "http://127.0.0.1:8", "apiTypeConfigFileName": "Open-AI-API", "backupEndpointName": "Text"}
    nodes = (asks("One", memory=OWN, endpointName="Text"), asks("Two", memory=OWN, endpointName="Backed"))
    sound = asks("Three", memory=NAMED, endpointName="Text")
    found = problems(tmp_path, *nodes, sound, **{"Endpoints/Backed.json": backed})
    assert {path: problem.level for path, problem in found.items()} == {
        "$[0].memory.role_prefix": "error",
        "$[1].memory.role_prefix": "error",
    }
    assert "Endpoint Text completes a text" in found["$[1].memory.role_prefix"].cause


def test_the_check_warns_of_members_without_effect(tmp_path):
    template = remembering({"query_prompt_template": "Q: #sys.query#"}, "One", prompt="Something else.")
    window = remembering({"window": {"enabled": True, "size": 0}}, "Two")
    variable = remembering({"query_prompt_template": "{nobody}"}, "Three")
    elsewhere = {"title": "Four", "type": "StaticResponse", "content": "x", "memory": OWN}
    found = problems(tmp_path, template, window, variable, elsewhere)
    assert {path: problem.level for path, problem in found.items()} == {
        "$[0].memory.query_prompt_template": "warning",
        "$[1].memory.window.size": "warning",
        "$[2].memory.query_prompt_template": "warning",
        "$[3].memory": "warning",
    }


def test_the_check_warns_of_nodes_that_share_one_memory(tmp_path):
    inner = {"Workflows/Ann/Inner.json": [asks("Inner", memory=OWN, id="7"), asks("Whole", memory=WHOLE, id=7)]}
    call = {"title": "Call", "type": "CustomWorkflow", "workflowName": "Inner", "id": 7}
    public = tmp_path / "Public"
    nodes = [call, asks("Outer", memory=OWN, id=7)]
    write_tree(public, "http://127.0.0.1:8", {"Users/ann.json": user(), "Workflows/Ann/Chat.json": nodes, **inner})
    (problem,) = check(ConfigTree.open(public), ["Ann"], node_types())
    assert (problem.level, problem.path) == ("warning", "$[0].id")
    assert "$[1] of Workflows/Ann/Chat.json" in problem.cause
