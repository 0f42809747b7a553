"""Every route against every kind of key: what each takes, and that elsewhere looks like nowhere."""

import asyncio
import json
import re
from collections import Counter
from contextlib import closing
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.core.ids import new_memory_id
from mnemoir.core.scope import acting
from mnemoir.server.app import TABLE
from mnemoir.server.door.routing import Routing
from mnemoir.server.door.says import Says
from mnemoir.storage.sql.engine import queries as queries_of
from mnemoir.storage.sqlite.database import Readers
from mnemoir.storage.sqlite.transactions import SqliteSql
from tests.narrowing import present
from tests.scripted_issuer import AUDIENCE, ScriptedIssuer
from tests.server.described import Description
from tests.server.route_table import known_body, known_query, layer_of
from tests.server.sign_in.page import joined
from tests.server.storages import database_settings  # noqa: F401  # the fixture

CELLO = "Plays the cello on Tuesdays"
# the written matrix, a second opinion on what routes say of themselves: right, bucket, act, method, paths.
# A route that is not here, or says something else, fails the first test.
OPEN, SIGNING_IN = "open", "signing_in"
ANY, READ, WRITE, ADMIN, MANAGE, SERVER = "any", "read", "write", "admin", "manage", "server"
MATRIX = """
open       -      -                        GET    /api/health /health /auth/callback /auth/callback.js /docs
open       -      -                        GET    /docs/try.js /openapi.json / /api/version
open       -      -                        GET    /.well-known/{document} /mcp/.well-known/{document}
open       -      -                        POST   /register
any        read   -                        POST   /mcp
signing_in -      -                        GET    /api/auth /api/auth/oidc/{provider}/start
signing_in -      -                        POST   /api/auth/password /api/auth/recovery /api/auth/sign-out
signing_in -      -                        POST   /api/auth/invitation /api/auth/join /api/auth/first-code
signing_in -      -                        POST   /api/auth/terminal /api/auth/oidc/{provider}/start
signing_in -      -                        POST   /api/auth/oidc/finish /api/auth/passkey/options
signing_in -      -                        POST   /api/auth/passkey /api/auth/join/passkey/options
any        read   -                        GET    /api/me /api/me/passkeys /api/me/sessions /api/usage
any        read   -                        GET    /api/model /api/model/embedding
any        read   -                        POST   /api/me/passkeys/options /api/me/passkeys /api/me/confirm
any        read   -                        POST   /api/me/recovery-codes
any        read   -                        PUT    /api/me/password
any        read   -                        PATCH  /api/me
any        read   -                        DELETE /api/me/passkeys/{passkey_id} /api/me/sessions/{session_id}
read       read   -                        GET    /api/memories /api/projects /api/sample
read       read   -                        GET    /api/memories/extraction-prompt /api/memories/settings
read       read   -                        GET    /api/events/{event_id} /api/memories/{memory_id}/details
read       read   -                        GET    /api/memories/changes /api/memories/proposals
read       read   -                        GET    /api/memories/duplicates /api/memories/{user_id}/timeline
read       read   -                        GET    /api/memories/{memory_id}/recalls
read       read   -                        GET    /api/imports /api/imports/{import_id}
read       read   -                        GET    /api/imports/{import_id}/estimate
read       read   -                        GET    /api/conversations/{id}/messages/{message_id}/learned
read       read   -                        GET    /api/memories/{memory_id}/history /api/memories/{user_id}
read       read   -                        GET    /api/runs /api/runs/live /api/runs/{run_id}/summary
read       read   -                        GET    /api/runs/{run_id}/memories /api/runs/{run_id}/curl
read       read   -                        GET    /api/runs/{run_id} /api/workflows /api/discussions
read       read   -                        GET    /api/discussions/{id}/memories /api/discussions/{id}/summary
read       read   -                        GET    /api/discussions/{id} /api/conversations
read       read   -                        GET    /api/conversations/{id} /api/conversations/{id}/messages
read       read   -                        GET    /api/conversations/{id}/answers
read       read   -                        GET    /api/conversations/{id}/answers/{answer_id}
read       read   -                        GET    /api/conversations/{id}/node-memory
read       read   -                        GET    /api/conversations/{id}/node-memory/{memory}
read       read   -                        GET    /api/conversations/{id}/window
read       read   -                        GET    /api/conversations/{id}/attachments
read       read   -                        GET    /api/conversations/{id}/attachments/{name}
read       read   -                        GET    /api/conversations/{id}/branches /api/files /api/files/{name}
read       read   -                        GET    /v1/models /models /api/page/models /v1/models/{model_id}
read       read   -                        GET    /models/{model_id} /api/tags /api/ps /api/blobs/{digest}
read       read   -                        POST   /api/show
read       read   conversations.export     GET    /api/conversations/export /api/conversations/{id}/export
read       read   discussions.export       GET    /api/discussions/{id}/export
read       read   memories.export          GET    /api/export
read       search -                        GET    /api/discussions/{id}/search /api/conversations/search
read       search -                        GET    /api/memories/{user_id}/map
read       search -                        POST   /api/memories/search /api/memories/recall
write      add    -                        POST   /api/memories /api/memories/changes/{change_id}/undo
write      add    -                        POST   /api/memories/plans/{plan_id}/apply
write      add    -                        POST   /api/memories/proposals/approve /api/memories/proposals/refuse
write      add    -                        POST   /api/memories/proposals/{proposal_id}/approve
write      add    -                        POST   /api/memories/proposals/{proposal_id}/refuse
write      add    -                        POST   /api/memories/merge /api/memories/{memory_id}/restore
write      add    -                        POST   /api/memories/batch
write      add    -                        POST   /api/discussions/{id}/rebuild /api/conversations
write      add    -                        POST   /api/conversations/{id}/branch /api/conversations/{id}/flush
write      add    -                        POST   /api/conversations/{id}/messages /api/pull /api/push
write      add    -                        POST   /api/create /api/copy /api/delete /api/blobs/{digest}
write      add    -                        PUT    /api/conversations/{id}/head
write      add    -                        PATCH  /api/memories/proposals/{proposal_id}
write      add    -                        PATCH  /api/memories/{memory_id} /api/conversations/{id}
write      add    -                        PATCH  /api/conversations/{id}/messages/{message_id}
write      add    -                        DELETE /api/chat /api/generate /api/memories/{memory_id}
write      add    -                        DELETE /api/discussions/{id}/memories/{key}
write      add    -                        DELETE /api/conversations/{id}/answers/{answer_id}
write      add    -                        DELETE /api/conversations/{id}/node-memory
write      add    -                        DELETE /api/conversations/{id}/node-memory/{memory} /api/pull
write      add    -                        DELETE /api/push /api/create /api/copy /api/delete
write      add    conversations.forget     DELETE /api/conversations/{id}
write      add    discussions.forget       DELETE /api/discussions/{id}
write      add    discussions.import       POST   /api/discussions/{id}/import
write      chat   -                        POST   /v1/chat/completions /chat/completions
write      chat   -                        POST   /api/page/chat/completions /v1/completions /completions
write      chat   -                        POST   /api/chat /api/generate
write      search -                        POST   /v1/embeddings /embeddings /api/embed /api/embeddings
admin      admin  -                        GET    /api/holds /api/workflows/saving /api/workflows/problems
admin      admin  -                        GET    /api/workflows/graph /api/workflows/schema/{kind}
admin      admin  -                        GET    /api/workflows/files/{path} /api/workflows/kept/{path}
admin      admin  -                        POST   /api/workflows/check /api/workflows/try
admin      admin  conversations.delete_all DELETE /api/conversations
admin      admin  conversations.import     POST   /api/conversations/import
admin      admin  conversations.prune      POST   /api/conversations/prune
admin      admin  holds.change             PUT    /api/holds/{user_id}
admin      admin  holds.change             DELETE /api/holds/{user_id}
admin      admin  memories.delete_all      DELETE /api/memories
admin      admin  imports.learn            POST   /api/imports/{import_id}/learn
admin      admin  imports.stop             POST   /api/imports/{import_id}/stop
admin      admin  imports.undo             POST   /api/imports/{import_id}/undo
admin      admin  memories.import          POST   /api/import
admin      admin  node_memory.cleanup      POST   /api/conversations/node-memory/cleanup
admin      admin  settings.change          PUT    /api/memories/extraction-prompt /api/memories/settings
admin      admin  sample.remove            DELETE /api/sample
admin      admin  sample.store             POST   /api/sample
admin      admin  settings.change          DELETE /api/memories/extraction-prompt
admin      admin  subjects.erase           POST   /api/subjects/{user_id}/erase
admin      admin  subjects.export          POST   /api/subjects/{user_id}/export
admin      admin  workflows.change         POST   /api/workflows/kept/{path}
admin      admin  workflows.change         PUT    /api/workflows/files/{path}
manage     admin  -                        GET    /api/keys /api/tenants /api/audit /api/auth/clients /api/users
manage     admin  -                        GET    /api/users/memory /api/invitations /api/model/found
manage     admin  -                        GET    /api/users/{user_id}/adopt
manage     admin  -                        POST   /api/keys /api/keys/{key_id}/rotate /api/users/{user_id}/reset
manage     admin  -                        POST   /api/invitations /api/model/test /api/model/list
manage     admin  -                        POST   /api/model/embedding/test /api/model/embedding/list
manage     admin  -                        PUT    /api/tenants
manage     admin  -                        PATCH  /api/users/{user_id}
manage     admin  -                        DELETE /api/keys/{key_id} /api/users/{user_id}
manage     admin  -                        DELETE /api/invitations/{invitation_id}
manage     admin  model.change             PUT    /api/model /api/model/embedding
manage     admin  model.change             DELETE /api/model /api/model/embedding
manage     admin  users.adopt              POST   /api/users/{user_id}/adopt
server     admin  -                        GET    /ready /metrics /api/status /api/status/latencies
server     admin  -                        GET    /api/status/growth /api/clients
server     admin  -                        GET    /api/status/jobs
server     admin  -                        POST   /api/status/check /api/status/jobs/{job_id}/retry
server     admin  retention.run            POST   /api/retention/run
"""
# routes on which no cookie counts, for which a cookie needs the page's token, and about a user named in their path
OF_CLIENTS = (
    *("/ready", "/metrics", "/v1/models", "/v1/models/{model_id}", "/models", "/models/{model_id}"),
    *("/v1/chat/completions", "/chat/completions", "/v1/completions", "/completions", "/v1/embeddings"),
    *("/embeddings", "/api/chat", "/api/generate", "/api/embed", "/api/embeddings"),
    *("/api/tags", "/api/ps", "/api/show"),
    *("/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete", "/api/blobs/{digest}"),
    "/mcp",
)
UNDESCRIBED = {
    ("GET", path)
    for path in ["/api/health", "/docs", "/docs/try.js", "/openapi.json", "/auth/callback", "/auth/callback.js"]
} | {("GET", "/.well-known/{document}"), ("GET", "/mcp/.well-known/{document}"), ("POST", "/register")}
OF_STREAMS = {("GET", "/api/runs/live"), ("GET", "/api/conversations/{id}/answers/{answer_id}")}
OF_A_USER = ["/api/subjects/{user_id}/export", "/api/subjects/{user_id}/erase", "/api/holds/{user_id}"]
STREAMS = {("GET", "/api/runs/live")}  # without an end
CHANGING = {
    ("GET", "/api/audit"),
    ("GET", "/api/usage"),
    ("POST", "/api/subjects/{user_id}/export"),
}  # each request adds to the log
RANDOM = {("POST", "/api/me/passkeys/options"), ("POST", "/api/me/recovery-codes")}
OF_ONE_NAME = {("POST", "/api/sample")}  # about the same user whatever is named; the second request finds it there
ENDLESS_OR_TIMED = (
    STREAMS
    | OF_ONE_NAME
    | CHANGING
    | RANDOM
    | {("POST", path) for path in ("/v1/chat/completions", "/chat/completions", "/api/page/chat/completions")}
)


