"""Calls through a proxy: which bytes it gets, and what is told when it refuses."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.core.proxies import Proxies
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_chat import OpenAIChat
from tests.scripted_llm import ScriptedLLM

REQUEST = ModelRequest(messages=(text_message("user", "Hi"),), model="m")
SECRET = "hidden-314"


class ScriptedProxy:
    """A proxy that keeps the head of each request, and answers with a chat, or to CONNECT with `refusal`."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                length = next(
                    (line for line in head.lower().splitlines() if line.startswith("content-length:")), ":0"
                )
                await reader.readexactly(int(length.partition(":")[2]))
                body = b'{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}'
                told = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                writer.write(self.refusal if head.startswith("CONNECT") else told + body)
        writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[ScriptedProxy, str]]:
    """A proxy, and its host and port."""
    scripted = ScriptedProxy()
    async with await asyncio.start_server(scripted.answer, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        yield scripted, f"127.0.0.1:{port}"
        listening.close()


async def ask(url: str, proxies: Proxies, *, is_careful: bool = False) -> str:
    async with new_session(proxies, is_careful=is_careful) as session:
        model = OpenAIChat(Endpoint(base_url=url, api_key="key-of-the-model", tries=1), session)
        return (await model.ask(REQUEST)).text


async def test_a_model_of_the_internet_is_asked_through_the_proxy_with_its_password(proxy):
    scripted, place = proxy
    for _ in range(2):
        assert await ask("http://model.example/v1", Proxies(http=f"http://me:{SECRET}@{place}")) == "Hello."
    for head in scripted.heads:
        assert head.startswith("POST http://model.example/v1/chat/completions HTTP/1.1")
        pair = base64.b64encode(f"me:{SECRET}".encode()).decode()
        assert f"Proxy-Authorization: Basic {pair}" in head
        assert "Authorization: Bearer key-of-the-model" in head


async def test_a_model_on_this_machine_and_an_exception_are_asked_directly(proxy):
    scripted, place = proxy
    async with ScriptedLLM() as llm:
        for proxies in (
            Proxies(http=f"http://{place}"),
            Proxies(http=f"http://{place}", direct=["*"], private_too=True),
        ):
            llm.reply("Here.")
            assert await ask(llm.openai_url, proxies) == "Here."
    assert scripted.heads == []


async def test_a_private_address_goes_through_the_proxy_where_the_settings_say_so(proxy):
    scripted, place = proxy
    assert await ask("http://10.255.255.1/v1", Proxies(http=f"http://{place}", private_too=True)) == "Hello."
    assert scripted.heads[0].startswith("POST http://10.255.255.1/v1/chat/completions")


async def test_a_typed_name_goes_through_the_proxy_though_it_resolves_nowhere_here(proxy):
    scripted, place = proxy
    assert await ask("http://model.example/v1", Proxies(http=f"http://{place}"), is_careful=True) == "Hello."
    assert len(scripted.heads) == 1


async def test_tls_goes_through_a_tunnel_and_a_refusal_tells_no_password(proxy):
    scripted, place = proxy
    with pytest.raises(ProviderError) as caught:
        await ask("https://model.example/v1", Proxies(https=f"http://me:{SECRET}@{place}"))
    assert scripted.heads[0].startswith("CONNECT model.example:443 HTTP/1.1")
    assert "key-of-the-model" not in scripted.heads[0]
    assert SECRET not in caught.value.message
    assert "407" in caught.value.message


async def test_a_proxy_that_is_not_there_is_named_without_its_password(unused_tcp_port):
    with pytest.raises(ProviderError) as caught:
        await ask("http://model.example/v1", Proxies(http=f"http://me:{SECRET}@127.0.0.1:{unused_tcp_port}"))
    assert SECRET not in caught.value.message
    assert str(unused_tcp_port) in caught.value.message


async def test_nothing_else_of_the_environment_counts(monkeypatch, proxy):
    scripted, place = proxy
    monkeypatch.setenv("HTTP_PROXY", f"http://{place}")
    async with ScriptedLLM() as llm:
        llm.reply("Here.")
        assert await ask(llm.openai_url, Proxies()) == "Here."
    assert scripted.heads == []
