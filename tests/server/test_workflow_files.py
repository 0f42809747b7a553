"""`/api/workflows`: a served config tree to look at, without its secrets, and nothing outside of it."""

import os
from dataclasses import asdict
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from pydantic import TypeAdapter

from mnemoir.trees.workflow_files import ConfigOverview, ConfigProblems
from mnemoir.workflows.checking import check
from mnemoir.workflows.config.shown import ConfigText
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.graph import WorkflowGraph
from mnemoir.workflows.node import node_types
from mnemoir.workflows.schemas import schemas
from mnemoir.workflows.starter import StarterServer, starter_files
from tests.server.served_tree import KEY, answering, asking, behind, calling, served
from tests.server.server_kit import error_of

AT = "/api/workflows"
CHAT = f"{AT}/graph?path=Workflows/Ann/Chat.json"


@pytest.fixture
async def open_tree(open_server, tmp_path):
    """Open a server for Ann, whose workflow is the nodes given."""

    async def start(*nodes, **more):
        return await open_server(served(tmp_path, "http://127.0.0.1:9", *nodes, **more))

    return start


@pytest.fixture
async def starter(open_server, tmp_path):
    """A server of the tree that `mnemoir init` writes."""
    for path, content in starter_files(StarterServer()).items():
        file = tmp_path / "starter" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    users = ["single-model", "prompt-routing", "sub-workflows"]
    return await open_server({"workflows.config_dir": str(tmp_path / "starter"), "workflows.users": users})


def files_url(path):
    """Where the text of a file is."""
    return f"{AT}/files/{quote(path)}"


def put(tmp_path, path, text):
    """A file of the tree, as it is written."""
    (next(tmp_path.rglob("Users")).parent / path).write_text(text)


async def paths_of(server):
    """All files that are listed."""
    return [file["path"] for file in (await server.get(AT))["files"]]


async def test_the_tree_is_listed_with_what_each_file_is(open_tree):
    server = await open_tree()
    found = await server.get(AT)
    kinds = {file["path"]: file["kind"] for file in found["files"]}
    assert kinds == {
        **{f"ApiTypes/{name}.json": "api-types" for name in ("Kobold", "OllamaChat", "OllamaText", "OpenAiChat")},
        "ApiTypes/OpenAiText.json": "api-types",
        "Endpoints/Main.json": "endpoints",
        "PromptTemplates/_chatonly.json": "prompt-templates",
        "Users/ann.json": "users",
        "Workflows/Ann/Chat.json": "workflows",
    }
    assert found["models"] == ["Ann"]


async def test_a_user_tells_where_messages_start(open_tree):
    [ann] = (await (await open_tree()).get(AT))["users"]
    start = {"name": "Chat", "path": "Workflows/Ann/Chat.json", "when": None}
    assert ann == {
        "name": "Ann",
        "path": "Users/ann.json",
        "is_served": True,
        "is_current": False,
        "models": ["Ann"],
        "starts": [start],
        "problem": "",
    }


async def test_a_user_who_routes_starts_at_every_category(starter):
    users = {user["name"]: user for user in (await starter.get(AT))["users"]}
    starts = {start["when"]: start["path"] for start in users["prompt-routing"]["starts"]}
    folder = "Workflows/prompt-routing"
    assert starts.pop(None) == f"{folder}/Categorise.json"
    assert starts.pop("no category") == f"{folder}/_DefaultWorkflow.json"
    assert set(starts.values()) == {f"{folder}/{name}.json" for name in ("Coding", "Writing", "General")}


async def test_a_broken_user_stops_nobody_from_looking(open_tree, tmp_path):
    server = await open_tree()
    put(tmp_path, "Users/ben.json", "{")
    users = {user["name"]: user for user in (await server.get(AT))["users"]}
    assert users["ben"]["starts"] == []
    assert "ben.json" in users["ben"]["problem"]
    assert users["Ann"]["problem"] == ""


