"""The unmodified `openai` and `ollama` packages against a real socket."""

from typing import Any

import ollama
import openai
import pytest
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from tests.narrowing import instance, present
from tests.scripted_llm import failure
from tests.server.server_kit import asks

MESSAGES: Any = [{"role": "user", "content": "Hello"}]
TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def openai_client(server, key: str = "any") -> openai.AsyncOpenAI:
    """A client that tries once."""
    return openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


async def test_openai_chats_whole_and_streamed(listen, llm):
    server = await listen(asks(llm))
    async with openai_client(server) as client:
        llm.reply("Good morning.")
        whole = await client.chat.completions.create(model="mnemoir", messages=MESSAGES)
        assert whole.choices[0].message.content == "Good morning."
        llm.reply("Good morning.", usage=(7, 5))
        options: Any = {"include_usage": True}
        stream = await client.chat.completions.create(
            model="mnemoir", messages=MESSAGES, stream=True, stream_options=options
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Good morning."
    assert present(chunks[-1].usage).prompt_tokens == 7


async def test_openai_gets_tool_calls(listen, llm):
    server = await listen(asks(llm))
    async with openai_client(server) as client:
        llm.reply(tool_calls=[("weather", {"city": "Graz"})], reason="tool_calls")
        whole = await client.chat.completions.create(model="mnemoir", messages=MESSAGES, tools=[TOOL])
    (call,) = present(whole.choices[0].message.tool_calls)
    wanted = instance(ChatCompletionMessageFunctionToolCall, call).function
    assert (wanted.name, wanted.arguments.replace(" ", "")) == ("weather", '{"city":"Graz"}')


async def test_openai_lists_and_finds_models(listen, llm):
    server = await listen(asks(llm))
    async with openai_client(server) as client:
        assert [model.id async for model in client.models.list()] == ["mnemoir", "far-model"]
        assert (await client.models.retrieve("far-model")).id == "far-model"
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("no-such/model")


async def test_openai_embeds(listen):
    server = await listen()
    async with openai_client(server) as client:
        made = await client.embeddings.create(model="minilm", input=["one", "two"])
    assert [len(item.embedding) for item in made.data] == [384, 384]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, openai.RateLimitError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (400, openai.BadRequestError),
        (500, openai.InternalServerError),
    ],
)
async def test_openai_raises_its_own_errors(listen, llm, status, error):
    server = await listen(asks(llm))
    llm.queue(failure(status, "said the far side"))
    async with openai_client(server) as client:
        with pytest.raises(error, match="said the far side"):
            await client.chat.completions.create(model="mnemoir", messages=MESSAGES)


@pytest.mark.parametrize("stream", [True, False])
async def test_openai_reads_the_code_that_the_models_server_gave_its_error(listen, llm, stream):
    server = await listen(asks(llm))
    llm.queue(failure(400, "too long", code="context_length_exceeded"))
    async with openai_client(server) as client:
        with pytest.raises(openai.BadRequestError, match="too long") as caught:
            await client.chat.completions.create(model="mnemoir", messages=MESSAGES, stream=stream)
    assert (caught.value.code, caught.value.type) == ("context_length_exceeded", "scripted_error")


async def test_openai_reads_the_code_of_an_error_within_a_stream(listen, llm):
    server = await listen(asks(llm))
    quota = b'{"error": {"message": "no credit", "code": "insufficient_quota", "type": "insufficient_quota"}}'
    llm.reply("One two three", stall_after=1, bad_after=2, bad_event=quota)
    async with openai_client(server) as client:
        stream = await client.chat.completions.create(model="mnemoir", messages=MESSAGES, stream=True)
        llm.release()  # now that the answer has begun
        with pytest.raises(openai.APIError, match="no credit") as caught:
            [chunk async for chunk in stream]
    assert caught.value.code == "insufficient_quota"


async def test_openai_raises_for_an_answer_broken_off(listen, llm):
    server = await listen(asks(llm))
    llm.reply("One two three", cut_after=1)
    async with openai_client(server) as client:
        stream = await client.chat.completions.create(model="mnemoir", messages=MESSAGES, stream=True)
        with pytest.raises(openai.APIError):
            [chunk async for chunk in stream]


async def test_openai_raises_for_a_wrong_key(listen):
    server = await listen(api_keys=["a-key-of-sixteen-or-more"])
    async with openai_client(server, "wrong") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    async with openai_client(server, "a-key-of-sixteen-or-more") as client:
        assert (await client.models.list()).data


async def test_ollama_chats_and_generates(listen, llm):
    server = await listen(asks(llm))
    async with ollama.AsyncClient(host=server.url) as client:
        llm.reply("Good morning.")
        assert (await client.chat("mnemoir", MESSAGES)).message.content == "Good morning."
        llm.reply("Good morning.")
        parts = [part async for part in await client.chat("mnemoir", MESSAGES, stream=True)]
        assert "".join(part.message.content or "" for part in parts) == "Good morning."
        assert parts[-1].done
        llm.reply("Good morning.")
        assert (await client.generate("mnemoir", "Hello")).response == "Good morning."


async def test_ollama_looks_around(listen, llm):
    server = await listen(asks(llm))
    async with ollama.AsyncClient(host=server.url) as client:
        assert [model.model for model in (await client.list()).models] == ["mnemoir:latest", "far-model:latest"]
        shown = await client.show("mnemoir")
        assert "completion" in shown.capabilities
        assert shown.modelinfo["general.architecture"] == "mnemoir"
        assert (await client.ps()).models


async def test_ollama_embeds(listen):
    server = await listen()
    async with ollama.AsyncClient(host=server.url) as client:
        assert [len(vector) for vector in (await client.embed("minilm", ["one", "two"])).embeddings] == [384, 384]
        assert len((await client.embeddings("minilm", "one")).embedding) == 384


async def test_ollama_is_told_what_is_not_offered(listen):
    server = await listen()
    async with ollama.AsyncClient(host=server.url) as client:
        for refused in (client.pull("x"), client.create("x", from_="y"), client.copy("x", "y"), client.delete("x")):
            with pytest.raises(ollama.ResponseError, match="does not manage models") as caught:
                await refused
            assert caught.value.status_code == 501


async def test_ollama_raises_its_own_errors(listen, llm):
    server = await listen(asks(llm))
    async with ollama.AsyncClient(host=server.url) as client:
        llm.queue(failure(429, "said the far side"))
        with pytest.raises(ollama.ResponseError, match="said the far side"):
            await client.chat("mnemoir", MESSAGES)
        llm.reply("One two three", cut_after=1)
        with pytest.raises(ollama.ResponseError):
            [part async for part in await client.chat("mnemoir", MESSAGES, stream=True)]
