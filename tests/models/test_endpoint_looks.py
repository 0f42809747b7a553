"""Looks at the servers of endpoints: a few at a time, each server once, and none for ever."""

import asyncio
from contextlib import aclosing
from typing import Any

import aiohttp
from aiohttp import web

from mnemoir.models.reaching import EndpointLooks, Server
from tests.far_server import far_server


def server(url: str, key: str = "", kind: Any = "openai-chat") -> Server:
    return Server(kind=kind, url=url, key=key)


async def test_only_a_few_servers_are_asked_at_a_time():
    under_way, most, all_came, may_answer = 0, 0, asyncio.Event(), asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 6:
            all_came.set()
        await may_answer.wait()
        under_way -= 1
        return web.Response()

    async with (
        far_server(answer) as url,
        aiohttp.ClientSession() as session,
        aclosing(EndpointLooks(session, longest_s=100)) as looks,
    ):
        asked = [looks.at(server(url, f"key {n}"), patience_s=100, fresh=False) for n in range(20)]
        looking = asyncio.gather(*asked)
        await all_came.wait()
        may_answer.set()
        assert {look.status for look in await looking if look} == {200}
    assert most == 6


async def test_protocols_that_list_their_models_alike_are_one_server():
    came: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        came.append(request.headers.get("Authorization"))
        return web.Response()

    async with (
        far_server(answer) as url,
        aiohttp.ClientSession() as session,
        aclosing(EndpointLooks(session)) as looks,
    ):
        for kind in ("openai-chat", "openai-completions", "openai-chat"):
            await looks.at(server(url, "a key", kind), patience_s=100, fresh=False)
        await looks.at(server(url), patience_s=100, fresh=False)
    assert came == ["Bearer a key", None]


async def test_a_server_that_never_answers_is_given_up_without_a_word_of_its_key():
    never = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        await never.wait()
        return web.Response()

    async with (
        far_server(answer) as url,
        aiohttp.ClientSession() as session,
        aclosing(EndpointLooks(session, longest_s=0.05)) as looks,
    ):
        look = await looks.at(server(url.replace("//", "//ann:canary@"), "canary"), patience_s=100, fresh=False)
        never.set()
    assert look is not None
    assert look.status is None
    assert "gave no answer in time" in look.problem
    assert "canary" not in look.problem
