"""A refusal is kept as the text of its turn, and a client that sends it back goes on in the same conversation."""

import pytest

from tests.fidelity.test_refusals import MESSAGE, NO, refuses
from tests.scripted_llm import ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.server_kit import asks, hello

CHAT = "/v1/chat/completions"
AGAIN = {"role": "user", "content": "Why not?"}
SENT_BACK = (
    MESSAGE,
    {"role": "assistant", "content": [{"type": "refusal", "refusal": NO}]},
    {"role": "assistant", "content": NO},
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("sent_back", SENT_BACK, ids=["member", "part", "text"])
async def test_a_refusal_is_kept_as_text_and_found_again(
    open_server: OpenServer, llm: ScriptedLLM, stream: bool, sent_back: dict[str, object]
) -> None:
    server = await open_server(asks(llm))
    llm.queue(refuses(stream))
    first = hello(stream=stream, session_id="s-1")
    await server.ask("POST", CHAT, first)
    llm.reply("Because.")
    messages = [*first["messages"], sent_back, AGAIN]
    assert (await server.ask("POST", CHAT, {**first, "stream": False, "messages": messages})).status == 200
    assert llm.requests[-1].body["messages"] == messages
    page = await server.get("/api/conversations/s-1/messages")
    assert [message["content"] for message in page["results"]] == ["Hello", NO, "Why not?", "Because."]
    branches = await server.get("/api/conversations/s-1/branches")
    assert [branch["messages"] for branch in branches["results"]] == [4]
