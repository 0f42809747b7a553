"""Calls to the offline Wikipedia service."""

import asyncio

import pytest

from mnemoir.core.errors import ProviderInvalidOutput, ProviderRefused, ProviderTimeout, ProviderUnavailable
from mnemoir.providers.http import new_session
from mnemoir.providers.offline_wikipedia import HttpOfflineWikipedia
from tests.scripted_llm import closed_port_url
from tests.workflows.nodes.scripted_wikipedia import ScriptedWikipedia


@pytest.fixture
async def session():
    async with new_session() as made:
        yield made


@pytest.fixture
async def server():
    async with ScriptedWikipedia() as made:
        yield made


async def test_the_answer_is_the_decoded_json_and_the_query_is_data(session, server):
    server.answer = {"text": "A plant."}
    query = {"prompt": "a&b=c#d é\n@x", "num_results": "1"}
    assert await HttpOfflineWikipedia(session).get(server.url, "/articles", query) == {"text": "A plant."}
    assert server.asked == [("/articles", query)]


async def test_not_found_is_none(session, server):
    server.status = 404
    assert await HttpOfflineWikipedia(session).get(server.url, "/articles", {}) is None


@pytest.mark.parametrize(
    ("members", "error", "told"),
    [
        ({"status": 500}, ProviderUnavailable, "answered 500"),
        ({"status": 302, "headers": {"Location": "/articles"}}, ProviderUnavailable, "answered 302"),
        ({"body": b"<html>"}, ProviderInvalidOutput, "did not answer with JSON"),
        ({"body": b" " * 1001}, ProviderInvalidOutput, "more than 1000 bytes"),
    ],
)
async def test_an_invalid_answer_is_reported(session, server, members, error, told):
    for member, value in members.items():
        setattr(server, member, value)
    with pytest.raises(error, match=told):
        await HttpOfflineWikipedia(session, most_bytes=1000).get(server.url, "/articles", {})
    assert len(server.asked) == 1


async def test_an_unreachable_service_is_reported(session):
    with pytest.raises(ProviderUnavailable, match="could not be reached"):
        await HttpOfflineWikipedia(session).get(closed_port_url(), "/articles", {})


@pytest.mark.parametrize("url", ["http://no host:1", "http://[::1", "http://127.0.0.1:99999", "localhost:5728"])
async def test_an_invalid_address_is_reported(session, url):
    with pytest.raises(ProviderUnavailable, match="could not be reached"):
        await HttpOfflineWikipedia(session).get(url, "/articles", {})


async def test_an_invalid_host_name_is_reported(session):
    with pytest.raises(ProviderRefused, match="cannot be requested"):
        await HttpOfflineWikipedia(session).get(f"http://{'x' * 300}:1", "/articles", {})


async def test_a_silent_service_fails_at_the_time_limit(session):
    def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    writers: list[asyncio.StreamWriter] = []
    async with await asyncio.start_server(nothing, "127.0.0.1", 0) as silent:
        url = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        with pytest.raises(ProviderTimeout, match="in time"):
            await HttpOfflineWikipedia(session, connect_s=0.1, read_s=0.1).get(url, "/articles", {})
        for writer in writers:
            writer.close()
