"""Real answers of every route that is read with GET, on a server that holds something, are as they are described."""

import re

import pytest

from tests.server.described import Description
from tests.server.server_kit import asks, error_of

ENDLESS = {"/api/runs/live"}
# what is read by a name: where to find one, by the path's beginning and the name of its parameter
CONVERSATION = "tea/../time ☕"
MISSING = {"event_id"}  # nothing is under way here that has such an id


async def filled(open_server, llm):
    """A server with memories that were changed, a conversation with a branch, runs, one of them failed."""
    server = await open_server(asks(llm), metrics=True)
    for text in ("I row every morning.", "I moved to Graz."):
        said = {"messages": [{"role": "user", "content": text, "name": "Mira"}], "user_id": "mira", "infer": False}
        await server.post("/api/memories", said | {"metadata": {"a": [1, None]}, "run_id": CONVERSATION})
    chat = {"model": "mnemoir", "user": "mira", "conversation_id": CONVERSATION, "memoryEnabled": True}
    for text in ("When do I row?", "And where do I live?"):
        await server.post("/v1/chat/completions", chat | {"messages": [{"role": "user", "content": text}]})
    llm.queue(*[llm_failure()] * 3)
    broken = chat | {"messages": [{"role": "user", "content": "Break"}], "conversation_id": "broken"}
    await server.ask("POST", "/v1/chat/completions", broken)
    return server


def llm_failure():
    from tests.scripted_llm import failure

    return failure(500)


async def names_of(server) -> dict[tuple[str, str], str]:
    """The first names that a path may hold, by the path's beginning and its parameter."""
    memories = (await server.get("/api/memories/mira"))["results"]
    messages = (await server.get(f"/api/conversations/{quoted(CONVERSATION)}/messages?user_id=mira"))["results"]
    return {
        ("/api/memories", "memory_id"): memories[0]["id"],
        ("/api/memories", "user_id"): "mira",
        ("/api/runs", "run_id"): (await server.get("/api/runs"))["results"][0]["id"],
        ("/api/conversations", "id"): CONVERSATION,
        ("/api/conversations", "message_id"): str(messages[0]["id"]),
        ("/v1/models", "model_id"): "mnemoir",
        ("/models", "model_id"): "mnemoir",
    }


def quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
