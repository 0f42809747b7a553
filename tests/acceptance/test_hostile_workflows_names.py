"""Names that would lead out of the config tree, and links that do: neither is followed to read or to write."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mnemoir.app.parts import open_parts
from mnemoir.core.discussion_id import encoded_name
from mnemoir.core.errors import SettingsError
from mnemoir.settings import load_settings
from tests.acceptance.hostile_trees import JSON, asking, hosted, tree, write
from tests.stages import staged

CANARY = "canary-in-a-file-outside"
LEADING_AWAY = (
    *("../" * steps + "outside/planted" for steps in (1, 2, 3, 4, 5)),
    "sub/../../../../outside/planted",
    "..\\..\\outside\\planted",
    "%2e%2e%2foutside%2fplanted",
    "/etc/passwd",
    "~/planted",
    "C:planted",
    "Main\0",
    "Main\n",
    ".",
    "..",
    "x" * 300,
    "CON",
    "Main.",
    "Main ",
    "\u202eniaM",
    "Ｍain",
)
WHATEVER_IT_IS_READ_AS: JSON = {
    "endpoint": "http://127.0.0.1:9",
    "apiTypeConfigFileName": "Chat",
    "apiKey": CANARY,
    "type": "openAIChatCompletion",
    "presetType": CANARY,
    "promptTemplateUserPrefix": CANARY,
    "temperature": CANARY,
    "nodes": [{"type": "StaticResponse", "content": CANARY}],
}
Files = Mapping[str, object]
USER = {"customWorkflowOverride": True, "customWorkflow": "Main"}
ROUTED = {"customWorkflowOverride": False, "routingConfig": "R", "categorizationWorkflow": "Quick"}
WITH_PRESET = {"Workflows/ann/Main.json": [asking(preset="planted")]}
NAMED: Mapping[str, Callable[[str, str], Files]] = {  # the files in which a field has a value
    "endpointName": lambda url, name: {"Workflows/ann/Main.json": [asking(endpointName=name)]},
    "endpointName from a variable": lambda url, name: {
        "Workflows/ann/Main.json": {"nodes": [asking(endpointName="{mine}")], "mine": name}
    },
    "preset": lambda url, name: {"Workflows/ann/Main.json": [asking(preset=name)]},
    "workflowName": lambda url, name: {
        "Workflows/ann/Main.json": [{"type": "CustomWorkflow", "workflowName": name}],
    },
    "workflowUserFolderOverride": lambda url, name: {
        "Workflows/ann/Main.json": [
            {"type": "CustomWorkflow", "workflowName": "planted", "workflowUserFolderOverride": name}
        ],
    },
    "a route of ConditionalCustomWorkflow": lambda url, name: {
        "Workflows/ann/Main.json": [{"type": "ConditionalCustomWorkflow", "conditionalWorkflows": {"default": name}}],
    },
    "customWorkflow": lambda url, name: {"Users/ann.json": {**USER, "customWorkflow": name}},
    "routingConfig": lambda url, name: {"Users/ann.json": {**ROUTED, "routingConfig": name}},
    "categorizationWorkflow": lambda url, name: {
        "Users/ann.json": {**ROUTED, "categorizationWorkflow": name},
        "Routing/R.json": {"A": {"description": "a", "workflow": "Main"}},
    },
    "workflow of a route": lambda url, name: {
        "Users/ann.json": ROUTED,
        "Routing/R.json": {"quick": {"description": "a", "workflow": name}},
    },
    "endpointConfigsSubDirectory": lambda url, name: {
        "Users/ann.json": {**USER, "endpointConfigsSubDirectory": name.removesuffix("/planted")},
        "Workflows/ann/Main.json": [asking(endpointName="planted")],
    },
    "presetConfigsSubDirectoryOverride": lambda url, name: (
        WITH_PRESET | {"Users/ann.json": {**USER, "presetConfigsSubDirectoryOverride": name.removesuffix("/planted")}}
    ),
    "workflowConfigsSubDirectoryOverride": lambda url, name: {
        "Users/ann.json": {
            "customWorkflowOverride": True,
            "customWorkflow": "planted",
            "workflowConfigsSubDirectoryOverride": name.removesuffix("/planted"),
        }
    },
    "sharedWorkflowsSubDirectoryOverride": lambda url, name: {
        "Users/ann.json": {**USER, "sharedWorkflowsSubDirectoryOverride": name.removesuffix("/planted")}
    },
    "chatPromptTemplateName": lambda url, name: {
        "Users/ann.json": {**USER, "chatPromptTemplateName": name},
        "Workflows/ann/Main.json": [asking(endpointName="Text")],
        "Endpoints/Text.json": {"endpoint": url, "apiTypeConfigFileName": "Text"},
    },
    "apiTypeConfigFileName": lambda url, name: {
        "Endpoints/Main.json": {"endpoint": url, "apiTypeConfigFileName": name}
    },
    "promptTemplate": lambda url, name: {
        "Workflows/ann/Main.json": [asking(endpointName="Text")],
        "Endpoints/Text.json": {"endpoint": url, "apiTypeConfigFileName": "Text", "promptTemplate": name},
    },
    "backupEndpointName": lambda url, name: {
        "Endpoints/Main.json": {
            "endpoint": "http://127.0.0.1:9",
            "apiTypeConfigFileName": "Chat",
            "backupEndpointName": name,
        }
    },
    "presetType": lambda url, name: (
        WITH_PRESET
        | {"ApiTypes/Chat.json": {"type": "openAIChatCompletion", "presetType": name.removesuffix("/planted")}}
    ),
}
MAY_BE_MISSING = ("preset", "presetConfigsSubDirectoryOverride", "sharedWorkflowsSubDirectoryOverride", "presetType")


@pytest.fixture
async def host(tmp_path):
    write(tmp_path / "outside" / "planted.json", WHATEVER_IT_IS_READ_AS)
    async with hosted(tmp_path, llm__timeouts__connect_s=1) as served:
        yield served


def files_in(folder: Path) -> set[str]:
    """All files below the folder but those of the server's own data directory."""
    files = (os.path.relpath(Path(at, name), folder) for at, _, names in os.walk(folder) for name in names)
    return {name for name in files if not name.startswith("data/")}


