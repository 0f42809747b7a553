"""Requests with the token of an identity provider, at a server that takes them."""

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest

from tests.scripted_issuer import AUDIENCE, ScriptedIssuer
from tests.server.server_kit import error_of, hello


@pytest.fixture
async def issuer():
    async with ScriptedIssuer() as scripted:
        yield scripted


@pytest.fixture
async def taking(open_server, issuer):
    """A server that takes its tokens, and a key of the settings that looks like one."""
    one = {"issuer": issuer.url, "audience": AUDIENCE, "claims": {"role": "role", "projects": "projects"}}
    return await open_server({"auth.jwt": [one]}, api_keys=("settings.key.with-dots",))


def bearing(token: str, **headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} | headers


async def test_a_server_with_an_issuer_needs_a_credential_and_takes_its_tokens(open_server, issuer):
    server = await open_server({"auth.jwt": [{"issuer": issuer.url, "audience": AUDIENCE}]})
    assert error_of(await server.ask("GET", "/api/me")) == (401, "unauthorized")
    assert (await server.get("/api/auth"))["required"] is True
    me = await server.get("/api/me", **bearing(issuer.token()))
    assert (me["user"], me["roles"], me["signed_in"]) == ("248289761001", ["write"], False)


async def test_the_bearer_has_the_rights_and_the_memories_that_the_token_names(taking, issuer):
    write = bearing(issuer.token(role="write", projects=["default"]))
    said = {"messages": [{"role": "user", "content": "Plays the harp"}], "infer": False}
    await taking.post("/api/memories", said, **write)
    await taking.post("/v1/chat/completions", hello(), **write)
    found = await taking.get("/api/memories", **write)
    assert [one["user_id"] for one in found["results"]] == ["248289761001"]
    for other in ({"sub": "another"}, {"projects": ["elsewhere"]}):
        token = issuer.token(**{"role": "admin", "projects": ["default"]} | other)
        found = await taking.get("/api/memories?project=default", **bearing(token))
        assert found["results"] == []
    read = bearing(issuer.token(role="read", projects=["default"]))
    assert error_of(await taking.ask("POST", "/api/memories", said, **read)) == (403, "forbidden")
    assert error_of(await taking.ask("GET", "/api/keys", **write)) == (403, "forbidden")


async def test_a_refusal_says_why_in_the_form_of_each_protocol_and_is_counted(taking, issuer):
    head = urlsafe_b64encode(b'{"alg": "RS256", "crit": ["\\ud800"]}').decode().rstrip("=")
    odd = await taking.ask("GET", "/api/memories", **bearing(f"{head}.e30.AAAA"))
    assert error_of(odd) == (401, "invalid_token")
    expired = bearing(issuer.token(exp=1))
    answer = await taking.ask("POST", "/v1/chat/completions", hello(), **expired)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "expired" in json.loads(answer.body)["error"]["message"]
    nobody = bearing(issuer.token(role="gardener", projects=[]))
    assert error_of(await taking.ask("GET", "/api/memories", **nobody)) == (403, "token_without_role")
    unmapped = bearing(issuer.token(role="write"))
    assert error_of(await taking.ask("GET", "/api/memories", **unmapped)) == (401, "token_without_tenant")


async def test_without_its_keys_nobody_is_let_in_and_nobody_is_called_wrong(taking, issuer):
    issuer.is_away = True
    for _ in range(12):  # more than the wrong keys that an address may send
        answer = await taking.ask("GET", "/api/memories", **bearing(issuer.token(role="read", projects=[])))
        assert error_of(answer) == (503, "auth_unavailable")


async def test_a_server_whose_clock_is_off_is_not_ready_until_it_is_set(taking, issuer):
    admin = {"authorization": "Bearer settings.key.with-dots"}
    keys = taking.parts.access.tokens._each()[0].checker.keys
    issuer.clock = lambda: datetime.now(UTC) - timedelta(minutes=2)
    await keys.begin()
    assert error_of(await taking.ask("GET", "/ready", **admin)) == (503, "auth_unavailable")
    assert (await taking.ask("GET", "/health", **admin)).status == 200
    issuer.clock = lambda: datetime.now(UTC)
    await keys.begin()
    assert (await taking.ask("GET", "/ready", **admin)).status == 200


async def test_a_token_counts_as_a_bearer_alone_and_keys_go_on_beside_it(taking, issuer):
    token = issuer.token(role="admin", projects=["default"])
    for sent in ({"x_api_key": token}, {"api_key": token}, {"authorization": f"Token {token}"}):
        assert error_of(await taking.ask("GET", "/api/memories", **sent)) == (401, "unauthorized")
    two = bearing(token, x_api_key="settings.key.with-dots")
    assert error_of(await taking.ask("GET", "/api/memories", **two)) == (400, "several_keys")
    assert (await taking.get("/api/me", **bearing("settings.key.with-dots")))["key"] == "settings:1"
    _, key = taking.parts.access.api_keys.create(role="read", by="test")
    assert (await taking.get("/api/me", **bearing(key)))["roles"] == ["read"]


async def test_a_token_is_nowhere_in_what_is_stored_and_said(taking, issuer, tmp_path, capsys):
    token = issuer.token(role="write", projects=["default"])
    await taking.post("/v1/chat/completions", hello(), **bearing(token))
    refused = await taking.ask("GET", "/api/memories", **bearing(token[:-4] + "AAAA"))
    signature = token.rpartition(".")[2][:-4].encode()
    written = [file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file()]
    told = capsys.readouterr()
    assert not [text for text in (*written, refused.body, told.out.encode(), told.err.encode()) if signature in text]