async def test_without_a_tree_there_is_the_built_in_workflow(server):
    found = await server.get(AT)
    [file] = found["files"]
    assert (found["root"], found["users"], file["path"]) == (None, [], "Workflows/default.json")
    text = await server.get(files_url(file["path"]))
    assert orjson.loads(text["text"])["nodes"][1]["type"] == "Respond"
    graph = await server.get(f"{AT}/graph?path={file['path']}")
    assert [(node["kind"], node["role"]) for node in graph["nodes"]] == [
        ("Recall", "before"),
        ("Respond", "answers"),
        ("Remember", "behind"),
    ]
    assert (await server.get(f"{AT}/problems"))["problems"] == []
    assert error_of(await server.ask("GET", files_url("Users/ann.json"))) == (404, "config_file_not_found")


async def test_a_file_is_shown_as_it_is_written(open_tree, tmp_path):
    server = await open_tree()
    shown = await server.get(files_url("Workflows/Ann/Chat.json"))
    [file] = tmp_path.rglob("Chat.json")
    assert shown == {
        "path": "Workflows/Ann/Chat.json",
        "kind": "workflows",
        "text": file.read_text(),
        "is_redacted": False,
        "digest": sha256(file.read_bytes()).hexdigest(),
        "has_kept": False,
    }


async def test_no_answer_holds_a_secret(open_tree, tmp_path):
    hidden = "canary-1618033988"
    server = await open_tree(
        calling(f"sk-{hidden}", title=f"Bearer {hidden}", apiKey=hidden),
        asking("Main", headers={"X-Any": hidden}),
        files={
            "Presets/Any/Calm.json": {"temperature": 1, "password": hidden},
            "Users/ben.json": {"userWideWorkflowVariables": {"serviceToken": hidden}, "routingConfig": 7},
            "Endpoints/Far.json": {"endpoint": f"http://ann:{hidden}@far", "headers": [hidden]},
            "Endpoints/Odd.json": {"endpoint": "http://far", "apiTypeConfigFileName": f"sk-{hidden}"},
        },
    )
    put(tmp_path, "Endpoints/Broken.json", f'{{"apiKey": "{hidden}", }}')
    targets = [AT, f"{AT}/problems", CHAT, *(files_url(path) for path in await paths_of(server))]
    for target in targets:
        body = (await server.ask("GET", target)).body
        assert hidden.encode() not in body
        assert KEY.encode() not in body
    assert (await server.get(files_url("Endpoints/Main.json")))["is_redacted"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.json",
        "Users/../../secret.json",
        "Users/..\\..\\secret.json",
        "%2e%2e/secret.json",
        "Users/%2e%2e/%2e%2e/secret.json",
        "C:secret.json",
        "Users/x%00.json",
        "Users/CON.json",
        "Users/" + "x" * 300 + ".json",
        "Users/ann.json.",
        "Users/ann.json%20",
        ".",
    ],
)
async def test_what_is_no_path_is_refused(open_tree, tmp_path, path):
    server = await open_tree()
    (tmp_path / "secret.json").write_text('{"canary": 1}')
    assert (await server.ask("GET", f"{AT}/files/{path}")).status == 400
    assert (await server.ask("GET", f"{AT}/graph?path={path}")).status == 400


@pytest.mark.parametrize("path", ["etc/passwd", "Users", "Users/none.json", "notes.txt", "Users/ANN.JSON", "x"])
async def test_what_is_no_file_of_the_tree_is_not_there(open_tree, tmp_path, path):
    server = await open_tree()
    put(tmp_path, "notes.txt", "canary")
    assert error_of(await server.ask("GET", f"{AT}/files/{path}")) == (404, "config_file_not_found")


