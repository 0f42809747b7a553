"""The pages about config trees hold to the code: every key with its default, and examples that run as printed."""

import json
import re
from pathlib import Path

import pytest
import requests

from mnemoir.workflows.checking import check
from mnemoir.workflows.config.api_type import KINDS, ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.node import ModelProperties, NodeProperties
from mnemoir.workflows.node_types import node_types
from mnemoir.workflows.starter import ModelServer, starter_files
from mnemoir.workflows.text.variables import KNOWN
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess

DOCS = Path(__file__).parents[2] / "docs"
TYPES = {kind.kind: kind for kind in node_types().values()}
EXAMPLES = [DOCS / f"nodes/{kind}.md" for kind in sorted(TYPES)]
USER = "single-model"
IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
QUESTION = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text):
    """The default in each row of a table of keys, by the key."""
    return {row[1]: row[2] for row in re.finditer(r"^\| `([\w*]+)` \| ([^|]*) \| .*\|$", text, re.MULTILINE)}


def keys(model):
    """The default of each key of a file, by the key; None where there is none, or one that a table cannot show."""
    shown = {}
    for name, field in model.model_fields.items():
        default = field.default
        plain = isinstance(default, str | int | float) and default not in ("", "\n") and len(str(default)) < 40
        shown[field.alias or name] = f"`{json.dumps(default).strip(chr(34))}`" if plain else None
    return shown


def wrong(model, text, *elsewhere):
    """Keys of the model that have no row, or one with another default."""
    found = rows(text)
    there = {key for other in elsewhere for key in keys(other)}
    return [
        key for key, default in keys(model).items() if key not in there and (found.get(key) is None or default not in (None, found[key]))
    ]


def test_every_node_type_has_a_page_and_no_page_is_left_over():
    pages = {path.stem for path in (DOCS / "nodes").glob("*.md")} - {"README"}
    assert pages == set(TYPES)
    assert [kind for kind in TYPES if f"[{kind}]({kind}.md)" not in page("nodes/README.md")] == []


@pytest.mark.parametrize("kind", TYPES)
def test_the_page_of_a_node_type_names_its_keys_with_their_defaults(kind):
    elsewhere = (ModelProperties,) if issubclass(TYPES[kind].properties_type, ModelProperties) else (NodeProperties,)
    assert wrong(TYPES[kind].properties_type, page(f"nodes/{kind}.md"), *elsewhere) == []


@pytest.mark.parametrize("kind", TYPES)
def test_the_page_of_a_node_type_names_no_key_that_is_not_there(kind):
    text = page(f"nodes/{kind}.md").split("\n## ")[0].replace("\n| mode | does |", "\n## ").split("\n## ")[0]
    assert set(rows(text)) - set(keys(TYPES[kind].properties_type)) == set()


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
def test_every_key_of_a_config_file_is_told_with_its_default(model, name):
    assert wrong(model, page(name)) == []


def test_every_api_type_is_told():
    assert [name for name in KINDS if f"`{name}`" not in page("endpoints.md")] == []


def test_every_variable_is_told():
    told = set(re.findall(r"`(\w+)`", page("variables.md")))
    counts = ("one", "two", "three", "four", "five", "ten", "twenty")
    told |= {f"{name}_user_prompt_last_{count}" for name in ("chat", "templated") for count in counts}
    assert KNOWN - told == set()


def examples(path):
    return [json.loads(found) for found in re.findall(r"^```json\n(.*?)^```", path.read_text("utf-8"), re.M | re.S)]


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as llm:
        yield llm


@pytest.fixture(scope="module")
def public(tmp_path_factory, llm):
    """The starter tree, asking the scripted model."""
    public = tmp_path_factory.mktemp("documented") / "Public"
    for path, content in starter_files(ModelServer(url=llm.openai_url, api_type="Open-AI-API")).items():
        (public / path).parent.mkdir(parents=True, exist_ok=True)
        (public / path).write_bytes(content)
    return public


@pytest.fixture(scope="module")
def server(public):
    arguments = ["--config-dir", str(public), "--user", USER]
    with ServerProcess(public.parent / "data", arguments=arguments) as running:
        yield running


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request, public):
    """The one example of a page, put in the place that the page of all nodes names."""
    (found,) = examples(request.param)
    (public / "Configs/Workflows" / USER / "Chat.json").write_text(json.dumps(found))
    return found


def test_the_check_finds_nothing_wrong_with_an_example(example, public):
    problems = [problem for problem in check(ConfigTree.open(public), [USER], node_types())]
    assert [(problem.path, problem.cause) for problem in problems] == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_every_example_of_a_node_answers_as_printed(example, server, stream):
    body = {"model": USER, "stream": stream, "messages": [{"role": "user", "content": QUESTION}]}
    answered = requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    assert answered.status_code == 200, answered.text
    assert "error" not in answered.text
