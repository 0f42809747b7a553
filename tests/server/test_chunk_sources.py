"""What is made of a chunk of a kept conversation names the stored messages that it was made of."""

import asyncio

import orjson
import pytest

from tests.server.served_tree import answering, served

CHAT = "/v1/chat/completions"
SETTINGS = {
    "endpointName": "Main",
    "systemPrompt": "You sum up.",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 20,
    "maxMessagesBetweenChunks": 2,
    "lookbackStartTurn": 0,
}
SAID = [
    {"role": ("user", "assistant")[n % 2], "content": f"My cup number {n} is made of very thin blue china."}
    for n in range(3)
]


@pytest.fixture
async def remembering(open_server, tmp_path, llm):
    """A server whose user makes chunk summaries of discussions behind the answers."""
    nodes = answering(), {"title": "Sum up", "type": "QualityMemory"}
    user = {"discussionIdMemoryFileWorkflowSettings": "Memory"}
    return await open_server(
        served(tmp_path, llm.url, *nodes, files={"Workflows/Ann/Memory.json": SETTINGS}, user=user)
    )


async def sources(server) -> list[dict]:
    """The messages of all chunks, oldest first, once they are all there."""
    async with asyncio.timeout(60):
        while True:
            answer = await server.ask("GET", "/api/discussions/cups/memories?kind=summaries&sources=true")
            chunks = orjson.loads(answer.body)["results"] if answer.status == 200 else []
            found = [one for chunk in chunks for one in chunk["source"]]
            if len(found) >= len(SAID):
                return found
            await asyncio.sleep(0.01)


async def test_the_words_behind_a_memory_of_a_kept_conversation_have_their_uids(remembering):
    instructions = {"role": "system", "content": "Be kind."}
    await remembering.post(CHAT, {"model": "ann", "messages": [instructions, *SAID]}, x_session_id="cups")
    stored = (await remembering.get("/api/conversations/cups/messages"))["results"]
    assert [one["content"] for one in stored[:3]] == [one["content"] for one in SAID]
    assert await sources(remembering) == [
        {**said, "uid": one["uid"]} for said, one in zip(SAID, stored, strict=False)
    ]


async def test_those_of_a_conversation_that_is_not_kept_have_none(remembering):
    tagged = [{**SAID[0], "content": f"[DiscussionId]cups[/DiscussionId]{SAID[0]['content']}"}, *SAID[1:]]
    await remembering.post(CHAT, {"model": "ann", "messages": tagged})
    assert await sources(remembering) == SAID