# the queries over contents: of the memories' database and of all other files
OF_CONTENTS = (
    *("change_log", "changes", "lists", "memories", "proposals", "search"),
    *("records/records", "records/search", "runs/runs", "sessions/messages", "sessions/sessions", "sessions/tree"),
    *("sessions/searching", "sessions/ways"),
)


class Row(NamedTuple):
    """What a route is, as it is written above; bucket and act are "-" where there is none."""

    right: str
    bucket: str
    act: str


def written() -> dict[tuple[str, str], Row]:
    rows: dict[tuple[str, str], Row] = {}
    for line in MATRIX.strip().splitlines():
        right, bucket, act, method, *paths = line.split()
        assert not rows.keys() & {(method, path) for path in paths}
        rows |= {(method, path): Row(right, bucket, act) for path in paths}
    return rows


WRITTEN = written()
# what each route takes that asks for a key
ROWS = {route: row.right for route, row in WRITTEN.items() if row.right not in (OPEN, SIGNING_IN)}
ROLES = {"read": {ANY, READ}, "write": {ANY, READ, WRITE}, "operator": {ANY, MANAGE, SERVER}}


SAID = {
    (method, re.sub(r":\w+\}", "}", route.path)): route.says
    for route in TABLE.routes
    for method in present(route.methods)
}


