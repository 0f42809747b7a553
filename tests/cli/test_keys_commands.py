"""`mnemoir keys`: on a data directory, beside a running server, and what the other commands then need."""

import json
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest
import requests

from tests.cli.command_process import Done, run_here
from tests.serving import ServerProcess, free_port


@pytest.fixture
def mnemoir(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`mnemoir` over a data directory."""

    def run(*arguments: str, over: bool = True, **given: str) -> Done:
        where = ("--data-dir", str(tmp_path / "data")) if over else ()
        return run_here(*arguments, *where, cwd=tmp_path, capsys=capsys, **given)

    return run


def made(done: Done) -> dict:
    assert done.returncode == 0, done.stderr
    read: dict = json.loads(done.stdout)
    return read


def test_the_first_key_is_shown_once_and_says_what_it_changes(mnemoir) -> None:
    done = mnemoir("keys", "create", "--role", "admin", "--label", "mine")
    text = done.stdout.strip()
    assert text.startswith("mn_live_")
    assert "This is the first key" in done.stderr
    assert "`mnemoir keys disable`" in done.stderr
    second = mnemoir("keys", "create", "--user", "anna", "--project", "kitchen", "--expires", "90d")
    assert "This is the first key" not in second.stderr
    listed = mnemoir("keys", "list")
    assert "admin  all projects, all users  mine" in listed.stdout
    assert "write  project kitchen, user anna" in listed.stdout
    assert text[-43:] not in listed.stdout


def test_keys_are_rotated_and_revoked(mnemoir) -> None:
    old = made(mnemoir("keys", "create", "--json"))
    new = made(mnemoir("keys", "rotate", old["id"], "--overlap", "30m", "--json"))
    assert mnemoir("keys", "revoke", new["id"]).stdout == f"{new['id']}  revoked\n"
    listed = made(mnemoir("keys", "list", "--json"))
    assert [(key["id"], key["state"], key["replaced_by"]) for key in listed["keys"]] == [
        (old["id"], "valid", new["id"]),
        (new["id"], "revoked", None),
    ]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["create", "--role", "boss"], "must be one of read, write, admin, operator", 1),
        (["create", "--expires", "soon"], "--expires must be a number with m, h or d", 1),
        (["create", "--expires", "2001-01-01"], "would have expired already", 1),
        (["rotate", "nope"], "There is no key 'nope' here", 3),
        (["revoke", "nope"], "There is no key 'nope' here", 3),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(mnemoir, arguments, said, code) -> None:
    done = mnemoir("keys", *arguments)
    assert (done.returncode, done.stdout, said in done.stderr, done.stderr.count("\n")) == (code, "", True, 1)


def test_the_commands_work_on_the_data_directory_without_a_key(mnemoir) -> None:
    mnemoir("keys", "create")
    assert mnemoir("memories", "add", "Rows on the lake", "--verbatim").returncode == 0
    assert "Rows on the lake" in mnemoir("memories", "list").stdout


def test_the_quotas_of_a_key_are_listed_and_go_on_with_the_next_one(mnemoir) -> None:
    limits = {"memories": 100, "tokens_day": 50000}
    old = made(mnemoir("keys", "create", "--limit", "tokens_day=50000", "--limit", "memories=100", "--json"))
    assert old["limits"] == limits
    new = made(mnemoir("keys", "rotate", old["id"], "--json"))
    mnemoir("keys", "create", "--label", "free")
    listed = {key["id"]: key["limits"] for key in made(mnemoir("keys", "list", "--json"))["keys"]}
    assert (listed[old["id"]], listed[new["id"]], list(listed.values()).count({})) == (limits, limits, 1)
    assert "at most memories=100, tokens_day=50000" in mnemoir("keys", "list").stdout


def await_status(status: int, url: str) -> None:
    """Wait until a request without a key has this status: a running server looks at the keys once a second."""
    deadline = time.monotonic() + 300
    while requests.get(url, timeout=60).status_code != status:
        assert time.monotonic() < deadline


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
def test_a_running_server_needs_keys_from_the_first_one_on_until_they_are_switched_off(mnemoir, tmp_path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        asked = f"{server.url}/api/projects"
        assert requests.get(asked, timeout=60).status_code == 200
        key = made(mnemoir("keys", "create", "--role", "admin", "--json"))["key"]
        assert requests.get(asked, timeout=60).status_code == 401
        assert requests.get(asked, timeout=60, headers={"x-api-key": key}).status_code == 200
        refused = mnemoir("memories", "list", "--url", server.url, over=False)
        assert (refused.returncode != 0, "API key" in refused.stderr) == (True, True)
        listed = mnemoir("memories", "list", "--url", server.url, over=False, MNEMOIR_API_KEY=key)
        assert listed.returncode == 0
        mnemoir("keys", "disable")
        await_status(200, asked)
        assert "is required again" in mnemoir("keys", "enable").stderr
        await_status(401, asked)
        log = server.log.read_text()
    assert key not in log


@pytest.mark.costly("it runs programs")
def test_keys_and_people_are_those_of_the_server_that_runs_at_the_address_of_the_settings(mnemoir, tmp_path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        there = {"MNEMOIR_SERVER__PORT": str(server.port), "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "other")}
        first = mnemoir("keys", "create", "--role", "admin", "--json", over=False, **there)
        assert f"Changed in the data directory {tmp_path / 'data'}." in first.stderr
        await_status(401, f"{server.url}/api/projects")
        for command in (["keys", "create"], ["keys", "list"], ["users", "invite"], ["audit", "list"]):
            refused = mnemoir(*command, over=False, **there)
            assert (refused.returncode, "Name its directory, or this one, with --data-dir" in refused.stderr) == (
                1,
                True,
            )
        with_key = {**there, "MNEMOIR_API_KEY": made(first)["key"]}
        invited = mnemoir("users", "invite", "anna", over=False, **with_key)
        assert f"Changed in the data directory {tmp_path / 'data'}." in invited.stderr
        assert len(made(mnemoir("keys", "list", "--json", over=False, **with_key))["keys"]) == 1
        named = mnemoir("keys", "create", "--data-dir", str(tmp_path / "named"), over=False, **there)
        assert f"Changed in the data directory {tmp_path / 'named'}." in named.stderr
        same = mnemoir("keys", "list", over=False, **{**there, "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data")})
        assert same.returncode == 0
    assert not (tmp_path / "other").exists()


def test_without_a_server_keys_are_those_of_the_settings_and_their_directory_is_named(mnemoir, tmp_path) -> None:
    where = {"MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "own"), "MNEMOIR_SERVER__PORT": str(free_port())}
    for command in (["create"], ["disable"], ["enable"]):
        assert (
            f"Changed in the data directory {tmp_path / 'own'}."
            in mnemoir("keys", *command, over=False, **where).stderr
        )


def test_the_audit_log_is_listed_and_verified_and_a_change_of_it_shows(mnemoir, tmp_path) -> None:
    assert "There are no entries" in mnemoir("audit", "list").stderr
    key = made(mnemoir("keys", "create", "--json"))
    mnemoir("keys", "revoke", key["id"])
    listed = mnemoir("audit", "list").stdout.splitlines()
    assert [line.split("  ")[2:] for line in listed] == [
        ["command line", "keys.revoke", "done", key["id"]],
        ["command line", "keys.create", "done", key["id"]],
    ]
    assert mnemoir("audit", "verify").returncode == 0
    with closing(apsw.Connection(str(tmp_path / "data" / "access.db"))) as connection:
        connection.execute("DELETE FROM audit WHERE number = 1")
    found = mnemoir("audit", "verify")
    assert (found.returncode, found.stdout) == (1, "entries 1 to 1 are missing\n")
