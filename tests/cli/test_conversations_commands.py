"""`mnemoir conversations` with a running server, and directly on the files."""

import json
import stat

import pytest

from tests.cli.command_process import run_here
from tests.conversations.session_kit import behind_the_back
from tests.serving import free_port

# as Open WebUI writes them
TEA = {"id": "tea/1", "title": "Tea", "chat": {"messages": [{"role": "user", "content": "The kettle is blue."}]}}
RYE = {
    "id": "search",  # what a route is called, too
    "title": None,
    "chat": {
        "messages": [
            {"role": "user", "content": "How is rye bread baked?"},
            {"role": "assistant", "content": "Slowly.\nAnd long."},
        ]
    },
}


class Commands:
    """Runs `mnemoir conversations` for one user."""

    def __init__(self, user, home, capsys, environment):
        self.user, self._home, self._capsys, self._environment = user, home, capsys, environment

    def __call__(self, name, *arguments, stdin=None):
        given = ("conversations", name, *arguments, "--user", self.user)
        return run_here(*given, cwd=self._home, capsys=self._capsys, stdin=stdin, **self._environment)

    def json(self, *arguments):
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ids(self):
        return [one["id"] for one in self.json("list")["results"]]


both_ways = pytest.mark.parametrize("conversations", ["asked of a server", "asked of the files"], indirect=True)


@pytest.fixture
def conversations(request, served, user, tmp_path, capsys):
    """The commands for somebody who has two conversations; they ask the server unless a test wants it otherwise."""
    asks_files = getattr(request, "param", "") == "asked of the files"
    at = {"MNEMOIR_SERVER__PORT": str(free_port())} if asks_files else served.environment
    commands = Commands(user, tmp_path, capsys, {"MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data"), **at})
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps([TEA, RYE]))
    done = commands("import", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert "Imported 2 conversations with 3 messages." in done.stderr
    return commands


@both_ways
def test_conversations_are_listed_a_page_at_a_time(conversations):
    whole = conversations("list")
    lines = {line.split("  ")[0]: line for line in whole.stdout.splitlines()}
    assert sorted(lines) == ["search", "tea/1"]
    assert lines["tea/1"].endswith("  1 message  Tea")
    assert lines["search"].endswith("  2 messages  How is rye bread baked?")
    first = conversations("list", "--limit", "1")
    assert first.stdout == whole.stdout.splitlines()[0] + "\n"
    after = first.stderr.rpartition("--after ")[2].strip()
    assert conversations("list", "--after", after).stdout == whole.stdout.splitlines()[1] + "\n"


def test_the_messages_of_one_are_shown(conversations):
    lines = conversations("show", "search").stdout.splitlines()
    assert lines[0].endswith("  user")
    assert lines[1:] == ["    How is rye bread baked?", lines[2], "    Slowly.", "    And long."]
    assert lines[2].endswith("  assistant")
    last = conversations.json("show", "search", "--limit", "1")
    assert [one["content"] for one in last["results"]] == ["Slowly.\nAnd long."]
    assert "There are more" in conversations("show", "search", "--limit", "1").stderr
    assert len(conversations.json("show", "search", "--branches")["results"]) == 2


def test_an_unknown_conversation_ends_with_exit_code_3(conversations):
    for command in (["show", "gone"], ["export", "gone"], ["delete", "gone", "--yes"]):
        done = conversations(*command)
        assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_an_invalid_id_is_refused_before_any_request(id, user, tmp_path, capsys):
    commands = Commands(user, tmp_path, capsys, {})
    for command in (["show", id], ["delete", id], ["export", id]):
        done = commands(*command)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"mnemoir: {id!r} ")


def test_messages_are_found(conversations):
    (line,) = conversations("search", "blue", "kettle", "--mode", "keyword").stdout.splitlines()
    assert line.startswith("tea/1  #")
    assert line.endswith("  user  The kettle is blue.")
    within = conversations.json("search", "bread", "--conversation", "search", "--role", "user")
    assert {hit["conversation_id"] for hit in within["results"]} == {"search"}
    assert "Nothing was found." in conversations("search", "kettle", "--until", "2001-01-01T00:00:00Z").stderr


def test_what_only_stands_beside_a_found_message_comes_below_a_line(conversations):
    found, line, beside = conversations("search", "bread", "--mode", "keyword").stdout.splitlines()
    assert (found.split("  ")[-1], line) == ("How is rye bread baked?", "--- less likely ---")
    assert beside.endswith("  assistant  Slowly. And long.")


def test_words_that_nobody_said_find_nothing_above_that_line(conversations):
    for words in (["purple", "submarine"], ["xylophone"]):
        found = conversations("search", *words).stdout.splitlines()
        assert found == [] or found[0] == "--- less likely ---"


