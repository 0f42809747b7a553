"""Keys of the settings, on a server whose access.db goes while it runs: nobody else gets in, and nothing breaks."""

import shutil
from pathlib import Path

import pytest

from mnemoir.core.data_directory import ACCESS_FILE
from tests.server.server_kit import Server, error_of
from tests.server.sign_in.page import PASSWORD

ADMIN, KEY = "admin-key-of-the-settings", "plain-key-of-the-settings"
UNKNOWN = [{}, {"x_api_key": "unknown"}, {"x_api_key": f"mn_live_abcdefgh_{'A' * 43}"}, {"cookie": "mnemoir=mns_abc"}]
REQUESTS = (
    ("GET", "/api/me", None),
    ("GET", "/api/projects", None),
    ("GET", "/api/memories?user_id=mira", None),
    ("GET", "/api/keys", None),
    ("GET", "/api/audit", None),
    ("GET", "/api/tenants", None),
    ("GET", "/api/users", None),
    ("GET", "/api/export?user_id=mira", None),
    ("GET", "/v1/models", None),
    ("GET", "/ready", None),
    ("POST", "/api/keys", {"role": "read"}),
    ("POST", "/api/invitations", {"role": "read"}),
    ("PUT", "/api/tenants", {"name": "acme"}),
    ("DELETE", "/api/memories?user_id=mira", None),
    ("POST", "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}),
)


def unlink(data: Path) -> None:
    for file in data.glob(f"{ACCESS_FILE}*"):
        file.unlink()


def empty(data: Path) -> None:
    (data / ACCESS_FILE).write_bytes(b"")


def put_a_folder(data: Path) -> None:
    unlink(data)
    (data / ACCESS_FILE).mkdir()


def remove_all(data: Path) -> None:
    unlink(data)
    (data / "identity.json").unlink()
    shutil.rmtree(data / "secrets")


WAYS = (unlink, empty, put_a_folder, remove_all)


@pytest.fixture(params=["settings alone", "and one that was made"])
async def server(request, open_server) -> tuple[Server, list[str]]:
    """A server with keys of its settings, and the keys that were made. It began without access.db."""
    server = await open_server(api_keys=(KEY, ADMIN), admin_api_key=ADMIN)
    assert server.parts.access.file.existing() is None
    made = []
    if request.param == "settings alone":
        await server.ask("GET", "/api/export?user_id=mira", x_api_key=ADMIN)  # the audit log begins
    else:
        made = [server.parts.access.api_keys.create(role="admin", by="test")[1]]
    return server, made


@pytest.mark.parametrize("lose", WAYS)
async def test_nobody_gets_in_who_should_not_and_nothing_breaks(server, tmp_path, lose):
    server, made = server
    lose(tmp_path / "data")
    for method, target, body in REQUESTS:
        for headers in (*UNKNOWN, *({"x_api_key": key} for key in made)):
            answer = await server.ask(method, target, body, **headers)
            assert answer.status in (401, 403, 429, 503), (method, target, headers)
        for key in (ADMIN, KEY):
            answer = await server.ask(method, target, body, x_api_key=key)
            assert answer.status in (200, 503), (method, target)
            assert answer.status != 503 or error_of(answer)[1].startswith("storage_"), (method, target)
    assert (await server.ask("GET", "/api/auth")).status in (200, 503)  # it tells nobody what they are not
    by_password = await server.ask("POST", "/api/auth/password", {"name": "anna", "password": PASSWORD})
    assert by_password.status in (401, 403, 503)
    assert (await server.ask("GET", "/api/projects", x_api_key=KEY)).status == 200


async def test_health_names_the_file_and_what_to_do(server, tmp_path):
    server, made = server
    unlink(tmp_path / "data")
    told = await server.ask("GET", "/health")
    assert error_of(told) == (503, "storage_damaged")
    way_back = "--begin-anew access.db" if made else "restart the server"
    assert way_back in (await server.ask("GET", "/api/keys", x_api_key=ADMIN)).body.decode()


async def test_without_keys_of_its_own_the_next_start_knows_those_of_the_settings(server, open_server, tmp_path):
    server, made = server
    unlink(tmp_path / "data")
    await server.parts.aclose()
    if made:
        return
    server = await open_server(api_keys=(KEY,))
    assert (await server.ask("GET", "/api/projects")).status == 401
    assert (await server.ask("GET", "/api/projects", x_api_key=KEY)).status == 200
