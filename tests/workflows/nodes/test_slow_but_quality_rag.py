"""SlowButQualityRAG: a text worked through piece by piece."""

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.messages import text_message
from mnemoir.workflows.nodes.slow_but_quality_rag import SlowButQualityRag
from tests.scripted_llm import ScriptedLLM, closed_port_url, failure

TARGET = "one--ChunkBreak--two--ChunkBreak--three"


def echo(asked):
    """The last line of the prompt, in capitals."""
    content = asked.body["messages"][-1]["content"]
    return content.rpartition("\n")[2].upper() + "."


@pytest.fixture
def asking(bench, llm):
    bench.endpoint("first", llm.url)
    bench.variables = {"target": TARGET}
    llm.rule(lambda asked: asked.path.endswith("/chat/completions"), echo)
    return {
        "ragTarget": "{target}",
        "ragType": "",
        "endpointName": "first",
        "systemPrompt": "Shorten.",
        "prompt": "This:\n[TextChunk]",
    }


def prompts(llm):
    return [request.body["messages"][-1]["content"] for request in llm.requests]


async def test_each_piece_is_asked_about_and_the_answers_are_joined(bench, llm, asking):
    assert await bench.run(SlowButQualityRag, **asking) == "ONE.TWO.THREE."
    assert prompts(llm) == ["This:\none", "This:\ntwo", "This:\nthree"]
    assert {request.body["messages"][0]["content"] for request in llm.requests} == {"Shorten."}


async def test_blank_pieces_are_not_asked_about(bench, llm, asking):
    bench.variables = {"target": "--ChunkBreak-- \n--ChunkBreak--one"}
    assert await bench.run(SlowButQualityRag, **asking) == "ONE."
    assert len(llm.requests) == 1


async def test_marks_and_variables_in_a_piece_are_not_replaced(bench, llm, asking):
    bench.outputs, bench.variables = {1: "[TextChunk] {agent2Output} [Memory_file]", 2: "secret"}, {}
    await bench.run(SlowButQualityRag, **{**asking, "ragTarget": "{agent1Output}"})
    assert prompts(llm) == ["This:\n[TextChunk] {agent2Output} [Memory_file]"]


async def test_system_messages_within_the_conversation_are_not_among_the_last(bench, llm, asking):
    bench.messages = [
        text_message("system", "Be kind."),
        text_message("user", "a"),
        text_message("system", "aside"),
        text_message("user", "b"),
    ]
    asking["prompt"] = "{chat_system_prompt}|{chat_user_prompt_last_two}\n[TextChunk]"
    await bench.run(SlowButQualityRag, **asking)
    assert prompts(llm)[0] == "Be kind.|a\nb\none"


async def test_earlier_answers_are_shown_in_a_discussion_in_order(bench, llm, asking):
    bench.discussion = "d1"
    bench.variables = {"target": "--ChunkBreak--".join("abcde")}
    asking["systemPrompt"] = "[Chat_Summary]"
    asking["prompt"] = "[Memory_file]|[Full_Memory_file]\n[TextChunk]"
    assert await bench.run(SlowButQualityRag, **asking) == "A.B.C.D.E."
    line = "\n--------------\n"
    assert prompts(llm)[0] == "No preceding memories to show|No preceding memories to show\na"
    assert prompts(llm)[4] == f"B.{line}C.{line}D.|A.{line}B.{line}C.{line}D.\ne"
    assert llm.requests[0].body["messages"][0]["content"] == "There is not yet a summary file"


@pytest.mark.parametrize("place", ["[Memory_file]", "[Full_Memory_file]", "[Chat_Summary]"])
async def test_prompts_about_memory_do_nothing_without_a_discussion(bench, llm, asking, place):
    assert await bench.run(SlowButQualityRag, **{**asking, "systemPrompt": place}) == ""
    assert llm.requests == []


async def test_several_endpoints_share_the_pieces(bench, llm, asking):
    async with ScriptedLLM() as other:
        bench.endpoint("second", other.url)
        other.rule(lambda asked: True, echo)
        asking["multiModelList"] = [{"endpointName": "first"}, {"endpointName": "{spare}"}]
        bench.variables["spare"] = "second"
        assert await bench.run(SlowButQualityRag, **asking) == "ONE.TWO.THREE."
        assert sorted(prompts(llm) + prompts(other)) == ["This:\none", "This:\nthree", "This:\ntwo"]
        assert {request.body["model"] for request in other.requests} == {"second"}
        assert llm.requests


@pytest.mark.parametrize("placeholder", ["", "[Memory_file]\n"])
async def test_other_endpoints_take_the_pieces_of_a_failing_one(bench, llm, asking, placeholder):
    bench.endpoint("dead", closed_port_url())
    bench.discussion = "d1"
    asking["prompt"] = placeholder + asking["prompt"]
    asking["multiModelList"] = [{"endpointName": "dead"}, {"endpointName": "first"}]
    assert await bench.run(SlowButQualityRag, **asking) == "ONE.TWO.THREE."


async def test_when_no_endpoint_answers_the_run_fails(bench, llm, asking):
    bench.endpoint("dead", closed_port_url())
    bench.endpoint("locked", llm.url, "text")
    llm.queue(failure(401, "wrong key"))
    asking["multiModelList"] = [{"endpointName": "dead"}, {"endpointName": "locked"}]
    with pytest.raises(ProviderError, match=r"dead|locked"):
        await bench.run(SlowButQualityRag, **asking)


async def test_a_text_endpoint_gets_its_templates(bench, llm, asking):
    bench.endpoint("text", llm.url, "text")
    llm.rule(lambda asked: asked.path == "/v1/completions", "short")
    assert await bench.run(SlowButQualityRag, **{**asking, "endpointName": "text"}) == "shortshortshort"
    assert llm.requests[0].body["prompt"] == "<S>Shorten.</S><U>This:\none</U><A>"
