"""What is odd about an answer, and yet no error, stands in the notes of the node that asked for it."""

import pytest

from tests.scripted_llm import Answer, failure
from tests.server.served_tree import answering, before, served
from tests.server.server_kit import asks, hello
from tests.wire.answer_kit import END, HI, as_json, chunk, sse, whole

CHAT = "/v1/chat/completions"
PARTS = [{"type": "hologram", "x": 1}, {"type": "text", "text": "Hi "}]
ODD = {
    "an unknown part": (sse(chunk({"content": PARTS}), END), "hologram"),
    "an unknown part of a whole answer": (as_json(whole({"content": PARTS})), "hologram"),
    "an unreadable end": (sse(HI, END, b"{oops"), "oops"),
}


async def notes(server) -> list[str]:
    (run, *_) = (await server.get("/api/runs"))["results"]
    trace = await server.get(f"/api/runs/{run['id']}")
    assert run["status"] == "finished"
    return [note for workflow in trace["workflows"] for node in workflow["nodes"] for note in node["notes"]]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("nodes", ["built in", "one node", "a node before"])
async def test_what_is_odd_is_noted_once(open_server, llm, tmp_path, nodes, stream):
    settings = asks(llm)
    if nodes != "built in":
        chain = [answering()] if nodes == "one node" else [before(), answering()]
        settings |= served(tmp_path, llm.url, *chain)
    server = await open_server(settings)
    for body, words in ODD.values():
        llm.queue(Answer(body=body, headers={"Content-Type": "text/event-stream"}))
        answer = await server.ask("POST", CHAT, hello(stream=stream))
        assert (answer.status, words.encode() in answer.body) == (200, False)
        assert [words in note for note in await notes(server)] == [True]


async def test_a_member_that_the_models_server_does_not_know_is_noted_each_time(open_server, llm):
    server = await open_server(asks(llm))
    refusal = failure(400, "Unknown parameter: 'stream_options'.")
    llm.rule(lambda asked: "stream_options" in asked.body, refusal)
    for tries in (2, 1):
        asked = len(llm.requests)
        said = hello(stream=True) | {"stream_options": {"include_usage": True}}
        assert (await server.ask("POST", CHAT, said)).status == 200
        assert len(llm.requests) - asked == tries
        (note,) = await notes(server)
        assert note == "The model's server does not know 'stream_options', so it was asked without."


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_member_of_too_many_levels_is_an_error_of_the_models_server(open_server, llm, stream):
    server = await open_server(asks(llm))
    deep = b'"x":' + b'{"a":' * 300 + b"1" + b"}" * 300
    llm.queue(Answer(body=as_json(whole({"content": "Hi"}))[:-1] + b"," + deep + b"}"))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert answer.status == 502, answer.body
    assert b"llm_invalid_output" in answer.body
