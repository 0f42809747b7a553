"""The unmodified `openai` package with `n`: every answer comes through, and the first one counts."""

import asyncio
from itertools import zip_longest
from pathlib import Path
from typing import Any

import openai
import orjson
import pytest

from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.served_tree import served
from tests.server.server_kit import Server, asks
from tests.server.test_official_clients import openai_client

ASKED: Any = [{"role": "user", "content": "I moved to Graz. Name a lake?"}]
LAKES = [("Worthersee it is.", "stop"), ("Attersee, I", "length"), ("", "content_filter")]
LOGPROBS: dict[str, Any] = {
    "content": [{"token": "lake", "logprob": -0.5, "bytes": None, "top_logprobs": []}],
    "refusal": None,
}


def lakes(asked: Asked) -> Answer:
    """Three answers with ends of their own, their pieces one behind the other."""
    head = {"id": "far", "created": 1, "model": "far-model"}
    usage = {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 20}
    if not asked.body.get("stream"):
        choices = [
            {
                "index": n,
                "message": {"role": "assistant", "content": text},
                "logprobs": LOGPROBS,
                "finish_reason": end,
            }
            for n, (text, end) in enumerate(LAKES)
        ]
        return Answer(body=orjson.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage}))
    deltas: list[Any] = [(n, {"role": "assistant", "content": ""}, None) for n in range(3)]
    for row in zip_longest(*(text.split() for text, _ in LAKES)):  # the pieces come in turns
        deltas += [(n, {"content": f"{word} "}, None) for n, word in enumerate(row) if word]
    deltas += [(n, {}, end) for n, (_, end) in enumerate(LAKES)]
    chunks: list[Any] = [
        {**head, "choices": [{"index": n, "delta": delta, "logprobs": LOGPROBS, "finish_reason": end}]}
        for n, delta, end in deltas
    ]
    chunks.append({**head, "choices": [], "usage": usage})
    data = b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)
    return Answer(headers={"Content-Type": "text/event-stream"}, body=data + b"data: [DONE]\n\n")


@pytest.fixture
async def server(listen: OpenServer, llm: ScriptedLLM) -> Server:
    llm.rule(lambda asked: asked.body.get("n") == 3, lakes)
    return await listen(asks(llm))


async def test_whole_answers_come_with_their_own_ends(server: Server) -> None:
    async with openai_client(server) as client:
        made = await client.chat.completions.create(model="mnemoir", messages=ASKED, n=3, logprobs=True)
    assert [(one.index, one.message.content, one.finish_reason) for one in made.choices] == [
        (n, text, end) for n, (text, end) in enumerate(LAKES)
    ]
    assert [one.logprobs and one.logprobs.model_dump() for one in made.choices] == [LOGPROBS] * 3


async def test_streamed_answers_come_by_their_index_with_their_own_ends(server: Server) -> None:
    async with openai_client(server) as client:
        stream = await client.chat.completions.create(model="mnemoir", messages=ASKED, n=3, stream=True)
        choices = [choice async for chunk in stream for choice in chunk.choices]
    for n, (text, end) in enumerate(LAKES):
        own = [choice for choice in choices if choice.index == n]
        assert "".join(choice.delta.content or "" for choice in own).strip() == text
        assert [choice.finish_reason for choice in own if choice.finish_reason] == [end]


async def test_a_prompt_with_marked_roles_gets_them_as_texts(server: Server) -> None:
    prompt = "[Beg_User]Name a lake?[Beg_Assistant]"
    async with openai_client(server) as client:
        whole = await client.completions.create(model="mnemoir", prompt=prompt, n=3)
        stream = await client.completions.create(model="mnemoir", prompt=prompt, n=3, stream=True)
        pieces = [choice async for chunk in stream for choice in chunk.choices]
    assert [(one.text, one.finish_reason) for one in whole.choices] == LAKES
    for n, (text, end) in enumerate(LAKES):
        own = [choice for choice in pieces if choice.index == n]
        assert ("".join(choice.text for choice in own).strip(), own[-1].finish_reason) == (text, end)


@pytest.mark.parametrize("stream", [True, False])
async def test_the_first_answer_alone_is_kept_and_learned_from(
    server: Server, llm: ScriptedLLM, stream: bool
) -> None:
    learned: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def extracted(asked: Asked) -> str:
        if not learned.done():
            learned.set_result(asked.prompt)
        return "{}"

    llm.rule(lambda asked: "n" not in asked.body, extracted)
    body = {
        "model": "mnemoir",
        "messages": ASKED,
        "n": 3,
        "stream": stream,
        "memoryEnabled": True,
        "session_id": "s1",
    }
    answer = await server.ask("POST", "/v1/chat/completions", body)
    assert (answer.status, "x-memory-skipped" in answer.headers) == (200, False)
    kept = await server.get("/api/conversations/s1/messages")
    assert [one["content"].strip() for one in kept["results"]] == [ASKED[0]["content"], LAKES[0][0]]
    prompt = await learned
    assert ("Worthersee" in prompt, "Attersee" in prompt) == (True, False)


@pytest.mark.parametrize("provider", ["openai-responses", "ollama", "offline", "tree"])
@pytest.mark.parametrize("stream", [True, False])
async def test_several_answers_are_refused_where_none_but_one_can_be_had(
    listen: OpenServer, llm: ScriptedLLM, tmp_path: Path, provider: str, stream: bool
) -> None:
    if provider == "tree":
        server = await listen(served(tmp_path, llm.url, forwardClientParameters=True))
    else:
        server = await listen(asks(llm, **{"llm.provider": provider, "llm.ollama_url": llm.url}))
    async with openai_client(server) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model="mnemoir", messages=ASKED, n=2, stream=stream)
    assert (caught.value.code, caught.value.param, llm.requests) == ("not_supported", "n", [])


@pytest.mark.parametrize("n", [0, 9])
async def test_numbers_out_of_range_are_refused(server: Server, llm: ScriptedLLM, n: int) -> None:
    async with openai_client(server) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model="mnemoir", messages=ASKED, n=n)
    assert (caught.value.param, llm.requests) == ("n", [])