async def test_links_out_of_the_tree_are_not_followed(open_tree, tmp_path):
    server = await open_tree()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text('{"canary": 1}')
    users = next(tmp_path.rglob("Users"))
    os.symlink(outside / "secret.json", users / "eve.json")
    os.symlink(outside, users.parent / "Presets")
    assert not {"Users/eve.json", "Presets/secret.json"} & set(await paths_of(server))
    for path in ("Users/eve.json", "Presets/secret.json"):
        answer = await server.ask("GET", files_url(path))
        assert (answer.status, b"canary" in answer.body) == (404, False)


async def test_names_of_any_letters_are_listed_and_read(open_tree):
    names = ["Ünïcode 名前", "right\u202eleft", "a%2Fb", "quote'\"<b>", "plus+and&"]
    server = await open_tree(files={f"Workflows/Ann/{name}.json": [answering()] for name in names})
    for name in names:
        path = f"Workflows/Ann/{name}.json"
        assert path in await paths_of(server)
        assert (await server.get(files_url(path)))["path"] == path


async def test_a_file_that_is_no_text_is_told_so(open_tree, tmp_path):
    server = await open_tree()
    next(tmp_path.rglob("Users")).joinpath("ben.json").write_bytes('{"apiKey": "canary"}'.encode("utf-16"))
    answer = await server.ask("GET", files_url("Users/ben.json"))
    assert error_of(answer) == (400, "config_file_unreadable")
    await server.get(AT)
    await server.get(f"{AT}/problems")


async def test_problems_are_those_of_the_check(open_tree, tmp_path):
    server = await open_tree(asking("Mian", prompt="{nobody}"))
    root = next(tmp_path.rglob("Users")).parent
    expected = [asdict(problem) for problem in check(ConfigTree(root), [], node_types())]
    found = await server.get(f"{AT}/problems")
    assert found["problems"] == expected
    assert (found["errors"], found["warnings"]) == (1, 1)


async def test_problems_follow_the_files(open_tree, tmp_path):
    server = await open_tree(asking("Mian"))
    assert (await server.get(f"{AT}/problems"))["errors"] == 1
    put(tmp_path, "Workflows/Ann/Chat.json", orjson.dumps([answering()]).decode())
    assert (await server.get(f"{AT}/problems"))["errors"] == 0


