"""Credentials where none belong, of a size or with characters that no key has, and very many keys."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
import structlog

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.core.api_keys import hash_of, new_text
from mnemoir.core.clock import to_text
from mnemoir.core.data_directory import ACCESS_FILE
from mnemoir.settings import load_settings
from tests.server.server_kit import error_of
from tests.server.test_connections import connected, request, response


@pytest.mark.parametrize("name", ["key", "api_key", "access_token"])
async def test_a_key_in_the_query_string_opens_nothing_and_its_id_alone_is_logged(open_server, name):
    server = await open_server()
    made, text = server.parts.access.api_keys.create(role="admin", by="test")
    with structlog.testing.capture_logs() as lines:
        refused = await server.ask("GET", f"/api/projects?{name}={text}")
    assert error_of(refused) == (401, "unauthorized")
    told = [line for line in lines if line["event"] == "key in a query string"]
    assert [(line["log_level"], line["id"]) for line in told] == [("warning", made.id)]
    assert text not in repr(lines)
    assert text.encode() not in refused.body


@pytest.mark.parametrize("name", ["authorization", "x_api_key", "api_key"])
@pytest.mark.parametrize("size", [513, 8 * 1024])
async def test_a_key_of_many_bytes_is_refused_as_a_wrong_one_is(open_server, name, size):
    server = await open_server()
    server.parts.access.api_keys.create(role="admin", by="test")
    scheme = "Bearer " if name == "authorization" else ""
    long = await server.ask("GET", "/api/projects", **{name: scheme + "k" * size})
    wrong = await server.ask("GET", "/api/projects", **{name: scheme + new_text()[1]})
    assert error_of(long) == error_of(wrong) == (401, "unauthorized")


@pytest.mark.parametrize("character", ["\0", "\x01", "\x0b", "\x7f"])
async def test_a_header_with_a_control_character_is_no_request(listen, character):
    server = await listen()
    text = server.parts.access.api_keys.create(role="admin", by="test")[1]
    async with asyncio.timeout(60), connected(server.url) as (reader, writer):
        writer.write(request("GET", "/api/projects", b"", f"X-API-Key: {text[:20]}{character}{text[20:]}"))
        status, _, _ = await response(reader)
    assert status == 400


@pytest.mark.parametrize("header", ["Authorization: Bearer ", "X-API-Key: ", "api-key: "])
async def test_two_keys_in_one_header_are_refused_where_they_differ(listen, header):
    server = await listen()
    first, second = (server.parts.access.api_keys.create(role="read", user=user, by="test")[1] for user in ("a", "b"))
    told = []
    for one, other in ((first, second), (second, first), (first, first)):
        async with asyncio.timeout(60), connected(server.url) as (reader, writer):
            writer.write(request("GET", "/api/projects", b"", f"{header}{one}\r\n{header}{other}"))
            told.append((await response(reader))[0])
    assert told == [400, 400, 200]


@pytest.mark.slow
def test_of_a_hundred_thousand_keys_each_opens_and_a_bounded_number_is_remembered(tmp_path):
    settings = load_settings(None, {"storage.data_dir": str(tmp_path)}, environ={})
    with closing(AccessFile(settings)) as file:
        ApiKeys(file).create(role="write", by="test")
        pepper = file.pepper
    made, began = [new_text() for _ in range(100_000)], datetime.now(UTC)
    now = to_text(began)
    rows = ((parts.id, hash_of(parts.secret, pepper), now, now) for parts, _ in made)
    with closing(sqlite3.connect(tmp_path / ACCESS_FILE)) as database, database:
        database.executemany(
            "INSERT INTO api_keys (id, hash, tenant, role, label, created_by, created_at, last_used_at)"
            " VALUES (?, ?, 'default', 'write', '', 'test', ?, ?)",
            rows,
        )
    with closing(AccessFile(settings, ticks=lambda: 0.0)) as file:  # a second look clears what is remembered, once
        keys = ApiKeys(file, lambda: began)  # so would a note of use, a minute later
        found = [keys.principal(text) for _, text in made[:12_000]]
        assert [one and one.key for one in found] == [parts.id for parts, _ in made[:12_000]]
        assert len(keys._known._values) == 10_000
        assert keys.count == 2
        assert len(keys.keys_page("default", limit=1000)) == 1000