def said_by(server) -> dict[tuple[str, str], tuple[Row, Says]]:
    """What every route of the running server says: in the columns of the matrix, and as it is."""
    said = {}
    for route in layer_of(server, Routing).table.routes:
        for method in present(route.methods) - {"HEAD"}:
            one = route.says
            row = Row(one.right, one.counts_as if one.needs_credential else "-", one.act or "-")
            said[method, without_kinds(route.path)] = row, one
    return said


def without_kinds(path: str) -> str:
    """A template as the matrix has it."""
    return re.sub(r":\w+\}", "}", path)


def body_of(method: str, path: str, values: dict[str, str]) -> dict | None:
    """One body for all routes, each of which reads the members it knows."""
    body = {
        "user_id": values["user_id"],
        "user": values["user_id"],
        "model": "mnemoir",
        "messages": [{"role": "user", "content": "Hello"}],
        "message": {"role": "user", "content": "Hello"},
        "role": "user",
        "content": "Hello",
        "prompt": "Hello",
        "input": "Hello",
        "infer": False,
        "query": "cello",
        "ids": [values["memory_id"], values["proposal_id"]],
        "keep": values["memory_id"],
        "memory": "Plays the harp",
        "request_id": values["answer_id"],
        "message_id": 1,
        "days": 1,
        "id": values["id"],
    }
    return known_body(SAID[method, path], body)


