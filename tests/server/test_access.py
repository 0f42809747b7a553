"""The wall of the server: one place decides whose data a request is about."""

import ast
from pathlib import Path

import pytest

import mnemoir.server
from mnemoir.core.errors import SettingsError, StorageDamaged
from mnemoir.core.scope import DEFAULT_TENANT, Principal, Role
from mnemoir.ports.memory_store import Project
from mnemoir.server.app import TABLE
from mnemoir.server.door.access import ANYBODY, Guard, admit, principal_of
from mnemoir.server.door.options import ServerOptions, check_exposure
from mnemoir.server.door.scopes import project_of
from mnemoir.server.door.table import note_found
from tests.server.server_kit import error_of

OWNERS = ("mnemoir.core.scope", "mnemoir.ports.memory_store")
SERVER = Path(mnemoir.server.__file__).parent
FROM_A_SCOPE = {"memories/later.py"}  # which a request was given before


def asked(path="/api/memories/search", query=b"", **headers):
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": query}
    note_found(scope, TABLE.find(scope))
    return scope | {"headers": sent}


def test_no_other_module_of_the_server_makes_the_principal_or_the_scope_of_a_request():
    making = set()
    for file in SERVER.rglob("*.py"):
        tree = ast.parse(file.read_text())
        scopes = {
            name.asname or name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module in ("mnemoir.core.scope", "mnemoir.ports.memory_store")
            for name in node.names
            if name.name in ("Scope", "Project", "Principal", "DEFAULT_TENANT")
        }
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if scopes & calls or "DEFAULT_TENANT" in scopes:
            making.add(file.relative_to(SERVER).as_posix())
    assert making == {"door/access.py", "door/scopes.py"} | FROM_A_SCOPE


def test_a_request_that_has_not_passed_the_guard_has_no_principal_and_no_project():
    with pytest.raises(LookupError):
        principal_of(asked())
    with pytest.raises(LookupError):
        project_of(asked(), ServerOptions())


ADMIN: tuple[Role, ...] = ("admin",)


@pytest.mark.parametrize(
    ("options", "headers", "principal"),
    [
        ({}, {}, ANYBODY),
        ({}, {"x_api_key": "unknown"}, ANYBODY),
        ({"api_keys": ("k1", "k2")}, {"x_api_key": "k2"}, Principal(key="settings:2", roles=ADMIN)),
        ({"api_keys": ("k1", "k2")}, {"authorization": "Bearer k1"}, Principal(key="settings:1", roles=ADMIN)),
        ({"api_keys": ("k1",), "admin_api_key": "k1"}, {"x_api_key": "k1"}, Principal(key="settings:1")),
    ],
)
def test_the_guard_tells_who_asks(known, options, headers, principal):
    scope = asked(**headers)
    assert Guard(ServerOptions(**options), *known).refuse(scope) is None
    assert principal_of(scope) == principal


def test_a_refused_request_has_no_principal(known):
    scope = asked(x_api_key="wrong")
    assert Guard(ServerOptions(api_keys=("k1",)), *known).refuse(scope) is not None
    with pytest.raises(LookupError):
        principal_of(scope)


def test_the_tenant_of_a_project_is_that_of_the_principal():
    scope = asked(query=b"project=kitchen")
    admit(scope, ANYBODY)
    assert project_of(scope, ServerOptions()) == Project(tenant=DEFAULT_TENANT, project="kitchen")


def test_keys_that_were_made_let_a_server_listen_where_others_reach_it():
    check_exposure(ServerOptions(host="0.0.0.0", has_stored_keys=True))
    for options in (
        ServerOptions(host="0.0.0.0"),
        ServerOptions(host="0.0.0.0", has_stored_keys=True, api_keys=("k",)),
    ):
        with pytest.raises(SettingsError, match="mnemoir keys create"):
            check_exposure(options)


async def test_while_the_keys_cannot_be_read_nobody_is_let_in(open_server, tmp_path):
    server = await open_server()
    _, text = server.parts.access.api_keys.create(role="admin", by="test")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"no database" * 999)
    for ending in ("-wal", "-shm"):
        (tmp_path / "data" / f"access.db{ending}").unlink()
    damaged.rename(tmp_path / "data" / "access.db")
    with pytest.raises(StorageDamaged):
        server.parts.access.file.look(now=True)  # as the next second does
    for headers in ({}, {"x_api_key": text}):
        assert error_of(await server.ask("GET", "/api/projects", **headers)) == (503, "storage_damaged")


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"text": "likes coffee"}), ("DELETE", None)])
async def test_a_key_that_may_only_read_changes_no_memory_whose_id_is_the_name_of_a_route(open_server, method, body):
    server = await open_server()
    create = server.parts.access.api_keys.create
    admin, reader = (create(role=role, by="test")[1] for role in ("admin", "read"))
    line = {"id": "search", "memory": "likes tea", "user_id": "mira", "created_at": "2026-01-01T00:00:00Z"}
    await server.post("/api/import", line, x_api_key=admin)
    refused = await server.ask(method, "/api/memories/search?user_id=mira", body, x_api_key=reader)
    assert error_of(refused) == (403, "forbidden")
    kept = (await server.get("/api/memories?user_id=mira", x_api_key=reader))["results"]
    assert [one["memory"] for one in kept] == ["likes tea"]
    await server.post("/api/memories/search", {"query": "tea", "user_id": "mira"}, x_api_key=reader)
