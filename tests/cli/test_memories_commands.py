"""`mnemoir memories` against a running server, and without one."""

import asyncio
import json
import stat
import urllib.request
from functools import partial
from typing import Any

import pytest

from mnemoir.app import open_parts
from mnemoir.server import ServerOptions, create_app, serve
from mnemoir.settings import load_settings
from tests.cli.command_process import run, run_here
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess, free_port


class Commands:
    """Runs `mnemoir memories` with the settings of one server."""

    def __init__(self, runner, home, *, port, **environment):
        self._run = partial(runner, "memories", cwd=home)
        place = {"MNEMOIR_SERVER__PORT": str(port), "MNEMOIR_STORAGE__DATA_DIR": str(home / "data")}
        self._environment = place | environment

    def __call__(self, *arguments, stdin=None):
        return self._run(*arguments, stdin=stdin, **self._environment)

    def json(self, *arguments):
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("served") / "data") as running:
        yield running


@pytest.fixture
def memories(server, tmp_path, capsys):
    """The commands against the one server; each test has a user of its own."""
    return Commands(partial(run_here, capsys=capsys), tmp_path, port=server.port)


@pytest.fixture
def user(request):
    return request.node.name


def test_an_empty_name_is_refused_and_never_everybody(memories, user, tmp_path):
    memories("add", "I live in Graz.", "--user", user, "--verbatim")
    [kept] = memories.json("list", "--user", user)["results"]
    (tmp_path / "lines").write_text(
        json.dumps({"memory": "x", "user_id": user, "created_at": "2026-01-01T00:00:00Z"})
    )
    for arguments in (
        ("delete", kept["id"], "--user", ""),
        ("delete", "--all", "--user", "", "--yes"),
        ("delete", "--all", "--user", user, "--yes", "--project", ""),
        ("history", kept["id"], "--user", ""),
        ("export", "--user", ""),
        ("export", "--user", user, "--project", ""),
        ("import", "lines", "--user", " "),
    ):
        done = memories(*arguments)
        assert (arguments, done.returncode > 0, done.stdout) == (arguments, True, "")
    assert memories.json("list", "--user", user)["results"] == [kept]


def test_a_list_and_a_search_show_what_was_current_at_a_time(memories, user):
    memories("add", "I live in Graz.", "--user", user, "--verbatim")
    for asked in (["list"], ["search", "where does she live?"]):
        assert memories.json(*asked, "--user", user, "--at", "2020-01-01")["results"] == []
        assert len(memories.json(*asked, "--user", user, "--at", "2099-01-01")["results"]) == 1


def test_an_added_memory_is_listed_and_found(memories, user):
    added = memories.json("add", "I live in Graz.", "--user", user, "--verbatim")
    assert [change["event"] for change in added["results"]] == ["ADD"]
    listed = memories("list", "--user", user)
    assert listed.stdout.startswith(f"{added['results'][0]['id']}  20")
    assert listed.stdout.endswith("  I live in Graz.\n")
    assert (
        memories.json("search", "where does she live?", "--user", user)["results"][0]["memory"] == "I live in Graz."
    )


def test_a_text_may_come_from_standard_input(memories, user):
    done = memories("add", "-", "--user", user, "--verbatim", stdin="I row every morning.")
    assert done.stdout.startswith("ADD  mem_")
    assert done.stderr == "Added 1 memory.\n"


def test_what_is_known_already_is_named_instead_of_a_count_of_nothing(memories, user):
    assert memories("add", "I love hiking.", "--user", user).stderr == "Added 1 memory.\n"
    done = memories("add", "I love hiking.", "--user", user)
    assert (done.stdout, done.stderr) == ("", "Already known: Loves hiking\n")
    assert memories("add", "Hello!", "--user", user).stderr == "Nothing new to remember.\n"


def test_a_new_fact_beside_a_similar_one_with_a_date_is_not_swallowed(memories, user, tmp_path):
    file = tmp_path / "in.jsonl"
    known = "Prefers window seats on night trains since 2023"
    file.write_text(json.dumps({"memory": known, "user_id": user, "created_at": "2026-01-01"}))
    assert memories("import", str(file)).stderr == "Imported 1 memory; there already: 0.\n"
    assert memories("add", "I love night trains", "--user", user).stderr == "Added 1 memory.\n"
    listed = memories.json("list", "--user", user)["results"]
    assert [one["memory"] for one in listed] == ["Loves night trains", known]


def test_one_memory_is_shown_with_what_it_was_made_of_and_edited(memories, user):
    (added,) = memories.json("add", "I love hiking.", "--user", user)["results"]
    shown = memories("show", added["id"]).stdout.splitlines()
    assert [line.split("  ")[-1] for line in shown[:2]] == ["current", " Loves hiking"]
    assert shown[2].startswith("  from")
    assert "user:  I love hiking." in shown[2]
    edited = memories("edit", added["id"], "-", "--user", user, stdin="Loves long hikes")
    assert edited.stdout.endswith("  Loves long hikes\n")
    assert memories.json("show", added["id"])["memory"]["memory"] == "Loves long hikes"


