"""Whose words they are: side tasks, temporary chats, and what the answer and the trace say of memory."""

import pytest

from tests.chats.chat_kit import told
from tests.scripted_llm import closed_port_url
from tests.server.served_tree import answering, calling, served
from tests.server.server_kit import asks, error_of, hello
from tests.wire.framed_prompts import QUESTION, rag
from tests.wire.task_prompts import SIDE_TASKS, TITLE

CHAT = "/v1/chat/completions"
RECALL = {"title": "Recall", "type": "Recall"}
TEMPORARY = {"X-OpenWebUI-Chat-Id": "temporary:s-1"}


@pytest.fixture
async def server(open_server, llm):
    return await open_server(asks(llm, **{"embedding.provider": "openai"}))


async def skipped(server, *, stream=False, text=QUESTION, headers=None, **body):
    """What the header says of memory, None for nothing; the trace of the run says the same."""
    sent = hello(stream=stream, **body) | {"messages": told(text)}
    answer = await server.ask("POST", CHAT, sent, **(headers or {}))
    assert answer.status == 200, answer.body
    run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    said = answer.headers.get("x-memory-skipped")
    assert run["memory_skipped"] == said
    return said


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_answer_says_why_memory_took_no_part(server, stream):
    on = {"memoryEnabled": True, "stream": stream}
    assert await skipped(server, stream=stream) == "off"
    assert await skipped(server, **on) is None
    assert await skipped(server, text=TITLE, **on) == "task"
    assert await skipped(server, headers={"X-Mnemoir-Task": "title_generation"}, **on) == "task"
    assert await skipped(server, headers=TEMPORARY, **on) == "temporary"
    assert await skipped(server, store=False, **on) == "temporary"
    assert await skipped(server, text=TITLE, headers=TEMPORARY, **on) == "task"


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_chat_whose_memory_cannot_be_asked_says_so(open_server, llm, stream):
    server = await open_server(asks(llm, **{"memory.management_url": f"{closed_port_url()}/api/memories"}))
    for on in (True, False):
        answer = await server.ask("POST", CHAT, hello(stream=stream, memoryEnabled=on))
        assert answer.status == 200, answer.body
        assert answer.headers.get("x-mnemoir-degraded") == ("memory" if on else None)
        run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
        errors = [node["error"] for workflow in run["workflows"] for node in workflow["nodes"] if node["error"]]
        assert bool(errors) == on


async def test_a_project_without_memory_says_so(server):
    await server.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})
    assert await skipped(server, memoryEnabled=True) == "off"
    assert await skipped(server, memoryEnabled=True, store=False) == "temporary"


@pytest.mark.parametrize(
    ("nodes", "files", "said"),
    [
        ([answering()], {}, "workflow"),
        ([RECALL, answering()], {}, None),
        ([answering(), {"title": "Keep", "type": "remember"}], {}, None),
        ([calling("Inner")], {"Workflows/Ann/Inner.json": [RECALL, answering()]}, None),
        ([calling("Inner")], {"Workflows/Ann/Inner.json": [answering()]}, "workflow"),
        (
            [answering(), calling("Inner")],
            {"Workflows/Ann/Inner.json": [calling("Deep")], "Workflows/Ann/Deep.json": [calling("Inner"), RECALL]},
            None,
        ),
        ([answering(), calling("Inner")], {"Workflows/Ann/Inner.json": [calling("Inner")]}, "workflow"),
        ([answering(), calling("{agent1Output}")], {}, None),
        (
            [
                answering(),
                {
                    "title": "Choose",
                    "type": "ConditionalCustomWorkflow",
                    "conditionalWorkflows": {"a": "Plain", "b": "Inner"},
                },
            ],
            {"Workflows/Ann/Plain.json": [answering()], "Workflows/Ann/Inner.json": [RECALL, answering()]},
            None,
        ),
    ],
    ids=["none", "recall", "remember", "inner", "inner without", "deep", "circle", "open name", "a choice"],
)
async def test_a_workflow_that_cannot_remember_says_so(open_server, tmp_path, llm, nodes, files, said):
    server = await open_server(served(tmp_path, llm.url, *nodes, files=files))
    answer = await server.ask("POST", CHAT, hello(stream=True, memoryEnabled=True))
    assert answer.headers.get("x-memory-skipped") == said
    listed = (await server.get("/api/workflows"))["files"]
    assert {one["path"]: one["can_remember"] for one in listed}["Workflows/Ann/Chat.json"] is (said is None)
    assert {one["can_remember"] for one in listed if one["kind"] != "workflows"} == {None}


