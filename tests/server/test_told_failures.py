"""What a client is told of an answer is what is recorded of it: a failure leaves a failed run and nothing learned."""

from typing import Any

import orjson
import pytest

from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer
from tests.server.served_tree import answering, served
from tests.server.server_kit import asks
from tests.server.test_incomplete_answers import only_the_whole_turn_is_remembered
from tests.server.test_one_verdict import kept_answers
from tests.wire.answer_kit import DONE, as_json, chunk, sse, whole

CHATS = "/api/chat"
TOOL = {"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}
UNFIT = ('{"c":', "[1]", '{"c": NaN}', "7", '{"c":1} and so on')


def answer_with(arguments: str, *, stream: bool) -> Answer:
    call = {"index": 0, "id": "a", "function": {"name": "w", "arguments": arguments}}
    if not stream:
        return Answer(body=as_json(whole({"content": "Hi", "tool_calls": [call]}, "tool_calls")))
    frames = (chunk({"content": "Hi"}), chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), DONE)
    return Answer(body=sse(*frames), headers={"Content-Type": "text/event-stream"})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("nodes", ["built in", "one node"])
async def test_a_call_that_an_ollama_client_cannot_get_is_recorded_as_a_failure(
    open_server, llm, tmp_path, nodes, stream
):
    settings = asks(llm) | {"embedding.provider": "openai"}
    if nodes == "one node":
        remembering = {"title": "Remember", "type": "Remember", "beforeClose": True}
        settings |= served(tmp_path, llm.url, answering(allowTools=True), remembering)
    server = await open_server(settings)
    seen = learn_every_turn(llm)
    now: list[Answer] = []
    llm.rule(lambda asked: bool(now), lambda asked: now[0])
    for n, arguments in enumerate(UNFIT):
        now[:] = [answer_with(arguments, stream=stream)]
        said: dict[str, Any] = {
            "model": "x",
            "messages": [{"role": "user", "content": "I am allergic to nuts."}],
            "tools": [TOOL],
        }
        said |= {"stream": stream, "user": "mira", "memoryEnabled": True, "conversation_id": f"tea-{n}"}
        answer = await server.ask("POST", CHATS, said, x_user_id="mira", x_memory="on")
        assert b"not a JSON object" in answer.body, (arguments, answer.body)
        (run, *_) = (await server.get("/api/runs"))["results"]
        assert (run["status"], "not a JSON object" in (run["error"] or "")) == ("failed", True), arguments
        assert all(reason == "incomplete" for _, reason in await kept_answers(server, f"tea-{n}")), arguments
    now.clear()
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_arguments_with_half_a_pair_reach_an_ollama_client(open_server, llm, stream):
    server = await open_server(asks(llm))
    llm.queue(answer_with('{"c":"a \\ud83d","t":"\t"}', stream=stream))
    said = {"model": "x", "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL], "stream": stream}
    answer = await server.ask("POST", CHATS, said)
    (call,) = [
        call
        for line in map(orjson.loads, answer.body.splitlines())
        for call in line.get("message", {}).get("tool_calls", ())
    ]
    assert call["function"]["arguments"] == {"c": "a \ufffd", "t": "\t"}
