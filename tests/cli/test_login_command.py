"""`mnemoir login` and `logout`: a person's own way to a server that needs keys, kept for each server."""

import json
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import requests

from mnemoir.access.access_file import AccessFile
from mnemoir.access.sign_in.users import Users
from mnemoir.core.users import Grant
from mnemoir.settings import load_settings
from tests.cli.command_process import Done, run_here
from tests.narrowing import present
from tests.serving import ServerProcess

PASSWORD = "correct horse battery"
Mnemoir = Callable[..., Done]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that Anna may sign in to."""
    with ServerProcess(tmp_path_factory.mktemp("logins") / "data") as running:
        with people(running) as users:
            _, token = users.invite(Grant(role="write"), by="test")
        body = {"token": token, "name": "Anna", "password": PASSWORD}
        requests.post(f"{running.url}/api/auth/join", json=body, timeout=30).raise_for_status()
        yield running


@contextmanager
def people(server: ServerProcess) -> Iterator[Users]:
    """The users of a server's data directory."""
    settings = load_settings(None, {"storage.data_dir": str(server.data_dir)}, environ={})
    with closing(AccessFile(settings)) as file:
        yield Users(file)


@pytest.fixture
def mnemoir(server: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Mnemoir:
    """`mnemoir` at that server."""

    def run(*arguments: str, stdin: str = "", **given: str) -> Done:
        return run_here(*arguments, "--url", server.url, cwd=tmp_path, capsys=capsys, stdin=stdin, **given)

    return run


def logged_in(mnemoir: Mnemoir) -> None:
    done = mnemoir("login", "--name", "anna", stdin=f"{PASSWORD}\n")
    assert done.returncode == 0, done.stderr


def test_commands_call_the_server_as_whoever_logged_in(
    mnemoir: Mnemoir, server: ServerProcess, tmp_path: Path
) -> None:
    assert mnemoir("memories", "list", "--user", "anna").returncode == 1
    done = mnemoir("login", stdin=f"Anna\n{PASSWORD}\n")
    assert (done.returncode, done.stdout) == (0, f"Logged in to {server.url} as Anna\n")
    assert mnemoir("memories", "list", "--user", "anna").returncode == 0
    assert mnemoir("memories", "list", "--user", "ben").stdout == ""
    assert mnemoir("memories", "add", "I row.", "--verbatim", "--user", "ben").returncode == 3
    kept = tmp_path / ".config" / "mnemoir" / "logins.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert PASSWORD not in kept.read_text()


def test_a_wrong_password_leaves_no_login(mnemoir: Mnemoir, tmp_path: Path) -> None:
    done = mnemoir("login", "--name", "anna", stdin="another password\n")
    assert (done.returncode, "wrong" in done.stderr) == (1, True)
    assert not (tmp_path / ".config" / "mnemoir" / "logins.json").exists()


def test_logging_out_ends_it_at_the_server_too(mnemoir: Mnemoir, server: ServerProcess, tmp_path: Path) -> None:
    logged_in(mnemoir)
    kept = json.loads((tmp_path / ".config" / "mnemoir" / "logins.json").read_bytes())
    sent = {"authorization": f"Bearer {kept[server.url]['token']}"}
    assert requests.get(f"{server.url}/api/me", headers=sent, timeout=30).json()["name"] == "Anna"
    assert mnemoir("logout").stdout == f"Logged out of {server.url}\n"
    assert requests.get(f"{server.url}/api/me", headers=sent, timeout=30).status_code == 401
    assert mnemoir("memories", "list", "--user", "anna").returncode == 1
    assert mnemoir("logout").returncode == 3


def test_a_login_that_has_ended_says_how_to_go_on(mnemoir: Mnemoir, server: ServerProcess) -> None:
    logged_in(mnemoir)
    with people(server) as users:
        anna = users.change(users.user_by_name("anna"), is_disabled=True)
    ended = mnemoir("memories", "list", "--user", "anna")
    with people(server) as users:
        users.change(anna, is_disabled=False)
    assert (ended.returncode, "Run `mnemoir login` again" in ended.stderr) == (1, True)


def test_the_key_of_the_environment_goes_before_the_login(mnemoir: Mnemoir) -> None:
    logged_in(mnemoir)
    other = mnemoir("memories", "list", "--user", "anna", MNEMOIR_API_KEY="mn_live_aaaaaaaa_" + "x" * 43)
    assert (other.returncode, "valid API key" in other.stderr) == (1, True)


def test_the_token_is_no_cookie_and_a_cookie_is_no_token(mnemoir: Mnemoir, server: ServerProcess) -> None:
    said = {"name": "anna", "password": PASSWORD}
    token = requests.post(f"{server.url}/api/auth/terminal", json=said, timeout=30).json()["token"]
    signed_in = requests.post(f"{server.url}/api/auth/password", json=said, timeout=30)
    ((name, in_cookie),) = [one for one in signed_in.cookies.items() if "-device-" not in one[0]]
    as_cookie = requests.get(f"{server.url}/api/memories", cookies={name: token}, timeout=30)
    as_key = requests.get(f"{server.url}/api/memories", headers={"x-api-key": present(in_cookie)}, timeout=30)
    assert (as_cookie.status_code, as_key.status_code) == (401, 401)
    assert requests.get(f"{server.url}/v1/models", headers={"x-api-key": token}, timeout=30).status_code == 200
