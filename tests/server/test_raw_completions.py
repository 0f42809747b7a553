"""The unmodified `openai` package with completions that only their own protocol can express."""

from typing import Any

import openai
import orjson
import pytest

from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.server_kit import JSON, Server, asks
from tests.server.test_official_clients import openai_client

PROMPTS = ["def add(a, b):", "def sub(a, b):"]
LOGPROBS = {"tokens": [" one"], "token_logprobs": [-0.5], "top_logprobs": [{" one": -0.5}], "text_offset": [0]}
ENDS = ("stop", "length")
RAW: Any = {
    "suffix": "\n\nprint(add(1, 2))",
    "echo": True,
    "best_of": 3,
    "logprobs": 1,
    "n": 2,
    "logit_bias": {"50256": -100},
}


def completions(asked: Asked) -> Answer:
    """Two choices for each prompt, each with its log probabilities and its own end."""
    prompts = asked.body["prompt"] if isinstance(asked.body["prompt"], list) else [asked.body["prompt"]]
    choices = [
        {"index": n, "text": f"{prompts[n // 2]} #{n}", "logprobs": LOGPROBS, "finish_reason": ENDS[n % 2]}
        for n in range(2 * len(prompts))
    ]
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "far-model"}
    usage = {"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12}
    if not asked.body.get("stream"):
        return Answer(body=orjson.dumps({**head, "choices": choices, "usage": usage}))
    halves = [(choice, half) for choice in choices for half in str(choice["text"]).split("#")]
    pieces = [{**choice, "text": half, "finish_reason": None} for choice, half in halves]
    ends = [{**choice, "text": "", "logprobs": None} for choice in choices]
    chunks = [{**head, "choices": [one]} for one in (*pieces, *ends)] + [{**head, "choices": [], "usage": usage}]
    data = b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)
    return Answer(headers={"Content-Type": "text/event-stream"}, body=data + b"data: [DONE]\n\n")


@pytest.fixture
async def server(listen: OpenServer, llm: ScriptedLLM) -> Server:
    llm.rule(lambda asked: asked.path == "/v1/completions", completions)
    return await listen(asks(llm))


async def test_a_list_of_prompts_reaches_the_model_as_it_came(server: Server, llm: ScriptedLLM) -> None:
    async with openai_client(server) as client:
        made = await client.completions.create(model="mnemoir", prompt=PROMPTS, max_tokens=9, **RAW)
    assert llm.requests[-1].body == {"model": "far-model", "prompt": PROMPTS, "max_tokens": 9, **RAW}
    assert [(one.index, one.text, one.finish_reason) for one in made.choices] == [
        (0, f"{PROMPTS[0]} #0", "stop"),
        (1, f"{PROMPTS[0]} #1", "length"),
        (2, f"{PROMPTS[1]} #2", "stop"),
        (3, f"{PROMPTS[1]} #3", "length"),
    ]
    assert [one.logprobs and one.logprobs.model_dump() for one in made.choices] == [LOGPROBS] * 4
    assert made.usage is not None
    assert made.usage.total_tokens == 12


async def test_choices_are_streamed_by_their_index_with_their_log_probabilities(server: Server) -> None:
    async with openai_client(server) as client:
        stream = await client.completions.create(
            model="mnemoir", prompt=PROMPTS, stream=True, stream_options={"include_usage": True}, **RAW
        )
        chunks = [chunk async for chunk in stream]
    choices = [choice for chunk in chunks for choice in chunk.choices]
    for n in range(4):
        own = [choice for choice in choices if choice.index == n]
        assert "".join(choice.text for choice in own) == f"{PROMPTS[n // 2]} {n}"
        assert [choice.finish_reason for choice in own if choice.finish_reason] == [ENDS[n % 2]]
        told = [choice.logprobs.model_dump() for choice in own if choice.logprobs]
        assert told == [LOGPROBS] * 2
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 12


@pytest.mark.parametrize("prompt", [[11, 12], [[11], [12, 13]]])
async def test_prompts_of_tokens_reach_the_model_as_they_came(server: Server, llm: ScriptedLLM, prompt: Any) -> None:
    async with openai_client(server) as client:
        await client.completions.create(model="mnemoir", prompt=prompt)
    assert llm.requests[-1].body["prompt"] == prompt


@pytest.mark.parametrize("stream", [True, False])
async def test_a_raw_prompt_is_neither_recalled_for_nor_learned_from_nor_kept(
    server: Server, llm: ScriptedLLM, stream: bool
) -> None:
    said = {"role": "user", "content": "I add numbers."}
    await server.post("/api/memories", {"messages": [said], "user_id": "user", "infer": False})
    body = {"prompt": PROMPTS[0], "suffix": "end", "memoryEnabled": True, "session_id": "s1", "stream": stream}
    answer = await server.ask("POST", "/v1/completions", body)
    assert (answer.status, answer.headers["x-memory-skipped"]) == (200, "raw")
    assert answer.headers.keys().isdisjoint(("x-conversation-id",))
    run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert (run["memory_skipped"], llm.requests[-1].body["prompt"]) == ("raw", PROMPTS[0])
    assert (await server.get("/api/conversations"))["results"] == []
    assert (await server.get("/api/status"))["work"]["jobs"] == []


@pytest.fixture(params=["openai-responses", "ollama", "offline"])
async def without_completions(request: pytest.FixtureRequest, listen: OpenServer, llm: ScriptedLLM) -> Server:
    """A server whose model has no such route."""
    return await listen(asks(llm, **{"llm.provider": request.param, "llm.ollama_url": llm.url}))


async def test_several_prompts_are_refused_where_the_model_takes_one(without_completions: Server) -> None:
    async with openai_client(without_completions) as client:
        with pytest.raises(openai.BadRequestError, match="prompt must be one text") as caught:
            await client.completions.create(model="mnemoir", prompt=PROMPTS)
    assert (caught.value.code, caught.value.param) == ("not_supported", "prompt")


async def test_other_members_are_named_where_the_model_has_no_place_for_them(without_completions: Server) -> None:
    members: JSON = {name: value for name, value in RAW.items() if name != "n"}
    async with openai_client(without_completions) as client:
        raw = await client.completions.with_raw_response.create(model="mnemoir", prompt=PROMPTS[:1], **members)
    assert set(raw.headers["x-mnemoir-dropped"].split(", ")) == members.keys()
    assert raw.headers["x-memory-skipped"] == "off"
    assert raw.parse().choices[0].text
