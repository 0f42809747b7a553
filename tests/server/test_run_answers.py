"""What `/api/runs` answers beside the list: filters, a run in a line, its memories, and its requests as commands."""

import asyncio
import shlex

import orjson
import pytest
from pydantic import TypeAdapter

from mnemoir.core.messages import Sampling
from mnemoir.core.runs import (
    FilledVariable,
    ModelCall,
    NodeTrace,
    RecalledMemory,
    RunTrace,
    WorkflowTrace,
    WrittenMemory,
)
from mnemoir.core.scope import Scope
from mnemoir.ports.run_store import RunSummary
from tests.server.server_kit import error_of

RUNS = "/api/runs"
CALL = ModelCall(
    url="http://far:9/v1/chat/completions",
    protocol="openai-chat",
    model="far-model",
    needs_key=True,
    stream=True,
    options={"temperature": 0.2, "stream": True},
)


def a_node(title="Answer", **members):
    return NodeTrace(number=1, title=title, type="Standard", started_ms=1.0, **members)


def happen(server, run_id, *nodes, owner="mira", conversation=None, workflow="Chat", status="finished", **members):
    """A run that begins and ends."""
    run = RunTrace(id=run_id, scope=Scope(project="default", user=owner, conversation=conversation), **members)
    run.workflows = [WorkflowTrace(name=workflow, nodes=list(nodes))]
    server.parts.trees.runs.note_begin(run)
    run.status = status
    server.parts.trees.runs.note_end(run)
    return run


def whole_run(server):
    """A run with something in every member."""
    inner = WorkflowTrace(name="Inner", folder="_common", nodes=[a_node("Sum up", input_tokens=3)])
    tea = RecalledMemory(text="Likes tea", id="mem_1")
    recall = a_node("Recall", memories=[tea, RecalledMemory(text="Said: hi")])
    left_out = {"role": "note", "content": "2 earlier messages are not shown."}
    answer = a_node(
        prompt=[left_out, {"role": "user", "content": "It's $5"}],
        variables=[FilledVariable(name="agent1Output", message=1, start=0, end=4)],
        call=CALL,
        children=[inner],
        memories=[tea],
        written=[WrittenMemory(kind="chunk_summary", count=2)],
        input_tokens=10,
        output_tokens=5,
        tokens_counted=True,
    )
    asked = [{"role": "user", "content": "It's $5", "images": 1}]
    return happen(server, "r1", recall, answer, conversation="tea", first_token_ms=2.5, asked=asked, model="Mira")


async def ids(server, query=""):
    return [run["id"] for run in (await server.get(f"{RUNS}?{query}"))["results"]]


async def test_answers_are_as_they_are_described(server):
    whole_run(server)
    await server.get(f"{RUNS}/r1")
    await server.get(RUNS)
    await server.get(f"{RUNS}/r1/summary")
    await server.get(f"{RUNS}/r1/memories")
    await server.get(f"{RUNS}/r1/curl")


async def test_an_event_of_the_feed_is_as_it_is_described(listen, http):
    server = await listen()
    async with asyncio.timeout(60), http.get(f"{server.url}{RUNS}/live") as feed:
        assert await feed.content.readuntil(b"\n\n") == b":\n\n"
        happen(server, "r1", a_node())
        told = orjson.loads((await feed.content.readuntil(b"\n\n")).removeprefix(b"data: "))
        assert TypeAdapter(RunSummary).validate_python(told).id == "r1"


async def test_a_list_shows_figures_of_all_nodes(server):
    whole_run(server)
    (run,) = (await server.get(RUNS))["results"]
    figures = {name: run[name] for name in ("nodes", "memories", "input_tokens", "output_tokens", "tokens_counted")}
    assert figures == {"nodes": 3, "memories": 3, "input_tokens": 13, "output_tokens": 5, "tokens_counted": True}
    assert (run["conversation"], run["user_id"], run["first_token_ms"]) == ("tea", "mira", 2.5)