@pytest.mark.slow
def test_projects_are_apart(memories, user):
    memories.json("add", "I live in Graz.", "--user", user, "--project", "one", "--verbatim")
    assert memories.json("list", "--user", user, "--project", "two")["results"] == []


def test_what_hardly_bears_on_a_question_comes_below_a_line(memories, user):
    for text in ("I live in Graz.", "I am allergic to nuts."):
        memories("add", text, "--user", user)
    found = memories("search", "xylophone quarks", "--user", user).stdout.splitlines()
    assert (found[0], len(found)) == ("--- less likely ---", 3)


def test_one_memory_is_deleted_and_its_history_stays(memories, user):
    memory_id = memories.json("add", "I live in Graz.", "--user", user, "--verbatim")["results"][0]["id"]
    assert memories("delete", memory_id, "--user", user).returncode == 0
    assert memories.json("list", "--user", user)["results"] == []
    assert [entry["event"] for entry in memories.json("history", memory_id, "--user", user)["results"]] == [
        "ADD",
        "DELETE",
    ]


def test_a_change_is_printed_and_undone_and_so_is_its_undo(memories, user):
    (added,) = memories.json("add", "I live in Graz.", "--user", user, "--verbatim")["results"]
    (change,) = memories.json("changes", "--user", user)["results"]
    assert f"{change['id']}  ADD  I live in Graz." in memories("changes", "--user", user).stdout
    undone = memories.json("undo", change["id"])
    assert memories.json("list", "--user", user)["results"] == []
    again = memories("undo", undone["id"], "--user", user)
    assert again.stdout == f"ADD  {added['id']}  I live in Graz.\n"
    assert "Undone by chg_" in again.stderr
    refused = memories("undo", undone["id"])
    assert (refused.returncode, "was undone already" in refused.stderr) == (1, True)
    assert memories("undo", "chg_0").returncode == 3


def test_what_a_dry_run_printed_is_applied(memories, user, tmp_path):
    planned = memories("add", "I live in Graz.", "--user", user, "--verbatim", "--dry-run")
    assert planned.stdout.endswith("  I live in Graz.\n")
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"memory": "Rows", "user_id": user, "created_at": "2026-01-01"}))
    imported = memories("import", str(file), "--dry-run")
    assert imported.stdout.endswith("  Rows\n")
    assert memories.json("list", "--user", user)["results"] == []
    plans = [done.stderr.split("memories apply ")[1].strip() for done in (planned, imported)]
    assert memories("apply", *plans).stdout == planned.stdout + imported.stdout
    assert len(memories.json("list", "--user", user)["results"]) == 2


def test_an_unknown_memory_ends_with_3(memories):
    for command in (["delete", "mem_none"], ["history", "mem_none"], ["show", "mem_none"], ["edit", "mem_none", "x"]):
        done = memories(*command)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("mnemoir: ")


def test_all_memories_of_a_user_are_deleted_only_after_confirmation(memories, user):
    memories.json("add", "I live in Graz.", "--user", user, "--verbatim")
    refused = memories("delete", "--all", "--user", user, stdin="n\n")
    assert refused.returncode == 1
    assert len(memories.json("list", "--user", user)["results"]) == 1
    assert memories.json("delete", "--all", "--user", user, "--yes")["deleted"] == 1


def test_an_export_is_private_and_imports_once(memories, user, tmp_path):
    for text in ("I live in Graz.", "I row every morning."):
        memories.json("add", text, "--user", user, "--verbatim")
    file = tmp_path / "out.jsonl"
    assert memories.json("export", str(file), "--user", user) == {"exported": 2}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = f"{user}-again"
    assert memories.json("import", str(file), "--user", other) == {"imported": 2, "skipped": 0}
    texts = {memory["memory"] for memory in memories.json("list", "--user", other)["results"]}
    assert texts == {"I live in Graz.", "I row every morning."}
    assert memories.json("import", str(file)) == {"imported": 0, "skipped": 2}


def test_an_export_without_a_file_goes_to_standard_output(memories, user):
    memories.json("add", "I live in Graz.", "--user", user, "--verbatim")
    done = memories("export", "--user", user)
    assert [json.loads(line)["memory"] for line in done.stdout.splitlines()] == ["I live in Graz."]
    assert done.stderr == "Exported 1 memory.\n"


def test_an_import_larger_than_one_request_is_complete(memories, user, tmp_path):
    line = {"user_id": user, "created_at": "2026-01-01T00:00:00Z"}
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(json.dumps(line | {"memory": f"Owns boat number {n}"}) for n in range(450)))
    assert memories.json("import", str(file)) == {"imported": 450, "skipped": 0}
    assert memories.json("list", "--user", user, "--limit", "1")["total"] == 450


