"""Two keys at once: what one of them holds keeps the other from nothing."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator

import aiohttp
import pytest

from mnemoir.server.door.crowd import Crowd
from tests.scripted_llm import Answer
from tests.server.server_kit import asks, hello
from tests.server.test_connections import CHAT, connected, request, response

FEED = "/api/runs/live"


def keyed(server, *names: str) -> dict[str, dict[str, str]]:
    """New keys by name, as headers."""
    return {name: {"x-api-key": server.parts.access.api_keys.create(role="admin", by="test")[1]} for name in names}


def saying(text: str, **more) -> dict:
    return hello(messages=[{"role": "user", "content": text}], **more)


@contextlib.asynccontextmanager
async def crowd_of(count: int, method: str, url: str, **more) -> AsyncIterator[Counter]:
    """So many requests at once whose answers nobody reads; how many had which status, while they are held."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        answers = await asyncio.gather(*(http.request(method, url, **more) for _ in range(count)))
        yield Counter(answer.status for answer in answers)
        for answer in answers:
            answer.close()


async def test_of_the_places_for_chats_one_key_leaves_a_quarter_to_others(listen, llm, http):
    server = await listen(asks(llm), most_active_chats=16)
    keys = keyed(server, "loud", "quiet")
    llm.rule(lambda asked: "loud" in asked.prompt, Answer(pieces=["one ", "two"], stall_after=1))
    llm.default = Answer(text="yes")
    chat, url = saying("loud", stream=True), server.url + CHAT
    async with asyncio.timeout(120), crowd_of(20, "POST", url, json=chat, headers=keys["loud"]) as statuses:
        assert statuses == {200: 12, 503: 8}
        async with http.post(url, json=saying("quiet"), headers=keys["quiet"]) as answer:
            assert answer.status == 200
        llm.release()


async def test_a_single_key_may_take_all_places(listen, llm):
    server = await listen(asks(llm), most_active_chats=16)
    keys = keyed(server, "only")
    llm.default = Answer(pieces=["one ", "two"], stall_after=1)
    chat = saying("loud", stream=True)
    async with asyncio.timeout(120), crowd_of(20, "POST", server.url + CHAT, json=chat, headers=keys["only"]) as seen:
        assert seen == {200: 16, 503: 4}
        llm.release()


async def test_of_the_feeds_of_runs_one_key_leaves_a_quarter_to_others(listen):
    server = await listen()
    keys = keyed(server, "loud", "quiet")
    async with asyncio.timeout(120), crowd_of(60, "GET", server.url + FEED, headers=keys["loud"]) as statuses:
        assert statuses == {200: 48, 429: 12}
        async with crowd_of(16, "GET", server.url + FEED, headers=keys["quiet"]) as others:
            assert others == {200: 16}


async def test_of_the_connections_one_key_leaves_a_quarter_to_others(listen):
    server = await listen(most_connections=20)
    keys = keyed(server, "loud", "quiet")
    async with asyncio.timeout(120), contextlib.AsyncExitStack() as held:

        async def asked(key: str) -> tuple[int, str]:
            reader, writer = await held.enter_async_context(connected(server.url))
            writer.write(request("GET", "/api/projects", b"", f"X-API-Key: {keys[key]['x-api-key']}"))
            status, headers, _ = await response(reader)
            return status, headers.get("connection", "")

        assert [await asked("loud") for _ in range(17)] == [(200, "")] * 15 + [(503, "close")] * 2
        assert [await asked("quiet") for _ in range(3)] == [(200, "")] * 3


@pytest.mark.parametrize(
    ("target", "key", "status"),
    [("/health", "", 200), ("/", "", 200), ("/api/projects", "", 401), ("/api/status", "low", 403)],
)
async def test_connections_without_a_key_or_a_right_leave_a_quarter_to_others(listen, target, key, status):
    server = await listen(most_connections=20)
    keys = keyed(server, "quiet")
    keys["low"] = {"x-api-key": server.parts.access.api_keys.create(role="read", by="test")[1]}
    async with asyncio.timeout(120), contextlib.AsyncExitStack() as held:

        async def asked(target: str, key: str) -> int:
            reader, writer = await held.enter_async_context(connected(server.url))
            sent = [f"X-API-Key: {keys[key]['x-api-key']}"] if key else []
            writer.write(request("GET", target, b"", *sent))
            return (await response(reader))[0]

        assert [await asked(target, key) for _ in range(30)] == [status] * 15 + [503] * 15
        assert [await asked("/api/projects", "quiet") for _ in range(3)] == [200] * 3


async def test_heads_that_never_come_whole_keep_nobody_out(listen):
    server = await listen(most_connections=20, request_deadline_s=3600)
    keys = keyed(server, "loud", "quiet")
    async with asyncio.timeout(120), contextlib.AsyncExitStack() as held:
        for _ in range(100):
            _, writer = await held.enter_async_context(connected(server.url))
            writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nX-Slow: " % CHAT.encode())
        for _ in range(5):
            reader, writer = await held.enter_async_context(connected(server.url))
            writer.write(request("GET", "/api/projects", b"", f"X-API-Key: {keys['quiet']['x-api-key']}"))
            assert (await response(reader))[0] == 200


class Held:
    """A connection that notes when it has to go."""

    def __init__(self) -> None:
        self.is_gone = False

    def give_way(self) -> None:
        self.is_gone = True


@pytest.mark.parametrize(("later_s", "kept"), [(0.0, 40), (5.0, 40), (11.0, 10)])
def test_a_crowd_that_comes_at_once_has_its_time_to_send_heads(later_s, kept):
    crowd, connections = Crowd(40), [Held() for _ in range(39)]
    for each in connections:
        crowd.came(each, 10.0)
    crowd.came(last := Held(), 10.0 + later_s)
    assert sum(not each.is_gone for each in [*connections, last]) == kept
    assert not last.is_gone


def test_a_connection_that_ended_leaves_its_place_to_its_key():
    crowd, connections = Crowd(4), [Held() for _ in range(4)]
    for each in connections:
        crowd.came(each, 0.0)
        crowd.has_sent_head(each)
    taken = [crowd.belongs_to(each, "loud", is_shared=lambda: True) for each in connections]
    crowd.note_end(connections[0])
    assert (taken, crowd.belongs_to(connections[3], "loud", is_shared=lambda: True)) == ([True] * 3 + [False], True)