def target(method: str, path: str, values: dict[str, str], **more: str) -> str:
    """The route with its names filled in, and with what of this query it knows."""
    filled = re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], "thing"), path)
    return f"{filled}?{known_query(SAID[method, path], user_id=values['user_id'], q='cello', **more)}"


@pytest.fixture
async def served(open_server, tmp_path):
    """A server with keys and what Mira keeps in it; its keys by name, the ids of her things, and ids of nothing."""
    issuer = ScriptedIssuer("https://issuer.example")
    (tmp_path / "keys.json").write_text(json.dumps(issuer.key_set), encoding="utf-8")
    taken = {"issuer": issuer.url, "audience": AUDIENCE, "jwks_file": str(tmp_path / "keys.json")}
    server = await open_server({"auth.jwt": [taken | {"claims": {"role": "role"}}]})
    make = server.parts.access.api_keys.create
    keys = {role: make(role=role, by="test")[1] for role in ("read", "write", "admin", "operator")}
    keys["user"] = make(role="admin", user="noa", by="test")[1]
    keys["project"] = make(role="admin", projects=["kitchen"], by="test")[1]
    keys["token"], keys["old token"] = issuer.token(sub="noa", role="admin"), issuer.token(role="admin", exp=1)
    keys["tenant"] = make(role="admin", tenant="acme", by="test")[1]
    keys["expired"] = expired_key(server)
    revoked, keys["revoked"] = make(role="admin", by="test")
    server.parts.access.api_keys.revoke(revoked.id)
    admin = {"x_api_key": keys["admin"]}
    said = {"messages": [{"role": "user", "content": CELLO}], "user_id": "mira", "infer": False}
    added = await server.post("/api/memories", said, **admin)
    later = await server.post("/api/memories", said | {"async_mode": True}, **admin)
    async with asyncio.timeout(60):
        while (await server.get(f"/api/events/{later['event_id']}", **admin))["status"] != "SUCCEEDED":  # noqa: ASYNC110 - no row tells
            await asyncio.sleep(0.01)
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": CELLO}], "user": "mira"}
    answer = await server.ask("POST", "/v1/chat/completions", chat | {"conversation_id": "talk"}, **admin)
    changes = await server.get("/api/memories/changes?user_id=mira", **admin)
    hers = {
        "user_id": "mira",
        "memory_id": added["results"][0]["id"],
        "event_id": later["event_id"],
        "id": "talk",
        "message_id": "1",
        "run_id": answer.headers["x-workflow-run-id"],
        "change_id": changes["results"][0]["id"],
        "answer_id": "0" * 16,
        "proposal_id": new_memory_id(),
        "plan_id": "pln_" + "0" * 32,
        "key_id": revoked.id,
    }
    assert answer.status == 200
    return server, keys, hers, {name: unlike(name, value) for name, value in hers.items()}