async def test_a_run_in_a_line_names_each_memory_once(server):
    whole_run(server)
    short = await server.get(f"{RUNS}/r1/summary")
    assert short["memories"] == [
        {"text": "Likes tea", "id": "mem_1", "fits": True},
        {"text": "Said: hi", "id": "", "fits": True},
    ]
    assert (short["nodes"], short["workflow"], short["status"]) == (3, "Chat", "finished")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("workflow=cHAT", ["r2", "r1"]),
        ("workflow=Cha", []),
        ("conversation=tea", ["r1"]),
        ("conversation=", ["r3", "r2", "r1"]),
        ("user=ben", ["r2"]),
        ("user=Ann", ["r3"]),
        ("error=MODEL is", ["r2"]),
        ("error=%25", []),
        ("since=2026-03-02T00:00:00%2B01:00", ["r3", "r2"]),
        ("since=2026-03-01&conversation=tea&status=finished", ["r1"]),
        ("status=failed&workflow=chat", ["r2"]),
    ],
)
async def test_lists_are_narrowed(server, query, found):
    happen(server, "r1", conversation="tea", started_at="2026-03-01T08:00:00.000Z")
    down = {"status": "failed", "error": "The model is down."}
    happen(server, "r2", owner="ben", started_at="2026-03-02T08:00:00.000Z", **down)
    happen(server, "r3", user="Ann", workflow="Other", started_at="2026-03-03T08:00:00.000Z")
    assert await ids(server, query) == found


async def test_what_is_no_time_is_refused(server):
    assert error_of(await server.ask("GET", f"{RUNS}?since=soon")) == (422, "validation_error")


async def test_a_node_is_asked_again_by_a_command_without_its_key(server):
    whole_run(server)
    told = await server.get(f"{RUNS}/r1/curl?node=1")
    words = shlex.split(told["curl"])
    assert words[:2] == ["curl", CALL.url]
    assert "Authorization: Bearer $API_KEY" in words
    body = {"model": "far-model", "messages": [{"role": "user", "content": "It's $5"}], "temperature": 0.2}
    assert orjson.loads(words[words.index("--data-raw") + 1]) == {**body, "stream": True} == told["body"]
    assert told["left_out"] == ["2 earlier messages are not shown."]


async def test_a_client_s_request_is_sent_again_to_this_server(server):
    whole_run(server)
    told = await server.get(f"{RUNS}/r1/curl")
    assert told["url"].endswith("/v1/chat/completions")
    assert told["body"] == {"model": "Mira", "messages": [{"role": "user", "content": "It's $5"}], "user": "mira"}
    assert "Authorization" not in told["curl"]
    assert told["left_out"][0] == "Pictures are left out."


async def test_a_text_prompt_is_sent_as_it_was(server):
    call = ModelCall(url="http://far:9/api/v1/generate", protocol="koboldcpp", options={"max_length": 9})
    happen(server, "r1", a_node(prompt="Once upon", call=call))
    assert (await server.get(f"{RUNS}/r1/curl?node=0"))["body"] == {"prompt": "Once upon", "max_length": 9}


async def test_the_server_s_own_model_is_asked_with_the_client_s_sampling(server):
    call = ModelCall(url="http://far:9/v1/x", protocol="openai-chat", model="m", sampling=Sampling(temperature=0.5))
    happen(server, "r1", a_node(prompt=[{"role": "user", "content": "Hi"}], call=call))
    body = (await server.get(f"{RUNS}/r1/curl?node=0"))["body"]
    assert body == {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5}


@pytest.mark.parametrize(("node", "code"), [(0, "no_request"), (7, "node_not_found"), (-1, "node_not_found")])
async def test_a_node_that_asked_nobody_has_no_command(server, node, code):
    whole_run(server)
    assert error_of(await server.ask("GET", f"{RUNS}/r1/curl?node={node}")) == (404, code)


async def test_what_was_written_at_once_is_done_and_a_job_nobody_knows_is_gone(server):
    whole_run(server)
    happen(server, "r2", a_node(written=[WrittenMemory(kind="turn", id="job_gone")]))
    (summaries,) = (await server.get(f"{RUNS}/r1/memories"))["written"]
    assert (summaries["node"], summaries["title"], summaries["count"], summaries["state"]) == (1, "Answer", 2, "done")
    assert [one["state"] for one in (await server.get(f"{RUNS}/r2/memories"))["written"]] == ["gone"]


@pytest.mark.parametrize("route", ["summary", "memories", "curl"])
async def test_nothing_is_told_of_an_unknown_run(server, route):
    assert error_of(await server.ask("GET", f"{RUNS}/none/{route}")) == (404, "run_not_found")


@pytest.mark.parametrize("route", ["summary", "memories", "curl"])
async def test_nothing_is_told_without_a_key(open_server, route):
    server = await open_server(api_keys=["a-key-of-enough-characters"])
    whole_run(server)
    assert error_of(await server.ask("GET", f"{RUNS}/r1/{route}")) == (401, "unauthorized")
