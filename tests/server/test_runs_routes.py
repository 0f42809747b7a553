"""`/api/runs`: pages of runs, one run node by node, and a feed that ends with its reader."""

import asyncio

import orjson
import pytest
from pydantic import TypeAdapter

from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.ports.run_store import NodeMoved
from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined

RUNS = "/api/runs"
MIRA = Scope(project="default", user="mira")


def happen(server, *ids, **members):
    """Runs that begin and end."""
    for run_id in ids:
        run = RunTrace(id=run_id, scope=MIRA, **members)
        server.parts.trees.runs.note_begin(run)
        run.status = "finished"
        server.parts.trees.runs.note_end(run)


async def test_runs_are_listed_newest_first_page_by_page(server):
    happen(server, "r1", "r2", "r3")
    first = await server.get(f"{RUNS}?limit=2")
    assert ([run["id"] for run in first["results"]], first["next"]) == (["r3", "r2"], "r2")
    second = await server.get(f"{RUNS}?limit=2&before=r2")
    assert ([run["id"] for run in second["results"]], second["next"]) == (["r1"], None)


async def test_a_run_in_a_list_shows_what_it_was(server):
    told = {"model": "mnemoir", "question": "Is it late?", "category": "CHAT", "duration_ms": 1.5}
    happen(server, "r1", workflows=[WorkflowTrace(name="chat")], **told)
    (run,) = (await server.get(RUNS))["results"]
    assert run.pop("started_at").endswith("Z")
    assert run == {
        "id": "r1",
        "status": "finished",
        "question": "Is it late?",
        "user": "",
        "project": "default",
        "user_id": "mira",
        "conversation": None,
        "model": "mnemoir",
        "stream": False,
        "workflow": "chat",
        "category": "CHAT",
        "first_token_ms": None,
        "duration_ms": 1.5,
        "nodes": 0,
        "memories": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "tokens_counted": False,
        "error": None,
    }


async def test_lists_are_narrowed_by_status(server):
    happen(server, "r1")
    server.parts.trees.runs.note_begin(RunTrace(id="r2", scope=MIRA))
    assert [run["id"] for run in (await server.get(f"{RUNS}?status=running"))["results"]] == ["r2"]
    assert (await server.get(f"{RUNS}?status=failed"))["results"] == []


async def test_lists_are_searched_by_words_of_the_question(server):
    happen(server, "r1", question="Is it late?")
    happen(server, "r2", question="Is it far?")
    for q, found in (("LATE+it", ["r1"]), ("it", ["r2", "r1"]), ("late+far", []), ("+", ["r2", "r1"])):
        assert [run["id"] for run in (await server.get(f"{RUNS}?q={q}"))["results"]] == found
    assert (await server.get(f"{RUNS}?q=late&status=failed"))["results"] == []


async def test_a_question_is_one_line_of_what_the_user_typed_last(server):
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    said.append({"role": "user", "content": f"Is it\n\tlate? {'very ' * 100}"})
    await server.post("/v1/chat/completions", {"messages": said})
    (run,) = (await server.get(RUNS))["results"]
    assert run["question"].startswith("Is it late? very very")
    assert (run["question"][-5:], len(run["question"]) <= 120) == ("very…", True)
    assert (await server.get(f"{RUNS}/{run['id']}"))["question"] == run["question"]


async def test_the_question_of_a_temporary_chat_is_not_kept(server):
    said = [{"role": "user", "content": "Is it late?"}]
    await server.post("/v1/chat/completions", {"messages": said, "store": False})
    (run,) = (await server.get(RUNS))["results"]
    assert run["question"] == ""
    assert (await server.get(f"{RUNS}?q=late"))["results"] == []


async def test_too_long_a_search_says_what_it_may_be(server):
    refused = await server.ask("GET", f"{RUNS}?q={'x' * 1001}")
    assert error_of(refused) == (422, "validation_error")
    (told,) = orjson.loads(refused.body)["detail"]
    assert (told["loc"], told["msg"]) == (["query", "q"], "String should have at most 1000 characters")


@pytest.mark.parametrize("query", ["limit=-1", "limit=1e9", "limit=x", "status=lost", "status="])
async def test_what_is_no_limit_and_no_status_is_refused(server, query):
    assert error_of(await server.ask("GET", f"{RUNS}?{query}")) == (422, "validation_error")


async def test_no_limit_gives_more_than_two_hundred(server):
    happen(server, *(f"r{n}" for n in range(250)))
    for limit in ("0", "1000000000000"):
        assert len((await server.get(f"{RUNS}?limit={limit}"))["results"]) == 200


async def test_one_run_is_shown_node_by_node(server):
    inner = WorkflowTrace(name="inner", nodes=[NodeTrace(number=1, title="Sum", type="Standard", started_ms=2.0)])
    node = NodeTrace(number=1, title="Ask", type="CustomWorkflow", started_ms=1.0, prompt="Hi", children=[inner])
    happen(server, "r1", workflows=[WorkflowTrace(name="outer", nodes=[node])])
    shown = await server.get(f"{RUNS}/r1")
    assert (shown["id"], shown["scope"]["user"]) == ("r1", "mira")
    (outer,) = shown["workflows"]
    assert outer["nodes"][0]["prompt"] == "Hi"
    assert outer["nodes"][0]["children"][0]["nodes"][0]["title"] == "Sum"