@pytest.mark.parametrize("field", staged(NAMED, quick=5))
async def test_a_name_in_a_file_leads_nowhere(host, tmp_path, field):
    for name in LEADING_AWAY:
        for file, content in NAMED[field](host.llm.url, name).items():
            host.write(file, content)
        before = files_in(tmp_path)
        status, told = await host.ask()
        assert status == 500 or (status == 200 and field in MAY_BE_MISSING), (name, told)
        told_all = told + "".join(f"{asked.headers} {asked.path} {asked.prompt}" for asked in host.llm.requests)
        assert CANARY not in told_all, name
        assert files_in(tmp_path) == before, name


async def test_a_model_name_chooses_a_folder_there_is_or_none(host):
    for name in ("../../outside", "..", "/etc", "ann/../../x", "quick/../..", "CON", "", "\u202equick"):
        for model in (name, f"ann:{name}"):
            host.llm.reply("asked")
            assert await host.ask(model=model) == (200, "asked"), model
    assert await host.ask(model="ann:quick") == (200, "quick")


@pytest.mark.parametrize("user", ["../ann", "..", "/etc/passwd", "x\0", "sub/ann", "ann."])
async def test_a_user_whose_name_leads_away_is_not_served(tmp_path, user):
    public = tree(tmp_path, "http://127.0.0.1:9")
    given: dict[str, Any] = {"storage.data_dir": str(tmp_path / "data"), "llm.provider": "offline"}
    given |= {"workflows.config_dir": str(public), "workflows.users": [user]}
    with pytest.raises(SettingsError, match="is not allowed"):
        await open_parts(load_settings(None, given, environ={}))


