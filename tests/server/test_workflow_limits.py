"""Workflows without end or measure: stopped at a limit that the answer names, and the server goes on."""

import orjson
import pytest

from tests.server.served_tree import answering, calling, locking, served
from tests.server.server_kit import Server, error_of, hello

CHAT = "/v1/chat/completions"
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def saying(text: str, **more: object) -> dict:
    """A node that asks nobody."""
    return {"title": "Say", "type": "StaticResponse", "content": text, **more}


async def still_serves(server, llm, tree) -> None:
    """With its workflow mended, the same server answers."""
    served(tree, llm.url)
    answer = await server.post(CHAT, hello())
    assert answer["choices"][0]["message"]["content"] == "Understood."


async def refusal(server: Server, stream: bool) -> str:
    """What the client is told when its workflow was stopped."""
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (500, "workflow_stopped")
    found: str = orjson.loads(answer.body)["detail"]
    return found


@pytest.mark.parametrize(("stream", "depth"), [(True, 50), (False, 100)])
@pytest.mark.parametrize("answers", [True, False], ids=["answering", "silent"])
async def test_a_workflow_that_calls_itself_is_stopped_at_its_depth(
    open_server, llm, tmp_path, stream, depth, answers
):
    nodes = [calling("Chat", returnToUser=answers), *([] if answers else [saying("Done.", returnToUser=True)])]
    server = await open_server(served(tmp_path, llm.url, *nodes) | {"workflows.most_depth": depth})
    told = await refusal(server, stream)
    assert f"Workflow Chat would run {depth + 1} deep" in told
    assert "workflows.most_depth" in told
    (run,) = (await server.get("/api/runs"))["results"]
    trace = await server.get(f"/api/runs/{run['id']}")
    assert (trace["status"], trace["error"]) == ("failed", told)
    await still_serves(server, llm, tmp_path)


@WAYS
async def test_a_run_that_was_stopped_leaves_none_of_its_locks(open_server, llm, tmp_path, stream):
    nodes = (locking("{agent1Input}"), calling("Chat", scoped_variables=["{agent1Input}x"], returnToUser=True))
    server = await open_server(served(tmp_path, llm.url, *nodes) | {"workflows.most_depth": 5})
    told = await refusal(server, stream)
    assert "would run 6 deep" in told
    assert await refusal(server, stream) == told  # a lock in the way would have ended it as if all were well


async def test_the_deepest_setting_is_not_too_deep_for_conditions_in_between(open_server, llm, tmp_path):
    node = {"title": "Choose", "type": "ConditionalCustomWorkflow", "conditionalKey": "x"}
    nodes = ({**node, "conditionalWorkflows": {"x": "Chat", "Default": "Chat"}}, saying("Done.", returnToUser=True))
    server = await open_server(served(tmp_path, llm.url, *nodes) | {"workflows.most_depth": 100})
    assert "would run 101 deep" in await refusal(server, stream=False)


async def test_two_workflows_that_call_each_other_are_stopped(open_server, llm, tmp_path):
    files = {"Workflows/Ann/Other.json": [calling("Chat"), saying("No.", returnToUser=True)]}
    server = await open_server(served(tmp_path, llm.url, calling("Other"), answering(), files=files))
    assert "would run 51 deep" in await refusal(server, stream=False)
    assert llm.requests == []


@pytest.mark.slow
@WAYS
async def test_ten_thousand_nodes_are_stopped_and_the_one_that_was_next_is_named(open_server, llm, tmp_path, stream):
    nodes = [saying(str(number), title=f"Node {number}") for number in range(10_000)]
    server = await open_server(served(tmp_path, llm.url, *nodes))
    told = await refusal(server, stream)
    assert "The request ran 1000 nodes and would go on with 'Node 1000' of workflow Chat" in told
    assert "workflows.most_nodes" in told
    await still_serves(server, llm, tmp_path)


@WAYS
async def test_a_hundred_workflows_of_a_hundred_nodes_are_stopped(open_server, llm, tmp_path, stream):
    files = {"Workflows/Ann/Inner.json": [saying("One.")] * 100}
    nodes = [calling("Inner")] * 100
    server = await open_server(served(tmp_path, llm.url, *nodes, files=files))
    assert "The request ran 1000 nodes" in await refusal(server, stream)
    await still_serves(server, llm, tmp_path)


async def test_nodes_behind_an_answer_count_too(open_server, llm, tmp_path):
    nodes = [answering(), *[saying("One.")] * 2000]
    server = await open_server(served(tmp_path, llm.url, *nodes))
    assert (await server.ask("POST", CHAT, hello())).status == 200
    await server.parts.trees.workflows.aclose()
    (run,) = (await server.get("/api/runs"))["results"]
    assert (run["status"], "The request ran 1000 nodes" in run["error"]) == ("failed", True)


@WAYS
@pytest.mark.parametrize(
    ("node", "told"),
    [
        (calling("Nowhere", returnToUser=True), b"Nowhere"),
        (answering("Nowhere"), b"Nowhere"),
        ({"title": "Odd", "type": "Nothing"}, b"unknown type 'Nothing'"),
        (answering(timeoutSeconds="soon"), b"timeoutSeconds"),
    ],
    ids=["workflow", "endpoint", "type", "property"],
)
async def test_what_is_missing_or_wrong_is_named(open_server, llm, tmp_path, stream, node, told):
    server = await open_server(served(tmp_path, llm.url, node))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (500, "invalid_settings")
    assert told in answer.body
    assert b"Traceback" not in answer.body
    await still_serves(server, llm, tmp_path)