def test_one_conversation_is_exported_to_a_file(conversations, tmp_path):
    file = tmp_path / "rye.md"
    done = conversations("export", "search", "--format", "markdown", "--output", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "How is rye bread baked?" in file.read_text()
    assert file.read_text() == conversations("export", "search", "--format", "markdown").stdout


@both_ways
def test_all_conversations_are_exported_and_imported(conversations, tmp_path):
    file = tmp_path / "all.jsonl"
    assert conversations.json("export", "--output", str(file)) == {"bytes": file.stat().st_size}
    again = conversations("import", str(file))
    assert again.returncode == 0
    assert "Skipped Tea: " in again.stderr
    planned = conversations.json("import", str(file), "--on-conflict", "rename", "--dry-run")
    assert planned["conversations"] == 2
    assert sorted(conversations.ids()) == ["search", "tea/1"]
    conversations("import", str(file), "--on-conflict", "rename")
    assert len(conversations.ids()) == 4


@both_ways
def test_an_export_of_all_that_is_incomplete_says_so_and_ends_with_exit_code_1(conversations, user, served, tmp_path):
    (database,) = {*tmp_path.rglob(f"{user}/conversations.db"), *served.data_dir.rglob(f"{user}/conversations.db")}
    with behind_the_back(database) as file:
        file.execute("UPDATE messages SET role = 'narrator' WHERE session_id = 'tea/1'")
    database.with_name("conversations.db.corrupt-20260101T000000000000Z").touch()
    file = tmp_path / "all.jsonl"
    done = conversations("export", "--output", str(file))
    assert done.returncode == 1
    assert "Incomplete: tea/1: damaged messages: 1." in done.stderr
    assert "conversations.db.corrupt-20260101T000000000000Z" in done.stderr
    assert "How is rye bread baked?" in file.read_text()
    told = json.loads(conversations("export", "--output", str(file), "--json").stdout)
    assert (told["bytes"], told["missing"][0]["id"]) == (file.stat().st_size, "tea/1")
    assert conversations("import", str(file), "--on-conflict", "rename").returncode == 0


def test_all_are_written_as_json_lines_alone(conversations):
    assert conversations("export", "--format", "markdown").returncode == 2


def test_a_file_of_an_unknown_format_is_refused(conversations, tmp_path):
    file = tmp_path / "odd.json"
    file.write_text("{")
    done = conversations("import", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(conversations.ids()) == 2


def test_a_conversation_is_deleted_after_confirmation(conversations):
    assert conversations("delete", "tea/1", stdin="n\n").returncode == 1
    assert sorted(conversations.ids()) == ["search", "tea/1"]
    done = conversations("delete", "tea/1", stdin="y\n")
    assert done.returncode == 0
    assert "memories made of them: 0." in done.stderr
    assert conversations.json("delete", "search", "--yes")["messages"] == 2
    assert conversations.ids() == []


@both_ways
def test_old_conversations_are_pruned(conversations):
    assert conversations.json("prune", "--days", "3", "--dry-run")["ids"] == []
    refused = conversations("prune", "--days", "3", "--yes")
    assert (refused.returncode, "nothing tells yet whether the clock is right" in refused.stderr) == (1, True)
    assert sorted(conversations.json("prune", "--days", "0", "--dry-run")["ids"]) == ["search", "tea/1"]
    assert conversations("prune", "--days", "0", stdin="n\n").returncode == 1
    assert len(conversations.ids()) == 2
    assert sorted(conversations("prune", "--days", "0", "--yes").stdout.split()) == ["search", "tea/1"]
    assert conversations.ids() == []


@both_ways
def test_a_list_without_anything_says_so(conversations):
    conversations.user = "nobody"
    done = conversations("list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "There are no conversations of 'nobody'." in done.stderr


def test_nothing_is_said_of_a_server_to_whoever_names_the_data_directory(tmp_path, capsys):
    done = run_here("conversations", "list", "--data-dir", "data", cwd=tmp_path, capsys=capsys)
    assert (done.returncode, done.stderr) == (0, "There are no conversations of 'user'.\n")


def test_an_import_of_memories_tells_what_it_leaves_out(served, user, tmp_path, capsys):
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps({"results": [{"memory": "Bakes rye"}], "relations": [{"source": "a", "target": "b"}]}))
    done = run_here("import", str(file), "--user", user, cwd=tmp_path, capsys=capsys, **served.environment)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Left out, as memories have no place for it: 1 of relations." in done.stderr
    assert "Imported: 1 memory; there already: 0." in done.stderr