DISCUSSIONS = (
    *("../x", "..\\x", "%2e%2e%2fx", "/etc/x", "C:x", "x\0", ".", "..", "", " ", "x" * 5000, "CON", "x.", "x "),
    *("\u202ex", "a", "A", "\u00e4", "a\u0308", "x/timestamps.json", "~root", "-rf", "$HOME", "{Discussion_Id}"),
)


async def test_whatever_a_discussion_is_called_its_files_are_one_step_below_their_folder(host, tmp_path):
    before = files_in(tmp_path)
    host.workflow(asking(addDiscussionIdTimestampsForLLM=True))
    for name in DISCUSSIONS:
        assert (await host.ask("first", f"[DiscussionId]{name}[/DiscussionId]Hello"))[0] == 200, name
    made = {Path(name).parts for name in files_in(tmp_path) - before}
    assert {parts[:2] for parts in made} == {("Public", "DiscussionIds")}
    assert {len(parts) for parts in made} == {4}
    assert {"a", encoded_name("A")} < {parts[2] for parts in made}


async def test_names_in_headers_and_paths_make_no_file_and_find_none(host, tmp_path):
    before = files_in(tmp_path)
    for name in ("../../outside/planted", "/etc/passwd", "%2e%2e%2fx", "C:x", "CON", "..", "x" * 300):
        headers = {"X-User-Id": name, "X-Conversation-Id": name, "X-Request-Id": name, "X-Workflow-Run-Id": name}
        body = {"model": "ann", "messages": [{"role": "user", "content": "Hello"}]}
        async with host.session.post(f"{host.url}/v1/chat/completions", json=body, headers=headers) as answer:
            assert answer.status in (200, 400)
        async with host.session.get(f"{host.url}/api/runs/{name.replace('%', '%25')}") as answer:
            assert answer.status in (200, 400, 404)
            assert CANARY not in await answer.text()
    assert files_in(tmp_path) == before


LINKED: Mapping[str, Files] = {  # the link, and what makes a workflow go through it
    "Endpoints/linked.json": {"Workflows/ann/Main.json": [asking(endpointName="linked")]},
    "Workflows/ann/linked.json": {"Users/ann.json": {**USER, "customWorkflow": "linked"}},
    "PromptTemplates/linked.json": {"Users/ann.json": {**USER, "chatPromptTemplateName": "linked"}}
    | {"Workflows/ann/Main.json": [asking("{chat_user_prompt_last_one}", endpointName="Text")]}
    | {"Endpoints/Text.json": {"endpoint": "http://127.0.0.1:9", "apiTypeConfigFileName": "Text"}},
    "ApiTypes/linked.json": {"Endpoints/Main.json": {"endpoint": "http://x", "apiTypeConfigFileName": "linked"}},
    "Presets/Some/linked.json": {"Workflows/ann/Main.json": [asking(preset="linked")]},
    "Routing/linked.json": {"Users/ann.json": {**ROUTED, "routingConfig": "linked"}},
}


@pytest.mark.parametrize("link", LINKED)
async def test_a_link_out_of_the_tree_is_not_read(host, tmp_path, link):
    place = host.public / "Configs" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "outside" / "planted.json")
    for file, content in LINKED[link].items():
        host.write(file, content)
    status, told = await host.ask()
    assert (status, "is a link to" in told, CANARY in told) == (500, True, False)


async def test_a_folder_that_is_a_link_out_of_the_tree_is_not_read(host, tmp_path):
    (host.public / "Configs" / "Workflows" / "_away").symlink_to(tmp_path / "outside")
    node = {"type": "CustomWorkflow", "workflowName": "planted", "workflowUserFolderOverride": "_away"}
    status, told = await host.run(node)
    assert (status, "is a link to" in told, CANARY in told) == (500, True, False)