def test_a_line_with_too_long_a_memory_is_named_by_its_place_in_the_file(memories, user, tmp_path):
    line = {"user_id": user, "created_at": "2026-01-01T00:00:00Z"}
    told = [*(f"Owns boat number {n}" for n in range(250)), "x" * 32769]
    file = tmp_path / "in.jsonl"
    file.write_text("\n\n".join(json.dumps(line | {"memory": text}) for text in told))
    done = memories("import", str(file), "--json")
    long = {"line": 501, "id": None, "size_bytes": 32769}
    assert json.loads(done.stdout) == {"imported": 250, "skipped": 1, "too_long": [long]}
    assert "Line 501 is too long a memory: 32,769 bytes." in done.stderr


@pytest.mark.parametrize(("line", "said"), [("{", "Line 2 is not valid JSON"), ("[]", "Line 2 is not a JSON object")])
def test_an_invalid_line_is_named(memories, tmp_path, line, said):
    file = tmp_path / "in.jsonl"
    file.write_text(f"\n{line}\n")
    done = memories("import", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


def test_a_named_server_that_does_not_answer_is_an_error(memories):
    done = memories("list", "--url", f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 1
    assert "No server answers at http://127.0.0.1:" in done.stderr


def test_an_address_where_something_else_answers_is_an_error(memories):
    with ScriptedLLM.in_thread() as other:
        done = memories("list", "--url", other.url)
    assert done.returncode == 1
    assert "that is not a Mnemoir server" in done.stderr


@pytest.mark.slow
def test_without_a_server_the_data_directory_is_opened_with_a_note(tmp_path):
    memories = Commands(run, tmp_path, port=free_port())
    added = memories("add", "I live in Graz.", "--verbatim")
    assert added.returncode == 0, added.stderr
    assert f"working on {tmp_path / 'data'} directly" in added.stderr
    exported = memories("export")
    assert [json.loads(line)["memory"] for line in exported.stdout.splitlines()] == ["I live in Graz."]


@pytest.mark.slow
def test_a_directory_that_a_server_holds_is_not_opened_and_the_holder_is_named(server, tmp_path):
    done = Commands(run, tmp_path, port=free_port())("list", "--data-dir", str(server.data_dir))
    assert (done.returncode, done.stdout) == (1, "")
    assert str(server.data_dir) in done.stderr
    assert str(server.pid) in done.stderr


KEY = "a-key-of-20-characters"


@pytest.mark.slow
async def test_the_key_of_the_settings_opens_a_guarded_server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ServerOptions(port=free_port(), api_keys=[KEY])
    place: dict[str, Any] = {"HOME": str(tmp_path), "PORT": str(options.port), "MEMORY_LLM_PROVIDER": "offline"}
    parts = await open_parts(load_settings(None, {}, place))
    started = asyncio.Event()
    served = serve(create_app(parts, options), options, on_started=lambda port: started.set())
    serving = asyncio.create_task(served)
    try:
        await started.wait()
        without = await asyncio.to_thread(partial(run, "memories", "list", cwd=tmp_path, **place))
        assert (without.returncode, without.stdout) == (1, "")
        assert "API key" in without.stderr
        assert (
            await asyncio.to_thread(partial(run, "memories", "list", cwd=tmp_path, **place, API_KEYS=KEY))
        ).returncode == 0
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await parts.aclose()


@pytest.fixture
def reviewed(server, memories):
    """The commands over a project that reviews everything."""
    project = ["--project", "reviewed"]
    request = urllib.request.Request(
        f"{server.url}/api/memories/settings?project=reviewed", method="PUT", data=b'{"review": "all"}'
    )
    request.add_header("content-type", "application/json")
    urllib.request.urlopen(request).close()

    def command(*arguments):
        return memories(*arguments, *project)

    return command


def test_what_waits_is_printed_edited_approved_and_refused(reviewed, user):
    added = reviewed("add", "I live in Graz. I row every morning.", "--user", user)
    assert added.stdout.startswith("ADD waits  prp_")
    rows, lives = (line.split("  ") for line in reviewed("review", "list", "--user", user).stdout.splitlines())
    assert (lives[1:], rows[1]) == (["ADD", "Lives in Graz", "extracted"], "ADD")
    edited = reviewed("review", "edit", lives[0], "Lives near Graz")
    assert edited.stdout == f"{lives[0]}  ADD  Lives near Graz\n"
    assert f"review approve {lives[0]}" in edited.stderr
    approved = reviewed("review", "approve", lives[0], "--user", user)
    assert approved.stdout.endswith("  ADD  Lives near Graz\n")
    assert reviewed("review", "refuse", "--all", "--user", user).stderr == "Refused 1 proposal.\n"
    assert reviewed("review", "list", "--user", user).stderr == "Nothing waits.\n"
    assert reviewed("undo", approved.stdout.split("  ")[0]).returncode == 0


def test_a_review_of_what_does_not_wait_ends_with_1_or_3(reviewed, user):
    failed = reviewed("review", "approve", "prp_none", "--user", user)
    assert (failed.returncode, "There is no proposal 'prp_none' here" in failed.stderr) == (1, True)
    assert reviewed("review", "edit", "prp_none", "x").returncode == 3
    assert reviewed("review", "approve", "--user", user).returncode == 2
