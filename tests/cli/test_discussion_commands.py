"""`mnemoir discussions` over a config tree, with a running server and directly on the files."""

import json
import stat
from functools import partial

import pytest

from tests.cli.command_process import run_here
from tests.scripted_llm import ScriptedLLM, failure
from tests.server.served_tree import served
from tests.serving import ServerProcess, free_port

REMEMBERING = {
    "endpointName": "Main",
    "systemPrompt": "You sum up.",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 20,
    "lookbackStartTurn": 0,
}
SAID = [{"role": "user", "content": f"My cup number {n} is made of very thin blue china."} for n in range(4)]


@pytest.fixture(scope="module")
def llm():
    """The scripted model that summarises chunks."""
    with ScriptedLLM.in_thread() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def environment(tmp_path_factory, llm):
    """Settings of a tree whose user makes chunk summaries."""
    settings = served(
        tmp_path_factory.mktemp("tree"),
        llm.url,
        files={"Workflows/Ann/Memory.json": REMEMBERING},
        user={"discussionIdMemoryFileWorkflowSettings": "Memory"},
    )
    return {
        "MNEMOIR_WORKFLOWS__CONFIG_DIR": settings["workflows.config_dir"],
        "MNEMOIR_WORKFLOWS__USERS": settings["workflows.users"],
        "MNEMOIR_LLM__TRIES": "1",
    }


@pytest.fixture(scope="module")
def port(tmp_path_factory, environment):
    """That of a running server."""
    with ServerProcess(tmp_path_factory.mktemp("served") / "data", environment=environment) as running:
        yield running.port


class Commands:
    """Runs `mnemoir discussions` with the settings of one server."""

    def __init__(self, home, capsys, environment):
        self._run = partial(run_here, "discussions", cwd=home, capsys=capsys, **environment)

    def __call__(self, *arguments, stdin=None):
        return self._run(*arguments, stdin=stdin)

    def json(self, *arguments):
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=["asked of a server", "asked of the files"])
def discussions(request, port, environment, llm, tmp_path, capsys):
    """The commands in both ways; the model has been asked nothing yet."""
    llm.clear()
    place = {"MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data")}
    at = port if request.param == "asked of a server" else free_port()
    return Commands(tmp_path, capsys, {**environment, **place, "MNEMOIR_SERVER__PORT": str(at)})


@pytest.fixture
def said(tmp_path):
    """A file with a conversation."""
    file = tmp_path / "said.json"
    file.write_text(json.dumps(SAID))
    return str(file)


@pytest.fixture
def tea(discussions, said, request):
    """The id of a discussion, odd enough, of which something is remembered; each test has its own."""
    id = f"tea/{request.node.name} 50%"
    done = discussions("rebuild", id, "--from", said, "--yes")
    assert done.returncode == 0, done.stderr
    return id


def test_a_rebuild_prints_each_chunk_without_a_terminal(discussions, said, llm):
    done = discussions("rebuild", "told", "--from", said, "--yes")
    assert (done.returncode, done.stdout) == (0, "")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("No server runs")]
    assert lines == [*(f"{n} of 4 chunks" for n in (1, 2, 3, 4)), "Made memories of 4 chunks."]
    assert len(llm.requests) == 4


def test_a_dry_run_calls_no_model(discussions, said, llm):
    done = discussions("rebuild", "planned", "--from", said, "--dry-run")
    assert done.stdout.startswith("4 chunks of 4 messages, about ")
    assert discussions.json("rebuild", "planned", "--from", said, "--dry-run")["chunks"] == 4
    assert llm.requests == []
    assert discussions("show", "planned").returncode == 3


def test_a_rebuild_asks_first(discussions, said, llm):
    refused = discussions("rebuild", "asked", "--from", said, stdin="n\n")
    assert refused.returncode == 1
    assert "Make memories of 4 chunks" in refused.stderr
    assert llm.requests == []
    assert discussions("rebuild", "asked", "--from", said, stdin="y\n").returncode == 0


def test_a_rebuild_without_a_file_reads_the_kept_words(discussions, tea, llm):
    llm.clear()
    last = discussions.json("rebuild", tea, "--yes")
    assert (last["done"], last["all"], last["finished"]) == (4, 4, True)
    assert len(llm.requests) == 4


def test_a_rebuild_that_stops_halfway_says_so_and_fails(discussions, said, llm):
    llm.queue(failure(500))
    done = discussions("rebuild", "halfway", "--from", said, "--yes")
    assert done.returncode == 1
    assert "Only 0 of 4 chunks were done, so the old memories stay." in done.stderr