NODES_OF_FILES = [
    {"type": "GetCustomFile", "filepath": "PATH"},
    {"type": "SaveCustomFile", "filepath": "PATH", "content": "overwritten"},
    {"type": "SaveCustomFile", "filepath": "PATH", "content": "overwritten", "mode": "append"},
    {"type": "SaveCustomFile", "filepath": "PATH", "content": "overwritten", "mode": "replace", "find": "c"},
    {"type": "PythonModule", "module_path": "PATH"},
]


@pytest.mark.parametrize("node", NODES_OF_FILES, ids=range(len(NODES_OF_FILES)))
async def test_no_file_node_and_no_module_gets_out_by_a_link_or_a_path(host, tmp_path, node):
    planted = tmp_path / "outside" / "planted.py"
    planted.write_text(f"def Invoke(): return '{CANARY}'")
    (host.public / "link.py").symlink_to(planted)
    (host.public / "folder").symlink_to(tmp_path / "outside")
    for way in ("link.py", "folder/planted.py", "../outside/planted.py", "a/../../outside/planted.py", str(planted)):
        said = {key: way if value == "PATH" else value for key, value in node.items()}
        status, told = await host.run(said)
        reads = node["type"] == "GetCustomFile"  # a chat goes on without what must not be read
        assert (status, CANARY in told) == (200 if reads else 500, False), way
        assert ("Custom instruction file did not exist" if reads else "outside the directories") in told, way
    assert planted.read_text() == f"def Invoke(): return '{CANARY}'"


@pytest.mark.parametrize("link", ["linked", "linked/timestamps.json", "linked_timestamps.json"])
async def test_times_of_a_discussion_are_not_written_through_a_link(host, tmp_path, link):
    target = tmp_path / "outside" / ("" if link == "linked" else "planted.json")
    place = host.public / "DiscussionIds" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(target)
    before = files_in(tmp_path / "outside")
    host.workflow(asking(addDiscussionIdTimestampsForLLM=True))
    await host.ask("first", "[DiscussionId]linked[/DiscussionId]Hello")
    assert files_in(tmp_path / "outside") == before
    assert CANARY in (tmp_path / "outside" / "planted.json").read_text()


async def test_a_lock_is_not_kept_behind_a_link(host, tmp_path):
    host.write("Users/ann.json", {**USER, "sqlLiteDirectory": "locks"})
    (host.public / "locks").mkdir()
    (host.public / "locks" / "WilmerDb.ann.sqlite").symlink_to(tmp_path / "outside" / "made.sqlite")
    node = {"type": "WorkflowLock", "workflowLockId": "one"}
    assert await host.run(node, {"type": "StaticResponse", "content": "done"}) == (200, "done")
    assert not (tmp_path / "outside" / "made.sqlite").exists()
    assert (tmp_path / "data" / "WilmerDb.ann.sqlite").exists()


CODE = ("modules/a.py", "workflow_python_scripts/a.py", "notes/a.py", "orjson.PY", "a.so")


async def test_no_workflow_writes_configuration_or_code(host):
    for path in ("Configs/Endpoints/Main.json", *CODE):
        status, told = await host.run({"type": "SaveCustomFile", "filepath": path, "content": "import os"})
        assert (status, "outside the directories" in told or "would be code" in told) == (500, True), path


async def test_a_data_directory_within_the_public_folder_is_shut_to_workflows(tmp_path):
    async with hosted(tmp_path, storage__data_dir=str(tmp_path / "Public" / "data")) as served:
        status, told = await served.run({"type": "GetCustomFile", "filepath": "data/mnemoir.db"})
        assert (status, "Custom instruction file did not exist" in told) == (200, True)
        status, told = await served.run({"type": "SaveCustomFile", "content": "x", "filepath": "data/mnemoir.db"})
        assert (status, "outside the directories" in told) == (500, True)
        assert (await served.run({"type": "SaveCustomFile", "content": "x", "filepath": "notes.txt"}))[0] == 200