async def test_the_built_in_workflow_can_remember(server):
    (only,) = (await server.get("/api/workflows"))["files"]
    assert only["can_remember"] is True


@pytest.mark.parametrize("value", ["none", "{{TASK}}", ""])
async def test_a_task_header_without_a_task_leaves_a_persons_turn(server, value):
    assert await skipped(server, headers={"X-Mnemoir-Task": value}, memoryEnabled=True) is None
    assert await skipped(server, text=TITLE, headers={"X-Mnemoir-Task": value}, memoryEnabled=True) == "task"


@pytest.mark.parametrize("route", [CHAT, "/v1/completions", "/api/chat", "/api/generate"])
async def test_a_task_header_that_is_no_name_is_refused(server, route):
    body = hello() if "chat" in route else {"model": "any", "prompt": "Hello", "stream": False}
    answer = await server.ask("POST", route, body, **{"X-Mnemoir-Task": "Title!"})
    assert error_of(answer)[0] == 400
    assert b"X-Mnemoir-Task" in answer.body


@pytest.mark.parametrize("headers", [{}, {"X-Mnemoir-Task": "anything_at_all"}], ids=["recognised", "named"])
async def test_a_side_task_is_not_recalled_for_not_learned_from_and_not_kept(server, llm, headers):
    await server.post("/api/memories", {"messages": told(QUESTION), "user_id": "user", "infer": False})
    for _, messages, _ in SIDE_TASKS:
        sent = [{"role": message.role, "content": message.text} for message in messages]
        body = {"model": "any", "messages": sent, "memoryEnabled": True, "session_id": "tea"}
        answer = await server.ask("POST", CHAT, body, **headers)
        assert (answer.headers["x-memory-skipped"], answer.headers["x-memory-injected"]) == ("task", "0")
        assert llm.requests[-1].body["messages"] == sent
    assert (await server.get("/api/conversations"))["results"] == []
    assert len((await server.get("/api/memories/user"))["results"]) == 1


async def test_a_persons_prompt_that_begins_as_a_task_is_remembered(server):
    text = "### Task:\nPlan a dinner. I am allergic to nuts."
    body = hello(memoryEnabled=True, session_id="tea") | {"messages": told(text)}
    answer = await server.ask("POST", CHAT, body)
    assert "x-memory-skipped" not in answer.headers
    (question, _) = (await server.get("/api/conversations/tea/messages"))["results"]
    assert question["content"] == text
    run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert [wrote["kind"] for node in run["workflows"][0]["nodes"] for wrote in node["written"]] == ["turn"]


async def test_browsers_may_read_why_memory_took_no_part(open_server):
    server = await open_server(cors_origins=["http://localhost:3000"])
    answer = await server.ask("POST", CHAT, hello(), origin="http://localhost:3000")
    assert "X-Memory-Skipped" in answer.headers["access-control-expose-headers"]


async def test_memories_are_looked_for_by_the_question_and_stand_in_front_of_its_documents(server, llm):
    said = {"messages": told("Berta keeps bees."), "user_id": "user", "infer": False}
    await server.post("/api/memories", said)
    framed = rag("Mallory wrote this.", QUESTION)
    answer = await server.ask("POST", CHAT, hello(memoryEnabled=True) | {"messages": told(framed)})
    assert answer.headers["x-memory-injected"] == "1"
    (shown,) = next(asked.body["messages"] for asked in llm.requests if "messages" in asked.body)
    assert "Berta keeps bees." in shown["content"]
    assert shown["content"].endswith(framed)