async def test_problems_of_files_at_rest_are_worked_out_once(open_tree, tmp_path):
    server = await open_tree(asking("Mian"))
    for file in tmp_path.rglob("*.json"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    first = await server.get(f"{AT}/problems")
    assert (await server.get(f"{AT}/problems"))["checked_at"] == first["checked_at"]
    next(tmp_path.rglob("Chat.json")).unlink()
    assert (await server.get(f"{AT}/problems"))["problems"] != first["problems"]


async def test_schemas_are_those_that_are_printed(server):
    for kind, schema in schemas(node_types()).items():
        assert await server.get(f"{AT}/schema/{kind}") == schema
    assert error_of(await server.ask("GET", f"{AT}/schema/none")) == (404, "schema_not_found")


async def test_a_graph_shows_who_answers_and_who_reads_whom(open_tree):
    server = await open_tree(asking("Main", prompt="{agent1Input}"), answering(prompt="Use {agent1Output}"), behind())
    graph = await server.get(CHAT)
    assert (graph["user"], graph["path"]) == ("Ann", "Workflows/Ann/Chat.json")
    assert [(node["number"], node["role"], node["at"]) for node in graph["nodes"]] == [
        (1, "before", "$[0]"),
        (2, "answers", "$[1]"),
        (3, "behind", "$[2]"),
    ]
    uses = [[(use["name"], use["source"], use["at"]) for use in node["uses"]] for node in graph["nodes"]]
    assert uses == [
        [("agent1Input", None, "$[0].prompt")],
        [("agent1Output", 1, "$[1].prompt")],
        [("agent1Output", 1, "$[2].prompt")],
    ]
    assert (graph["nodes"][1]["endpoint_path"], graph["nodes"][1]["model"]) == ("Endpoints/Main.json", "far")


async def test_a_graph_shows_what_a_node_runs(open_tree):
    choice = {
        "title": "Choose",
        "type": "ConditionalCustomWorkflow",
        "conditionalKey": "{agent1Output}",
        "conditionalWorkflows": {"yes": "Sub", "no": "Gone", "Default": "{agent1Output}"},
    }
    server = await open_tree(calling("sub"), choice, files={"Workflows/Ann/Sub.json": [answering()]})
    first, second = (await server.get(CHAT))["nodes"]
    assert first["calls"] == [
        {"name": "sub", "path": "Workflows/Ann/Sub.json", "when": None, "at": "$[0].workflowName"}
    ]
    assert [(call["when"], call["name"], call["path"]) for call in second["calls"]] == [
        ("yes", "Sub", "Workflows/Ann/Sub.json"),
        ("no", "Gone", None),
        ("Default", "{agent1Output}", None),
    ]


async def test_a_workflow_with_mistakes_has_a_graph(open_tree):
    server = await open_tree({"type": "Standrad", "title": 7}, asking("Mian", returnToUser="perhaps"), "no node")
    nodes = (await server.get(CHAT))["nodes"]
    assert [(node["kind"], node["title"], node["role"]) for node in nodes] == [
        (None, "7", "before"),
        ("Standard", "Ask Mian", "answers"),
    ]


@pytest.mark.parametrize("content", ["{", "7", '"text"'])
async def test_what_is_no_workflow_has_no_graph(open_tree, tmp_path, content):
    server = await open_tree()
    put(tmp_path, "Workflows/Ann/Odd.json", content)
    answer = await server.ask("GET", f"{AT}/graph?path=Workflows/Ann/Odd.json")
    assert error_of(answer) == (400, "broken_workflow")


async def test_a_graph_is_of_a_workflow_and_for_a_user_there_is(open_tree):
    server = await open_tree()
    assert (await server.ask("GET", f"{AT}/graph?path=Users/ann.json")).status == 400
    assert (await server.ask("GET", f"{CHAT}&user=nobody")).status == 404
    assert (await server.ask("GET", f"{AT}/graph")).status == 422


@pytest.mark.slow
async def test_every_workflow_of_the_starter_has_a_graph_and_every_file_a_text(starter):
    for path in await paths_of(starter):
        text = await starter.get(files_url(path))
        if text["kind"] == "workflows":
            graph = await starter.get(f"{AT}/graph?path={quote(path)}")
            assert sum(node["role"] == "answers" for node in graph["nodes"]) == 1
            assert all(call["path"] for node in graph["nodes"] for call in node["calls"] if "{" not in call["name"])


async def test_answers_fit_their_description(starter):
    """What the OpenAPI description promises is what comes."""
    shapes = {
        AT: ConfigOverview,
        f"{AT}/problems": ConfigProblems,
        files_url("Endpoints/local-ollama.json"): ConfigText,
        f"{AT}/graph?path=Workflows/sub-workflows/Chat.json": WorkflowGraph,
    }
    for target, shape in shapes.items():
        found = await starter.get(target)
        kept: TypeAdapter[Any] = TypeAdapter(shape)
        assert orjson.loads(kept.dump_json(kept.validate_python(found))) == found
    described = await starter.get("/openapi.json")
    answer = described["paths"][f"{AT}/graph"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/WorkflowGraph"}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_nothing_of_the_tree_can_be_changed(open_tree, method):
    server = await open_tree()
    for target in (AT, files_url("Users/ann.json"), f"{AT}/problems"):
        saves = method == "PUT" and target.startswith(f"{AT}/files")
        expected = (403, "editing_off") if saves else (405, "method_not_allowed")
        assert error_of(await server.ask(method, target, {})) == expected


async def test_the_tree_is_guarded_by_the_keys(open_server, tmp_path):
    server = await open_server(served(tmp_path, "http://127.0.0.1:9"), api_keys=["k" * 32])
    assert (await server.ask("GET", AT)).status == 401
