"""`mnemoir init`: a valid tree of examples, which never overwrites existing files."""

import json
import runpy
import shlex

import pytest

from mnemoir.workflows.checking import check_with_hints
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.node import node_types
from mnemoir.workflows.starter import api_types, users
from tests.cli.command_process import run_here

EXAMPLES = [
    *["discussion-search", "discussion-summary", "image-captioning", "mcpo-tools", "offline-wikipedia"],
    *["prompt-routing", "python-module", "several-models", "single-model", "sub-workflows", "with-memory"],
    "workflow-lock",
]
ASKED_ENDPOINTS = ["local-ollama", "second-model", "vision-model"]


@pytest.fixture
def init(tmp_path, capsys):
    def call(*arguments):
        return run_here("init", *arguments, cwd=tmp_path, capsys=capsys)

    return call


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


def test_an_empty_directory_gets_a_whole_tree_and_nothing_else(tmp_path, init):
    (tmp_path / "mine").mkdir()
    assert init("mine").returncode == 0
    assert names_in(tmp_path / "mine") == ["Configs", "DiscussionIds", "README.md", "files", "modules"]
    assert names_in(tmp_path) == ["mine"]


def test_every_example_is_a_user_of_the_tree(tmp_path, init):
    init("new/mine")
    tree = ConfigTree.open(tmp_path / "new" / "mine")
    assert tree.user_names() == users() == EXAMPLES
    assert tree.current_user() == "single-model"


def test_the_check_finds_nothing_wrong_with_the_tree(tmp_path, init):
    init("mine")
    assert check_with_hints(ConfigTree.open(tmp_path / "mine"), [], node_types()) == ([], [])


@pytest.mark.parametrize("api_type", api_types())
def test_every_preset_is_there_for_every_protocol(tmp_path, init, api_type):
    init("mine", "--api-type", api_type.lower())
    user = ConfigTree.open(tmp_path / "mine").user("single-model")
    protocol = user.api_type(user.endpoint("vision-model").api_type)
    assert all(user.preset(name, protocol) for name in ("precise", "balanced", "creative"))
    assert protocol.kind is not None


def test_the_options_are_written_into_every_endpoint_of_the_examples(tmp_path, init):
    init("mine", "--endpoint-url", "http://llm.test:8000/v1/", "--model", "tiny", "--api-type", "Open-AI-API")
    user = ConfigTree.open(tmp_path / "mine").user("several-models")
    endpoints = [user.endpoint(name) for name in ["first-model", *ASKED_ENDPOINTS[1:]]]
    asked = {(endpoint.url, endpoint.model, endpoint.api_type) for endpoint in endpoints}
    assert asked == {("http://llm.test:8000", "tiny", "Open-AI-API")}


def test_the_first_endpoint_is_named_after_ollama_only_where_it_is_one(tmp_path, init):
    told = init("mine", "--api-type", "Open-AI-API").stdout.splitlines()
    assert told[1].startswith("endpoint   Configs/Endpoints/first-model.json: ")
    files = [file for file in (tmp_path / "mine").rglob("*") if file.is_file()]
    assert [file for file in files if b"local-ollama" in file.read_bytes() or "local-ollama" in file.name] == []
    assert check_with_hints(ConfigTree.open(tmp_path / "mine"), [], node_types()) == ([], [])
    assert "local-ollama.json" in init("theirs", "--api-type", "OllamaApiGenerate").stdout


def test_no_example_calls_any_other_endpoint(tmp_path, init):
    init("mine")
    asked = set()
    for file in (tmp_path / "mine/Configs/Workflows").rglob("*.json"):
        told = json.loads(file.read_bytes())
        for said in told.get("nodes", [told]):  # settings of discussions have no nodes
            asked |= {said[key] for key in ("endpointName", "vectorMemoryEndpointName") if key in said}
    assert sorted(asked) == ASKED_ENDPOINTS


def test_the_last_line_is_the_command_to_type_next(tmp_path, init):
    told = init("my tree").stdout.splitlines()
    assert told[-1].split()[0] == "next"
    assert shlex.split(told[-1].removeprefix("next"))[2:] == [
        *["--config-dir", str(tmp_path / "my tree")],
        *["--user", "single-model"],
    ]
    assert "local-ollama.json: llama3.2 at http://127.0.0.1:11434" in told[1]


def test_the_written_files_can_be_printed_as_json(tmp_path, init):
    told = json.loads(init(".", "--json").stdout)
    assert told["directory"] == str(tmp_path)
    assert told["users"] == EXAMPLES
    assert (tmp_path / "Configs/Endpoints/local-ollama.json").samefile(told["endpoint"])


def test_a_directory_with_files_is_left_unchanged_and_they_are_named(tmp_path, init):
    for name in "abcdefg":
        (tmp_path / name).write_text(name)
    done = init(".")
    assert done.returncode == 1
    assert "it holds a, b, c, d, e and 2 more" in done.stderr
    assert names_in(tmp_path) == list("abcdefg")


def test_a_second_start_in_the_same_directory_changes_nothing(tmp_path, init):
    init("mine")
    endpoint = tmp_path / "mine/Configs/Endpoints/local-ollama.json"
    endpoint.write_text("{}")
    assert "is not empty" in init("mine").stderr
    assert endpoint.read_text() == "{}"


def test_a_file_in_place_of_the_directory_is_refused(tmp_path, init):
    (tmp_path / "file").write_text("")
    for name in ("file", "file/inner"):
        done = init(name)
        assert (done.returncode, done.stdout) == (1, "")
        assert str(tmp_path / name) in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--endpoint-url", "localhost:11434"], "http://127.0.0.1:8080"),
        (["--endpoint-url", "http://host:99999"], "http://127.0.0.1:8080"),
        (["--api-type", "Ollama"], "OllamaApiChat"),
        ([], "directory"),
    ],
)
def test_wrong_usage_says_what_is_right_and_writes_nothing(tmp_path, init, arguments, told):
    done = init(*(["mine"] if arguments else []), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert names_in(tmp_path) == []


def test_the_module_of_the_tree_counts_words(tmp_path, init):
    init("mine")
    count = runpy.run_path(str(tmp_path / "mine/modules/word_count.py"))["Invoke"]
    assert count("It's late. Go home!") == {"words": 4, "sentences": 2, "minutes": 0.0}


def test_the_read_me_of_the_tree_names_every_example(tmp_path, init):
    init("mine")
    text = (tmp_path / "mine/README.md").read_text(encoding="utf-8")
    assert [name for name in EXAMPLES if f"| `{name}` |" not in text] == []
