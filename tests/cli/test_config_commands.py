"""`mnemoir check` and `mnemoir schema`: config trees without a server."""

import json

import pytest
import typer
from typer.testing import CliRunner

from mnemoir.cli.trees import check, schema
from mnemoir.core.errors import InvalidRequest, SettingsError
from tests.workflows.config.config_kit import tree_of

commands = typer.Typer()
commands.command()(check)
commands.command()(schema)


def run(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


def broken(tmp_path):
    """A tree with one error and one warning."""
    node = {"type": "Standard", "endpointName": "Mian", "prompt": "{nobody}"}
    return tree_of(tmp_path, {"Workflows/Ann/Chat.json": [node]}).public


def test_a_sound_tree_passes(tmp_path):
    node = {"type": "Standard", "endpointName": "Main", "prompt": "", "allowTools": True}
    done = run("check", "--config-dir", tree_of(tmp_path, {"Workflows/Ann/Chat.json": [node]}).public)
    assert (done.exit_code, done.stdout) == (0, "0 errors, 0 warnings\n")


def test_hints_are_printed_and_are_no_problem(tmp_path):
    public = tree_of(tmp_path).public
    text = "The answering node drops tools of clients: set allowTools to true."
    done = run("check", "--config-dir", public)
    assert done.exit_code == 0
    assert done.stdout == f"hint     Workflows/Ann/Chat.json  $[0]  {text}\n0 errors, 0 warnings\n"
    told = json.loads(run("check", "--config-dir", public, "--json").stdout)
    assert (told["errors"], told["warnings"], told["problems"]) == (0, 0, [])
    assert told["hints"] == [{"file": "Workflows/Ann/Chat.json", "path": "$[0]", "text": text}]


def test_problems_are_printed_line_by_line_and_fail_the_command(tmp_path):
    done = run("check", "--config-dir", broken(tmp_path), "--user", "Ann")
    lines = done.stdout.splitlines()
    assert done.exit_code == 1
    assert lines[0].startswith("error    Workflows/Ann/Chat.json  $[0].endpointName  ")
    assert lines[0].endswith("Did you mean 'Main'?")
    assert lines[1].startswith("warning  Workflows/Ann/Chat.json  $[0].prompt  ")
    assert lines[2:] == ["1 error, 1 warning"]


def test_problems_are_printed_as_json(tmp_path):
    done = run("check", "--config-dir", broken(tmp_path), "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["errors"], told["warnings"]) == (1, 1, 1)
    assert told["problems"][0] == {
        "file": "Workflows/Ann/Chat.json",
        "path": "$[0].endpointName",
        "level": "error",
        "cause": told["problems"][0]["cause"],
        "fix": "Did you mean 'Main'?",
    }


def test_a_warning_alone_does_not_fail_the_command(tmp_path):
    node = {"type": "Standard", "endpointName": "Main", "prompt": "{nobody}"}
    done = run("check", "--config-dir", tree_of(tmp_path, {"Workflows/Ann/Chat.json": [node]}).public)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "0 errors, 1 warning")


def test_a_folder_without_a_tree_is_an_error(tmp_path):
    assert isinstance(run("check", "--config-dir", tmp_path).exception, SettingsError)


def test_a_schema_is_printed_and_the_kinds_are_listed():
    assert json.loads(run("schema", "endpoints").stdout)["title"] == "endpoint"
    assert run("schema").stdout.split()[:2] == ["users", "endpoints"]
    assert json.loads(run("schema", "--json").stdout)[:2] == ["users", "endpoints"]


@pytest.mark.parametrize(("arguments", "count"), [([], 8), (["routing"], 1)])
def test_schemas_are_written_to_a_folder(arguments, count, tmp_path):
    done = run("schema", *arguments, "--output-dir", tmp_path / "schemas")
    written = sorted((tmp_path / "schemas").iterdir())
    assert (done.exit_code, len(written)) == (0, count)
    assert all(json.loads(path.read_text())["$schema"] for path in written)


def test_an_unknown_kind_and_a_folder_that_cannot_be_written_are_errors(tmp_path):
    assert "There is no schema 'nodes'" in str(run("schema", "nodes").exception)
    (tmp_path / "file").write_text("")
    done = run("schema", "--output-dir", tmp_path / "file")
    assert isinstance(done.exception, InvalidRequest)