def expired_key(server) -> str:
    """A key that was made two days ago for one day."""
    made_at = datetime.now(UTC) - timedelta(days=2)
    with closing(AccessFile(server.parts.settings)) as file:
        return ApiKeys(file, clock=lambda: made_at).create(
            role="admin", expires_at=made_at + timedelta(days=1), by="test"
        )[1]


@pytest.fixture
def store_calls(monkeypatch) -> list[tuple[str, str]]:
    """The requests that ran queries over contents, and these as they stand in the code; no work of the background.

    What is done behind an answer is told by the id of its request, too, while the next one is asked.
    """
    queries: list[tuple[str, str]] = []
    of_contents = {text for subject in OF_CONTENTS for text in queries_of(subject).values()}
    read = Readers.run

    def noted(run):
        def noting(self, query: str, /, *values: object, **named: object):
            if query in of_contents and (request := acting.get().request_id):
                queries.append((request, query))
            return run(self, query, *values, **named)

        return noting

    for name in ("rows", "each", "row", "value", "run", "many"):
        monkeypatch.setattr(SqliteSql, name, noted(getattr(SqliteSql, name)))
    monkeypatch.setattr(Readers, "run", lambda self, work: read(self, partial(copy_context().run, work)))
    return queries


def unlike(name: str, value: str) -> str:
    """A value of the same form that names nothing."""
    if name in ("message_id", "answer_id", "proposal_id", "plan_id"):
        return value
    if name == "memory_id":
        return new_memory_id()
    return value[:-4] + {"talk": "klat", "mira": "arim"}.get(value, value[-4:][::-1] + "")


async def test_every_route_has_a_row_in_the_matrix_and_takes_what_it_says(served):
    server, *_ = served
    said = said_by(server)
    assert said.keys() - WRITTEN.keys() == set(), "a route without a row"
    assert WRITTEN.keys() - said.keys() == set(), "a row without a route"
    for route, row in WRITTEN.items():
        assert (said[route][0], *route) == (row, *route)


async def test_every_route_says_whether_a_cookie_counts_and_whom_it_is_about_as_it_is_written(served):
    server, *_ = served
    for (method, path), (row, says) in said_by(server).items():
        assert (says.by_cookie, path) == (path not in OF_CLIENTS or row.right == OPEN, path)
        assert (says.is_stream, path) == ((method, path) in OF_STREAMS, path)
        assert (says.about, path) == ("user_id" if path in OF_A_USER else None, path)


async def test_the_description_of_the_server_names_the_same_routes(served):
    server, keys, *_ = served
    described = Description(await server.get("/openapi.json", x_api_key=keys["admin"]))
    told = {(method.upper(), path) for method, path, _ in described.operations()}
    assert without_names(told) == without_names(WRITTEN.keys() - UNDESCRIBED)


def without_names(routes) -> set[tuple[str, str]]:
    return {(method, re.sub(r"\{[^}]+\}", "{}", path)) for method, path in routes}


@pytest.mark.parametrize(
    "kind", ["none", "unknown", "revoked", "expired", "another server's", "cut short", "too long", "old token"]
)
async def test_without_a_valid_key_no_route_is_open(served, kind):
    server, keys, hers, _ = served
    key = {
        "unknown": "mn_live_aaaaaaaa_" + "x" * 43,
        "revoked": keys["revoked"],
        "expired": keys["expired"],
        "old token": keys["old token"],
        "another server's": keys["admin"][:-1] + ("A" if keys["admin"][-1] != "A" else "B"),
        "cut short": keys["admin"][:-1],
        "too long": keys["admin"] + "x" * 600,
    }.get(kind)
    sent = {} if key is None else {"authorization": f"Bearer {key}"}
    for method, path in ROWS:
        answer = await server.ask(method, target(method, path, hers), body_of(method, path, hers), **sent)
        assert (answer.status, method, path) == (401, method, path)
        assert key is None or key.encode() not in answer.body


@pytest.mark.parametrize("role", sorted(ROLES))
async def test_a_role_that_is_too_low_is_refused_by_every_route_that_takes_more(served, role):
    server, keys, hers, _ = served
    for (method, path), right in ROWS.items():
        if right in ROLES[role] or (method, path) in STREAMS:
            continue
        answer = await server.ask(
            method, target(method, path, hers), body_of(method, path, hers), x_api_key=keys[role]
        )
        assert (answer.status, method, path) == (403, method, path)


