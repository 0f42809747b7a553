"""Requests forbid storing to the server that stores chats by default, and have no such member for others."""

import socket
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_chat import OpenAIChat
from tests.scripted_llm import ScriptedLLM


class Loopback(AbstractResolver):
    """Finds every host on this machine."""

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[ResolveResult]:
        return [
            {"hostname": host, "host": "127.0.0.1", "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}
        ]

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("api.openai.com", {"store": False}),
        ("eu.api.openai.com", {"store": False}),
        ("api.openai.com.example", {}),
        ("api.notopenai.com", {}),
        ("gateway.example", {}),
    ],
)
async def test_only_openai_is_told_not_to_store(host: str, told: dict[str, Any]) -> None:
    async with (
        ScriptedLLM() as llm,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(resolver=Loopback())) as session,
    ):
        base_url = str(URL(llm.openai_url).with_host(host))
        model = OpenAIChat(Endpoint(base_url=base_url, model="far", tries=1), session)
        await model.ask(ModelRequest(messages=(text_message("user", "Hello"),)))
    assert {name: value for name, value in llm.requests[-1].body.items() if name == "store"} == told
