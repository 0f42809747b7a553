"""Trying a workflow that is typed: it answers as it would, and touches, stores and remembers nothing."""

import json

import pytest

from tests.scripted_llm import failure
from tests.server.served_tree import answering, asking, behind, calling, locking, served
from tests.server.server_kit import error_of

TRY = "/api/workflows/try"
CHAT = "Workflows/Ann/Chat.json"
OWN = {"origin": "http://localhost", "content_type": "application/json"}
OUTWARD = [
    {"title": "Run", "type": "PythonModule", "module_path": "modules/one.py"},
    {"title": "Note", "type": "SaveCustomFile", "filepath": "note.txt", "content": "canary"},
    {"title": "Read", "type": "GetCustomFile", "filepath": "secret.txt"},
    locking(),
    {"title": "Remember", "type": "Remember"},
]


@pytest.fixture
async def server(open_server, tmp_path, llm):
    """A server for Ann whose workflow asks the far model; workflows may be saved there."""
    return await open_server(served(tmp_path, llm.url) | {"workflows.edit": True})


def typed(nodes, message="Hello", **more):
    text = nodes if isinstance(nodes, str) else json.dumps(nodes)
    said = [{"role": "user", "content": message}]
    return {"path": CHAT, "text": text, "model": "Ann", "messages": said} | more


async def tried(server, nodes, **more):
    """The answer of a trial, and its last event."""
    answer = await server.ask("POST", TRY, typed(nodes, **more), **OWN)
    assert answer.status == 200, answer.body
    events = [json.loads(line[6:]) for line in answer.body.splitlines() if line.startswith(b"data: ")]
    return "".join(event.get("text", "") for event in events), events[-1]


async def test_what_is_typed_answers_and_the_file_stays(server, tmp_path, llm):
    llm.reply("Boil two litres.")
    before = next(tmp_path.rglob("Chat.json")).read_bytes()
    text, last = await tried(server, [asking(prompt="Think."), answering(systemPrompt="Rhyme."), behind()])
    assert llm.requests[1].body["messages"][0] == {"role": "system", "content": "Rhyme."}
    assert [node["title"] for node in last["run"]["workflows"][0]["nodes"]] == ["Ask Main", "Answer", "Behind"]
    assert (last["run"]["status"], "error" in last, text != "") == ("finished", False, True)
    assert next(tmp_path.rglob("Chat.json")).read_bytes() == before


async def test_nothing_of_a_trial_is_kept(server, tmp_path):
    canary = "canary-1414213562"
    await tried(server, [answering(prompt=canary)], message=f"[DiscussionId]tea[/DiscussionId] I am {canary}.")
    assert (await server.get("/api/runs"))["results"] == []
    assert (await server.get("/api/conversations?user_id=user"))["results"] == []
    assert (await server.get("/api/memories/user/"))["results"] == []
    await server.parts.aclose()
    assert [file for file in tmp_path.rglob("*") if file.is_file() and canary.encode() in file.read_bytes()] == []


async def test_nodes_that_reach_out_or_remember_are_left_out_and_say_so(server, tmp_path):
    (tmp_path / "Public" / "secret.txt").write_text("canary")
    before = set(tmp_path.joinpath("Public").rglob("*"))
    _, last = await tried(
        server, [*OUTWARD, {"title": "Say", "type": "StaticResponse", "content": "{agent3Output}."}]
    )
    *left, answer = last["run"]["workflows"][0]["nodes"]
    assert [node["notes"] for node in left] == [
        [f"Left out: a trial of what is typed runs no {node['type']}."] for node in OUTWARD
    ]
    assert answer["output"] == "."
    assert set(tmp_path.joinpath("Public").rglob("*")) == before


async def test_they_are_left_out_of_the_workflows_that_it_runs_too(open_server, tmp_path, llm):
    tree = served(tmp_path, llm.url, files={"Workflows/Ann/Sub.json": [OUTWARD[1], answering()]})
    server = await open_server(tree | {"workflows.edit": True})
    _, last = await tried(server, [calling("Sub"), answering()])
    [inner] = last["run"]["workflows"][0]["nodes"][0]["children"]
    assert inner["nodes"][0]["notes"][0].startswith("Left out")
    assert not (tmp_path / "Public" / "note.txt").exists()


async def test_a_file_that_is_not_there_yet_is_tried(server):
    text, _ = await tried(server, [{"type": "StaticResponse", "content": "New."}], path="Workflows/Ann/New.json")
    assert text == "New."


async def test_a_trial_that_fails_says_why(server, llm):
    llm.queue(failure(400, "the cable is cut"))
    _, last = await tried(server, [answering()])
    assert "the cable is cut" in last["error"]["message"]
    assert last["run"]["status"] == "failed"
    _, last = await tried(server, [{"type": "Standrad"}])
    assert "unknown type 'Standrad'" in last["error"]["message"]


@pytest.mark.parametrize("text", ["{", "7", '["no node"]'])
async def test_what_is_no_workflow_is_refused(server, text):
    assert error_of(await server.ask("POST", TRY, typed(text), **OWN)) == (400, "broken_workflow")


async def test_only_workflows_are_tried(server):
    for path in ("Users/ann.json", "Endpoints/Main.json"):
        answer = await server.ask("POST", TRY, typed([answering()], path=path), **OWN)
        assert error_of(answer) == (403, "not_editable")


async def test_trials_of_typed_text_stand_under_the_switch_and_its_guard(open_server, server, tmp_path):
    assert error_of(await server.ask("POST", TRY, typed([]))) == (403, "own_page_needed")
    await server.parts.aclose()
    off = await open_server(served(tmp_path, "http://127.0.0.1:9"))
    assert error_of(await off.ask("POST", TRY, typed([]), **OWN)) == (403, "editing_off")


async def test_a_client_that_leaves_ends_the_trial(listen, tmp_path, llm, http):
    server = await listen(served(tmp_path, llm.url) | {"workflows.edit": True})
    llm.reply("Boil two litres.", stall_after=1)
    headers = {"Origin": server.url}
    async with http.post(f"{server.url}{TRY}", json=typed([answering()]), headers=headers) as answer:
        assert (await answer.content.readline()).startswith(b"data: ")
    await llm.disconnected.wait()