@pytest.mark.parametrize("role", sorted(ROLES))
async def test_a_line_feed_in_or_behind_a_path_opens_no_route_that_takes_more(served, role):
    server, keys, hers, _ = served
    routes = layer_of(server, Routing).table.routes
    without_line_feeds = {without_kinds(route.path) for route in routes if ":path}" in route.path}
    for (method, path), right in ROWS.items():
        if right in ROLES[role] or (method, path) in STREAMS:
            continue
        for values, end in ((hers, "%0A"), (dict.fromkeys(hers, "any%0Athing"), "")):
            sent = target(method, path, values).replace("?", f"{end}?")
            answer = await server.ask(method, sent, body_of(method, path, hers), x_api_key=keys[role])
            assert (answer.status in (403, 404, 405), method, sent) == (True, method, sent)
            is_nowhere = path in without_line_feeds and "%0A" in sent.partition("?")[0]
            assert end or answer.status == (404 if is_nowhere else 403), (method, sent)


@pytest.mark.costly("it asks all routes")
@pytest.mark.parametrize("kind", ["user", "project", "tenant", "person", "token"])
async def test_elsewhere_looks_like_nowhere_on_every_route_and_nothing_there_changes(served, kind, store_calls):
    server, keys, hers, none = served
    before = await everything(server, keys["admin"])
    query = {"project": "default"} if kind == "project" else {}
    sent = {"authorization": f"Bearer {keys[kind]}"} if kind in keys else {}
    if kind == "person":
        sent = (await joined(server, "noa", memory_user="noa")).sent
    for method, path in sorted(ROWS.keys() - ENDLESS_OR_TIMED):
        told = []
        # what was looked up is kept in memory from then on; a flush does what the requests before it left to jobs
        if ROWS[method, path] == READ or path.endswith("/flush"):
            for values in (hers, none):
                await server.ask(method, target(method, path, values, **query), body_of(method, path, values), **sent)
        for values in (hers, none):
            asked = target(method, path, values, **query)
            store_calls.clear()
            answer = await server.ask(method, asked, body_of(method, path, values), **sent)
            assert (b"cello" in answer.body.lower().replace(b"q=cello", b""), method, path) == (False, method, path)
            ran = Counter(query for request, query in store_calls if request == answer.headers["x-request-id"])
            told.append((answer.status, plain(answer.body, values), ran))
        assert (told[0], method, path) == (told[1], method, path)
    assert await everything(server, keys["admin"]) == before


async def everything(server, key: str) -> list[bytes]:
    """What Mira keeps, as an admin sees it."""
    asked = ("/api/export?user_id=mira", "/api/conversations/talk/messages?user_id=mira", "/api/projects")
    return [(await server.ask("GET", target, x_api_key=key)).body for target in asked]


def plain(body: bytes, values: dict[str, str]) -> str:
    """The body with the values that were asked for, ids and times put aside."""
    text = body.decode("utf-8", "replace")
    for name, value in values.items():
        if len(value) > 1:
            text = text.replace(value, name)
    text = re.sub(r'"(request_id|id|uid|turn_id|key|event_id|run_id|conversation_id)": ?"[^"]*"', r'"\1"', text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)|\b\d{6,}\b|\"\w*(?:duration|_ms)\": ?[\d.]+", "", text)


async def test_a_bound_key_finds_its_own_without_naming_its_user(served):
    server, keys, *_ = served
    noa = {"x_api_key": keys["user"]}
    said = {"messages": [{"role": "user", "content": "Rows on the lake"}], "infer": False}
    await server.post("/api/memories", said, **noa)
    found = await server.post("/api/memories/search", {"query": "lake"}, **noa)
    listed = await server.get("/api/memories", **noa)
    exported = (await server.ask("GET", "/api/export", **noa)).body.splitlines()
    projects = await server.get("/api/projects", **noa)
    assert [one["memory"] for one in found["results"]] == ["Rows on the lake"]
    assert [one["memory"] for one in listed["results"]] == ["Rows on the lake"]
    assert [json.loads(line)["user_id"] for line in exported] == ["noa"]
    assert [user["user_id"] for project in projects["results"] for user in project["users"]] == ["noa"]


