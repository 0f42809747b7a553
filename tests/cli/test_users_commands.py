"""`mnemoir users`: invitations, resets and changes on a data directory, also beside a running server."""

import json
import time
from contextlib import closing
from pathlib import Path

import pytest
import requests

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.sign_in.users import Users
from mnemoir.core.users import Grant
from mnemoir.settings import load_settings
from tests.cli.command_process import Done, run_here
from tests.serving import ServerProcess

PASSWORD = "correct horse battery"


@pytest.fixture
def mnemoir(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`mnemoir` over a data directory."""

    def run(*arguments: str, **given: str) -> Done:
        where = ("--data-dir", str(tmp_path / "data"))
        return run_here(*arguments, *where, cwd=tmp_path, capsys=capsys, **given)

    return run


def made(done: Done) -> dict:
    assert done.returncode == 0, done.stderr
    read: dict = json.loads(done.stdout)
    return read


def join(url: str, link: str, name: str) -> requests.Response:
    token = link.partition("#")[2]
    body = {"token": token, "name": name, "password": PASSWORD}
    return requests.post(f"{url}/api/auth/join", json=body, timeout=60)


def sign_in(url: str, name: str) -> int:
    body = {"name": name, "password": PASSWORD}
    return requests.post(f"{url}/api/auth/password", json=body, timeout=60).status_code


def until_open(url: str) -> None:
    """Wait until the server has seen that keys are off: it looks at the file once a second."""
    while requests.get(f"{url}/api/projects", timeout=60).status_code != 200:
        time.sleep(0.05)


@pytest.mark.costly("it runs programs")
def test_people_are_invited_and_managed_beside_a_running_server(mnemoir, tmp_path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        assert "There are no users" in mnemoir("users", "list").stderr
        first = mnemoir("users", "invite", "Anna", "--role", "admin", "--memory-user", "user")
        link = first.stdout.strip()
        assert link.startswith("http://localhost:6060/join#")
        assert "needs a key or a sign-in" in first.stderr
        assert "Anna  invited  admin, operator  until" in mnemoir("users", "list").stdout
        assert requests.get(f"{server.url}/api/projects", timeout=60).status_code == 200
        assert join(server.url, link, "anna").json()["user"]["memory_user"] == "user"
        assert requests.get(f"{server.url}/api/projects", timeout=60).status_code == 401
        assert join(server.url, link, "eve").status_code == 404
        listed = made(mnemoir("users", "list", "--json"))
        assert ([one["name"] for one in listed["users"]], listed["invitations"]) == (["anna"], [])
        assert mnemoir("users", "disable", "Anna").stdout == "anna  disabled\n"
        assert sign_in(server.url, "anna") == 401
        assert made(mnemoir("users", "enable", "anna", "--json"))["disabled"] is False
        assert sign_in(server.url, "anna") == 200
        reset = made(mnemoir("users", "reset", "anna", "--json"))
        assert join(server.url, reset["link"], "anna").status_code == 200
        assert mnemoir("users", "remove", "anna").stdout == "anna  removed\n"
        assert sign_in(server.url, "anna") == 401
        assert requests.get(f"{server.url}/api/projects", timeout=60).status_code == 401
        mnemoir("keys", "disable")
        until_open(server.url)
        log = server.log.read_text()
    assert link.partition("#")[2] not in log
    assert PASSWORD not in log


def test_links_name_the_address_of_the_settings(mnemoir, tmp_path) -> None:
    (tmp_path / "mnemoir.yaml").write_text("server: {public_url: 'https://memory.example.org/m/'}")
    told = made(mnemoir("users", "invite", "--calls", "Ann", "--project", "kitchen", "--json"))
    assert told["link"].startswith("https://memory.example.org/m/join#")


def test_links_name_the_address_that_is_given(mnemoir) -> None:
    link = mnemoir("users", "invite", "--url", "http://localhost:8000/").stdout
    assert link.startswith("http://localhost:8000/join#")
    assert "opens on this machine alone" in mnemoir("users", "invite").stderr
    assert "opens on" not in mnemoir("users", "invite", "--url", "https://memory.example.org").stderr
    assert mnemoir("users", "invite", "--url", "memory").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["invite", "--role", "boss"], "must be one of read, write, admin, operator", 1),
        (["invite", "--expires", "soon"], "--expires must be a number with m, h or d", 1),
        (["invite", "--expires", "91d"], "lasts at most 90 days", 1),
        (["reset", "nobody"], "There is no user 'nobody' here", 3),
        (["disable", "nobody"], "There is no user 'nobody' here", 3),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(mnemoir, arguments, said, code) -> None:
    done = mnemoir("users", *arguments)
    assert (done.returncode, done.stdout, said in done.stderr, done.stderr.count("\n")) == (code, "", True, 1)


def test_what_was_said_before_anybody_joined_is_given_to_a_person(mnemoir, tmp_path) -> None:
    assert mnemoir("memories", "add", "I row.", "--verbatim").returncode == 0
    with ServerProcess(tmp_path / "data") as server:
        link = mnemoir("users", "invite", "Anna", "--role", "admin").stdout.strip()
        assert join(server.url, link, "Anna").status_code == 200
    done = mnemoir("users", "adopt", "anna")
    assert (done.returncode, done.stdout) == (0, "memories  project default  of user are now of anna\n")
    assert "I row." in mnemoir("memories", "list", "--user", "anna").stdout
    assert "Nothing is kept under 'user'" in mnemoir("users", "adopt", "anna").stderr
    assert mnemoir("users", "adopt", "eve").returncode == 3


def test_who_is_disabled_or_removed_leaves_keys_that_are_named(mnemoir, tmp_path) -> None:
    with closing(AccessFile(load_settings(None, {"storage.data_dir": tmp_path / "data"}, environ={}))) as file:
        check_keys_left(mnemoir, Users(file), ApiKeys(file))


def check_keys_left(mnemoir, users: Users, keys: ApiKeys) -> None:
    eve = users.join(users.invite(Grant(role="admin"), by="test")[1], "eve")[0]
    made, _ = keys.create(role="admin", label="script", by=eve.principal.key)
    own, _ = keys.create(role="write", user="eve", by="test")
    disabled = mnemoir("users", "disable", "eve")
    assert f"key {made.id}  goes on  admin  all projects, all users  script" in disabled.stdout
    assert f"key {own.id}  goes on  write" in disabled.stdout
    assert f"mnemoir keys revoke {made.id}" in disabled.stderr
    removed = mnemoir("users", "remove", "eve", "--json")
    told = json.loads(removed.stdout)
    assert (told["removed"], told["ended_keys"]) == ("eve", [own.id])
    assert [key["id"] for key in told["live_keys"]] == [made.id]
    assert keys.get(own.id).state == "revoked"