@pytest.mark.parametrize("content", ["{", "{}", '"x"', '[{"role": "user"}]', '{"messages": 1}'])
def test_a_file_without_a_conversation_is_refused(discussions, tmp_path, llm, content):
    file = tmp_path / "odd.json"
    file.write_text(content)
    done = discussions("rebuild", "odd", "--from", str(file), "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert llm.requests == []


def test_a_conversation_may_stand_in_the_body_of_a_request(discussions, tmp_path):
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"model": "mnemoir", "messages": SAID}))
    assert discussions.json("rebuild", "body", "--from", str(file), "--dry-run")["messages"] == 4


def test_discussions_are_listed(discussions, tea):
    line = next(line for line in discussions("list").stdout.splitlines() if line.startswith(f"{tea}  "))
    assert "  4 chunk summaries, 0 records, " in line
    assert tea in [one["id"] for one in discussions.json("list")["results"]]


def test_a_list_goes_on_where_it_ended(discussions, said):
    for id in ("~1", "~2"):  # behind all others
        discussions("rebuild", id, "--from", said, "--yes")
    first = discussions("list", "--limit", "1", "--after", "~1")
    assert first.stdout.startswith("~2  ")
    assert discussions("list", "--after", "~2").stdout == ""
    assert "More follow with --after " in discussions("list", "--limit", "1").stderr


def test_one_is_shown(discussions, tea):
    lines = discussions("show", tea).stdout.splitlines()
    assert lines[0] == tea
    assert lines[2:] == ["Last chunk summaries:", *["  - Understood."] * 3]
    assert discussions.json("show", tea)["chunk_summaries"] == 4


def test_a_discussion_is_exported_and_imported(discussions, tea, tmp_path):
    file = tmp_path / "tea.json"
    done = discussions("export", tea, str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    printed = json.loads(discussions("export", tea).stdout)
    assert printed == json.loads(file.read_text())
    copy = f"{tea} copy"
    assert discussions.json("import", copy, str(file))["chunk_summaries"] == 4
    refused = discussions("import", copy, str(file))
    assert refused.returncode == 1
    assert "already" in refused.stderr
    assert discussions("import", copy, str(file), "--replace").returncode == 0
    again = json.loads(discussions("export", copy).stdout)
    assert [one["source"] for one in again["chunk_summaries"]] == [[message] for message in SAID]


@pytest.mark.parametrize("place", ["missing/tea.json", "said.json/tea.json", "folder"])
def test_an_export_that_cannot_be_written_says_so(discussions, tea, tmp_path, place):
    (tmp_path / "folder").mkdir()
    done = discussions("export", tea, str(tmp_path / place))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{tmp_path / place} cannot be written: " in done.stderr
    assert list(tmp_path.rglob("*.partial")) == []


def test_records_are_found_by_words_and_by_phrases(discussions, tmp_path):
    chunk = {"hash": "a" * 64, "records": [record("The kettle is old."), record("He drinks green tea.")]}
    file = tmp_path / "records.json"
    parts = {"rolling_summary": None, "chunk_summaries": [], "record_chunks": [chunk]}
    file.write_text(json.dumps({"format": "mnemoir-discussion", "version": 1} | parts))
    discussions("import", "found", str(file), "--replace")
    found = [line.split("  ")[2] for line in discussions("search", "found", "green tea").stdout.splitlines()]
    assert found == ["He drinks green tea."]
    found = discussions.json("search", "found", "kettle", "green", "--limit", "2")
    assert len(found["results"]) == 2
    assert discussions("search", "found", "kettle", "--hybrid").stdout.count("kettle") == 1


def record(summary):
    """A record as an export has it."""
    return {"metadata": {"title": "", "summary": summary, "entities": [], "key_phrases": []}}


def test_a_discussion_is_deleted_after_confirmation(discussions, tea):
    assert discussions("delete", tea, stdin="n\n").returncode == 1
    assert discussions("show", tea).returncode == 0
    assert discussions("delete", tea, "--yes").returncode == 0
    done = discussions("show", tea)
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_an_invalid_id_is_refused(discussions, id):
    for command in (["show", id], ["delete", id], ["forget", id, "key"], ["forget", "tea", id], ["export", id]):
        done = discussions(*command)
        assert done.returncode == 1
        assert done.stderr.startswith(f"mnemoir: {id!r} ")  # and nothing was asked before


def test_a_user_who_is_not_served_is_refused(discussions):
    done = discussions("list", "--user", "otto")
    assert done.returncode == 1
    assert "otto" in done.stderr
    assert discussions("list", "--user", "ann").returncode == 0
