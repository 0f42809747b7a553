"""The pages about config trees agree with the code: every key with its default, and examples that run as printed."""

import json
import re
import shutil
from typing import Any

import pytest
import requests

from mnemoir.workflows.checking import check
from mnemoir.workflows.config.endpoint import KINDS, ApiType, EndpointDefinition, PromptTemplate
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.node import ModelProperties, NodeProperties, node_types
from mnemoir.workflows.prompting.options import CANONICAL, SPECIAL
from mnemoir.workflows.schemas import schemas
from mnemoir.workflows.starter import StarterServer, starter_files
from mnemoir.workflows.text.variables import KNOWN
from tests.cli.documented_keys import DOCS, json_in, keys, page, rows, wrong
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess

TYPES = {kind.kind: kind for kind in node_types().values()}
IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
QUESTION = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]


def test_every_node_type_has_a_page_and_no_page_is_left_over():
    pages = {path.stem for path in (DOCS / "nodes").glob("*.md")} - {"README"}
    assert pages == set(TYPES)
    assert [kind for kind in TYPES if f"[{kind}]({kind}.md)" not in page("nodes/README.md")] == []


@pytest.mark.parametrize("kind", TYPES)
def test_the_page_of_a_node_type_names_its_keys_with_their_defaults_and_no_other_key(kind):
    properties, told = TYPES[kind].properties_type, page(f"nodes/{kind}.md")
    elsewhere = ModelProperties if issubclass(properties, ModelProperties) else NodeProperties
    assert wrong(properties, told, elsewhere) == []
    own = told.split("\n## ")[0].split("\n| mode | does |")[0]
    assert set(rows(own)) - set(keys(properties)) == set()


def test_keys_that_nodes_share_are_on_the_page_of_all_nodes():
    text = page("nodes/README.md").replace("`workflows.node_timeout_s`", "none")
    assert wrong(ModelProperties, text) == []


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (EndpointDefinition, "endpoints.md"),
        (ApiType, "endpoints.md"),
        (PromptTemplate, "endpoints.md"),
        (UserSettings, "workflows.md"),
    ],
)
def test_every_key_of_a_config_file_is_documented_with_its_default(model, name):
    assert wrong(model, page(name)) == []


def test_every_api_type_is_documented():
    assert [name for name in KINDS if f"`{name}`" not in page("endpoints.md")] == []


def test_every_sampler_is_documented():
    assert [name for name in CANONICAL | SPECIAL if f"`{name}`" not in page("endpoints.md")] == []


def test_every_variable_is_documented():
    told = set(re.findall(r"`(\w+)`", page("variables.md")))
    counts = ("one", "two", "three", "four", "five", "ten", "twenty")
    told |= {f"{name}_user_prompt_last_{count}" for name in ("chat", "templated") for count in counts}
    assert KNOWN - told == set()


@pytest.mark.parametrize("name", [kind for kind in TYPES if kind.startswith("OfflineWiki")])
def test_the_answer_of_an_article_node_without_articles_is_documented_literally(name):
    kind: Any = TYPES[name]
    told = page(f"nodes/{name}.md")
    assert [line for text in (kind.off, kind.nothing) for line in text.split("\n") if f"`{line}" not in told] == []


def examples():
    """The workflows on the pages, each with the user whose workflow it takes the place of."""
    names = ["workflows.md", "variables.md", "routing.md", *(f"nodes/{kind}.md" for kind in sorted(TYPES))]
    for name in names:
        user, place = ("prompt-routing", "Categorise") if name == "routing.md" else ("single-model", "Chat")
        for found in json_in(name):
            if isinstance(found, list) or "nodes" in found:
                yield pytest.param(found, user, place, id=name)


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as llm:
        yield llm


@pytest.fixture(scope="module")
def public(tmp_path_factory, llm):
    """The starter tree, asking the scripted model."""
    public = tmp_path_factory.mktemp("documented") / "Public"
    starter = StarterServer(url=llm.openai_url, api_type="Open-AI-API")
    for path, content in starter_files(starter).items():
        (public / path).parent.mkdir(parents=True, exist_ok=True)
        (public / path).write_bytes(content)
    # the examples name the endpoint of a tree for Ollama
    shutil.copy(public / starter.first_endpoint, public / "Configs/Endpoints/local-ollama.json")
    _keep_memories(public / "Configs")
    return public


def _keep_memories(configs):
    """What the nodes of discussion memory ask of a user's file."""
    user, workflows = configs / "Users/single-model.json", configs / "Workflows/single-model"
    tools = ("chatSummaryToolWorkflow", "recentMemoryToolWorkflow", "conversationMemoryToolWorkflow")
    named = {**dict.fromkeys(tools, "Tool"), "discussionIdMemoryFileWorkflowSettings": "Memory-Settings"}
    user.write_text(json.dumps({**json.loads(user.read_text()), **named}))
    (workflows / "Tool.json").write_text(json.dumps([{"type": "StaticResponse", "content": "Nothing yet."}]))
    (workflows / "Memory-Settings.json").write_text(json.dumps(json_in("discussion-settings.md")[-1]))


@pytest.fixture(scope="module")
def server(public):
    users = ["--user", "single-model", "--user", "prompt-routing"]
    with ServerProcess(public.parent / "data", arguments=["--config-dir", str(public), *users]) as running:
        yield running


def test_every_node_type_has_an_example_of_its_own():
    shown = {
        kind: {node["type"] for found in json_in(f"nodes/{kind}.md") for node in found["nodes"]} for kind in TYPES
    }
    assert [kind for kind, types in shown.items() if kind not in types] == []


@pytest.mark.parametrize(("example", "user", "place"), list(examples()))
def test_the_check_finds_nothing_wrong_with_an_example_and_it_answers_as_printed(
    public, server, example, user, place
):
    (public / "Configs/Workflows" / user / f"{place}.json").write_text(json.dumps(example))
    problems = check(ConfigTree.open(public), [user], node_types())
    assert [(problem.path, problem.cause) for problem in problems] == []
    for stream in (False, True):
        body = {"model": user, "stream": stream, "messages": [{"role": "user", "content": QUESTION}]}
        answered = requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
        assert answered.status_code == 200, answered.text
        assert "error" not in answered.text, stream


def test_examples_of_other_files_have_their_shape():
    assert EndpointDefinition.model_validate(json_in("endpoints.md")[0]).model == "llama3.2"
    assert UserSettings.model_validate(json_in("routing.md")[0]).routing == "by-topic"
    assert list(RoutingTable.model_validate(json_in("routing.md")[1]).root) == ["CODING", "WRITING", "GENERAL"]


def test_every_kind_of_file_has_its_line_in_the_settings_for_an_editor():
    named = {line["url"] for line in json_in("workflows.md")[-1]["json.schemas"]}
    assert named == {f"./schemas/{kind}.schema.json" for kind in schemas(node_types())}