async def test_every_key_is_told_what_it_is_for_and_may_do(served):
    server, keys, *_ = served
    told = {name: await server.get("/api/me", x_api_key=keys[name]) for name in ("operator", "user", "project")}
    may = {name: [right for right, has_it in answer["may"].items() if has_it] for name, answer in told.items()}
    assert may == {
        "operator": [MANAGE, SERVER],
        "user": [READ, WRITE, ADMIN, MANAGE],
        "project": [READ, WRITE, ADMIN, MANAGE],
    }
    assert (told["user"]["user"], told["project"]["projects"]) == ("noa", ["kitchen"])
    assert all(keys[name].split("_")[2] == answer["key"] for name, answer in told.items())


async def test_filters_of_any_depth_are_met_within_the_scope(served):
    server, keys, *_ = served
    for filters in (
        {"user_id": "mira"},
        {"OR": [{"user_id": "mira"}]},
        {"NOT": [{"user_id": "noa"}]},
        {"user_id": "*"},
    ):
        answer = await server.ask(
            "POST", "/api/memories/search", {"query": "cello", "filters": filters}, x_api_key=keys["user"]
        )
        assert b"Tuesdays" not in answer.body


async def test_a_chat_takes_the_user_from_the_key_before_what_it_names(served):
    server, keys, *_ = served
    chat: dict[str, Any] = {"model": "mnemoir", "user": "mira", "conversation_id": "own"}
    chat["messages"] = [{"role": "user", "content": "Hello"}]
    await server.post("/v1/chat/completions", chat, x_api_key=keys["user"], x_user_id="mira")
    listed = await server.get("/api/conversations", x_api_key=keys["user"])
    assert [one["id"] for one in listed["results"]] == ["own"]
    hers = await server.get("/api/conversations?user_id=mira", x_api_key=keys["admin"])
    assert [one["id"] for one in hers["results"]] == ["talk"]


async def test_runs_are_told_to_those_whose_they_are(served):
    server, keys, *_ = served
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}]}
    own = await server.ask("POST", "/v1/chat/completions", chat, x_api_key=keys["user"])
    for key, count in (("user", 1), ("tenant", 0), ("project", 0), ("admin", 2)):
        listed = await server.get("/api/runs", x_api_key=keys[key])
        assert (key, len(listed["results"])) == (key, count)
    assert (
        await server.ask("GET", f"/api/runs/{own.headers['x-workflow-run-id']}", x_api_key=keys["user"])
    ).status == 200


async def test_two_tenants_with_the_same_names_share_nothing(served):
    server, keys, *_ = served
    acme = {"x_api_key": keys["tenant"]}
    chat: dict[str, Any] = {"model": "mnemoir", "user": "mira", "conversation_id": "talk"}
    chat["messages"] = [{"role": "user", "content": "Acme hello"}]
    await server.post("/v1/chat/completions", chat, **acme)
    said = {"messages": [{"role": "user", "content": "Sails at Acme"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said, **acme)
    theirs = await server.ask("GET", "/api/conversations/talk/messages?user_id=mira", **acme)
    hers = await server.ask("GET", "/api/conversations/talk/messages?user_id=mira", x_api_key=keys["admin"])
    assert (b"Acme" in theirs.body, b"cello" in theirs.body) == (True, False)
    assert (b"Acme" in hers.body, b"cello" in hers.body) == (False, True)
    assert b"Acme" not in (await server.ask("GET", "/api/export?user_id=mira", x_api_key=keys["admin"])).body


async def test_a_key_ends_when_it_expires_and_when_it_is_revoked(open_server):
    server = await open_server()
    keys = server.parts.access.api_keys
    soon = datetime.now(UTC) + timedelta(milliseconds=30)
    _, expiring = keys.create(role="read", expires_at=soon, by="test")
    lasting, text = keys.create(role="read", by="test")
    async with asyncio.timeout(60):
        while (await server.ask("GET", "/api/projects", x_api_key=expiring)).status != 401:  # noqa: ASYNC110 - by clock
            await asyncio.sleep(0.01)
    assert (await server.ask("GET", "/api/memories?user_id=mira", x_api_key=text)).status == 200
    keys.revoke(lasting.id)
    assert (await server.ask("GET", "/api/memories?user_id=mira", x_api_key=text)).status == 401


async def test_two_keys_that_differ_are_refused(served):
    server, keys, *_ = served
    answer = await server.ask("GET", "/api/projects", x_api_key=keys["read"], authorization=f"Bearer {keys['write']}")
    assert (answer.status, json.loads(answer.body)["code"]) == (400, "several_keys")
