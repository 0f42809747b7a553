"""Common properties of all commands: help, documentation, exit codes and output streams."""

import contextlib
import json
import os
import re
from pathlib import Path

import pytest
import typer.main

from mnemoir import __version__
from mnemoir.cli.commands import app_with
from mnemoir.cli.output import printable, progress
from tests.cli.command_process import run, run_here
from tests.each_case import check_each
from tests.stages import staged

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")


def commands(group, prefix="mnemoir"):
    """Name and parameters of every command that does something."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command.params


COMMANDS = dict(commands(typer.main.get_command(app_with())))
SHARED = {
    group: PAGE[PAGE.index(f"## mnemoir {group}\n") : PAGE.index(f"### mnemoir {group} {first}\n")]
    for group, first in (
        ("memories", "add"),
        ("discussions", "list"),
        ("model", "show"),
        ("keys", "create"),
        ("users", "invite"),
        ("audit", "list"),
        ("encryption", "status"),
    )
}


def section(name):
    """The part of the page below the heading of a command, with what its group shares."""
    found = re.search(rf"^##+ {name}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/cli.md has no heading for {name}"
    return found[1] + SHARED.get(name.split()[1], "")


def test_the_page_of_the_commands_names_every_option():
    def are_named(name):
        options = [option for param in COMMANDS[name] for option in param.opts if option.startswith("--")]
        unnamed = [option for option in options if f"`{option}`" not in section(name)]
        assert unnamed == ["--help"][: "--help" in options]

    check_each(COMMANDS, are_named)


def test_the_page_names_no_unknown_option():
    known = {
        option for params in COMMANDS.values() for param in params for option in (*param.opts, *param.secondary_opts)
    }
    assert set(re.findall(r"`(--?[a-z-]+)`", PAGE)) - known == set()


def test_every_option_and_argument_has_a_help_text():
    params = ((name, param) for name in COMMANDS for param in COMMANDS[name])
    assert [f"{name} {param.name}" for name, param in params if not getattr(param, "help", None)] == []


def test_every_command_can_print_json():
    assert [name for name in COMMANDS if all("--json" not in param.opts for param in COMMANDS[name])] == []


def test_help_lists_the_commands(tmp_path):
    done = run("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert [
        word
        for word in ("serve", "init", "check", "schema", "memories", "runs", "discussions", "doctor", "version")
        if word not in done.stdout
    ] == []


def groups(group=None, *path):
    """The arguments that lead to each group of commands."""
    group = group or typer.main.get_command(app_with())
    yield path
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from groups(command, *path, name)


@pytest.mark.parametrize("path", list(groups()), ids=" ".join)
def test_a_short_option_lists_the_commands_of_a_group_in_whole_sentences(path, tmp_path, capsys):
    done = run_here(*path, "-h", cwd=tmp_path, capsys=capsys)
    assert (done.returncode, "..." in done.stdout.split("Commands:")[1]) == (0, False)
    assert done.stdout == run_here(*path, "--help", cwd=tmp_path, capsys=capsys).stdout


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("words", ["mnemoir mem", "mnemoir memories sh"])
def test_the_shell_completes_commands(words, tmp_path):
    completing = {"_MNEMOIR_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    completed = run(cwd=tmp_path, **completing).stdout.split()
    assert completed == [{"mem": "memories", "sh": "show"}[words.split()[-1]]]
    shown = run("--show-completion", "bash", cwd=tmp_path, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_MNEMOIR_COMPLETE=complete_bash" in shown.stdout


@pytest.mark.parametrize(
    "arguments", staged([["version"], ["--help"], ["memories", "list", "--data-dir", "data"]], quick=2)
)
def test_a_reader_that_leaves_is_no_error(arguments, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(*arguments, cwd=tmp_path, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, "Broken pipe" in done.stderr) == (0, False)


def test_long_work_tells_how_far_it_is_where_there_is_no_terminal(capsys):
    seconds = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    with progress("Importing", 800, now=lambda: next(seconds)) as step:
        for _ in range(4):
            with contextlib.suppress(StopIteration):
                step(200)
    assert capsys.readouterr().err == "Importing: 400 of 800\n"


@pytest.mark.costly("it runs programs")
def test_the_version_is_printed_both_ways(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"mnemoir {__version__}\n"
    assert json.loads(run("version", "--json", cwd=tmp_path).stdout) == {"version": __version__}


@pytest.mark.parametrize(
    "arguments",
    staged(
        [
            ["nonsense"],
            ["serve", "--prot", "1"],
            ["serve", "--port", "99999"],
            ["memories", "search"],
            ["memories", "list", "--limit", "0"],
            ["memories", "delete"],
            ["memories", "delete", "--all"],
            ["memories", "delete", "mem_1", "--all", "--user", "mira"],
            ["memories", "import", "gone.jsonl"],
        ],
        quick=3,
    ),
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_nothing_on_standard_output(arguments, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_wrong_setting_ends_with_1_and_a_message_without_a_traceback(tmp_path):
    (tmp_path / "mnemoir.yaml").write_text("server: {prot: 1}")
    done = run("serve", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "mnemoir.yaml: server.prot is not a setting. Did you mean server.port?" in done.stderr
    assert "Traceback" not in done.stderr


def test_control_characters_are_printed_as_escapes():
    assert printable("a\x1b[31mb\nc\u202e naïve 猫") == "a\\x1b[31mb\\nc\\u202e naïve 猫"