async def test_a_run_of_many_workflows_in_each_other_is_shown(server):
    trace = WorkflowTrace(name="deepest")
    for _ in range(100):
        node = NodeTrace(number=1, title="Ask", type="CustomWorkflow", started_ms=1.0, children=[trace])
        trace = WorkflowTrace(name="outer", nodes=[node])
    happen(server, "r1", workflows=[trace])
    answer = await server.ask("GET", f"{RUNS}/r1")
    assert (answer.status, answer.body.count(b'"deepest"')) == (200, 1)


@pytest.mark.parametrize("run_id", ["none", "..%2F..", "%00", "%F0%9F%8D%B5", "x" * 5000])
async def test_an_unknown_run_is_not_found(server, run_id):
    assert error_of(await server.ask("GET", f"{RUNS}/{run_id}")) == (404, "run_not_found")
    assert (await server.get(f"{RUNS}?before={run_id}"))["results"] == []


@pytest.mark.parametrize("path", [RUNS, f"{RUNS}/r1", f"{RUNS}/live"])
async def test_no_run_is_shown_without_a_key(open_server, path):
    server = await open_server(api_keys=["a-key-of-enough-characters"])
    happen(server, "r1")
    assert error_of(await server.ask("GET", path)) == (401, "unauthorized")
    assert error_of(await server.ask("GET", path, authorization="Bearer wrong")) == (401, "unauthorized")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_runs_are_only_looked_at(server, method):
    for path in (RUNS, f"{RUNS}/r1"):
        assert error_of(await server.ask(method, path)) == (405, "method_not_allowed")


async def test_the_feed_tells_of_beginnings_and_ends_as_they_happen(listen, http):
    server = await listen()
    async with asyncio.timeout(60), http.get(f"{server.url}{RUNS}/live") as feed:
        assert feed.headers["content-type"].startswith("text/event-stream")
        assert await feed.content.readuntil(b"\n\n") == b":\n\n"
        happen(server, "r1")
        told = [orjson.loads((await feed.content.readuntil(b"\n\n")).removeprefix(b"data: ")) for _ in range(2)]
        assert [(run["id"], run["status"]) for run in told] == [("r1", "running"), ("r1", "finished")]


async def test_the_feed_tells_of_nodes_to_who_asks_for_them(listen, http):
    server = await listen()
    told: list[dict] = []
    async with asyncio.timeout(60), http.get(f"{server.url}{RUNS}/live?nodes=true") as feed:
        await feed.content.readuntil(b"\n\n")
        await server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
        while not told or told[-1].get("status") != "finished":
            name, _, data = (await feed.content.readuntil(b"\n\n")).rpartition(b"data: ")
            told.append(orjson.loads(data))
            assert name == (b"event: node\n" if "run_id" in told[-1] else b"")
    nodes = [TypeAdapter(NodeMoved).validate_python(event) for event in told if "run_id" in event]
    assert {node.run_id for node in nodes} == {told[0]["id"]}
    assert [(node.title, node.state) for node in nodes] == [
        ("Answer", "running"),
        ("Answer", "running"),
        ("Answer", "finished"),
    ]


@pytest.mark.parametrize("how", ["key", "sign-in", "no key"])
async def test_the_feed_tells_nothing_more_when_what_let_its_reader_in_has_ended(listen, http, how):
    server = await listen()
    keys, users = server.parts.access.api_keys, server.parts.access.users
    if how == "key":
        made, text = keys.create(role="read", user="mira", by="test")
        sent, end = {"X-API-Key": text}, lambda: keys.revoke(made.id)
    elif how == "sign-in":
        page = await joined(server, "mira", memory_user="mira")
        [mira] = users.users_page("default", limit=1)
        sent, end = (
            {"Cookie": page.cookie, "X-Mnemoir-CSRF": page.csrf},
            lambda: users.change(mira, is_disabled=True),
        )
    else:
        sent, end = {}, lambda: keys.create(role="read", by="test")
    async with asyncio.timeout(60), http.get(f"{server.url}{RUNS}/live", headers=sent) as feed:
        await feed.content.readuntil(b"\n\n")
        happen(server, "r1")
        told = [orjson.loads((await feed.content.readuntil(b"\n\n")).removeprefix(b"data: ")) for _ in range(2)]
        end()
        happen(server, "r2")
        assert [run["id"] for run in told] == ["r1", "r1"]
        assert await feed.content.read() == b""


async def test_a_silent_feed_gives_signs_of_life(listen, http):
    server = await listen(heartbeat_s=0.01)
    async with asyncio.timeout(60), http.get(f"{server.url}{RUNS}/live") as feed:
        for _ in range(3):
            assert await feed.content.readuntil(b"\n\n") == b":\n\n"


async def test_a_reader_who_leaves_gives_the_place_back(listen, http):
    server = await listen()
    async with asyncio.timeout(60):
        for _ in range(100):
            feed = await http.get(f"{server.url}{RUNS}/live")
            while feed.status == 503:  # places of those who left are given back one by one
                feed.release()
                feed = await http.get(f"{server.url}{RUNS}/live")
            assert await feed.content.readuntil(b"\n\n") == b":\n\n"
            feed.close()


async def test_there_are_only_so_many_readers_of_the_feed(listen, http):
    server = await listen()
    feeds = []
    async with asyncio.timeout(60):
        for _ in range(64):
            feed = await http.get(f"{server.url}{RUNS}/live")
            feeds.append(feed)
            await feed.content.readuntil(b"\n\n")
        happen(server, "r1")
        refused = await server.ask("GET", f"{RUNS}/live")
    assert error_of(refused) == (503, "overloaded")
    assert refused.headers["retry-after"] == "1"
    for feed in feeds:
        feed.close()
