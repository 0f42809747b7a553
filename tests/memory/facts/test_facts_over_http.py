"""An add through the OpenAI back-end over a real socket: what goes over the wire, and what failures do."""

from collections.abc import AsyncIterator

import pytest

from mnemoir.core.errors import ProviderInvalidOutput, ProviderRefused
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import Facts
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from tests.scripted_llm import Answer, ScriptedLLM, failure

MIRA = Scope(project="kitchen", user="mira")


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server


@pytest.fixture
async def facts(house, llm) -> AsyncIterator[Facts]:
    async with new_session() as session:
        endpoint = Endpoint(base_url=llm.openai_url, api_key="sk-test", model="gpt-5-mini", backoff_s=0)
        yield house.facts(OpenAIResponses(endpoint, session))


async def test_an_add_and_a_change_are_three_calls_of_the_responses_route(facts, llm, tell, kept):
    llm.reply_json({"facts": ["Lives in Graz"]})
    llm.reply_json({"facts": ["Lives in Rome"]})
    llm.reply_json(
        {"memory": [{"id": "0", "text": "Lives in Rome", "event": "UPDATE", "old_memory": "Lives in Graz"}]}
    )
    await tell(facts, "I live in Graz.")
    await tell(facts, "I moved to Rome.")
    assert await kept(facts) == ["Lives in Rome"]
    assert [asked.path for asked in llm.requests] == ["/v1/responses"] * 3
    for asked in llm.requests:
        assert asked.body["store"] is False
        assert asked.body["text"]["format"]["strict"] is True
        assert asked.body["reasoning"] == {"effort": "minimal"}
        assert asked.body["max_output_tokens"] == 4000
        assert not {"temperature", "top_p", "response_format"} & set(asked.body)
    assert llm.requests[0].body["instructions"] == llm.requests[1].body["instructions"]


async def test_a_truncated_answer_is_asked_for_again_and_never_taken_for_no_facts(facts, llm, tell, kept):
    llm.queue(Answer(text='{"facts": ["Lives in Gr', reason="length"))
    llm.reply_json({"facts": ["Lives in Graz"]})
    await tell(facts, "I live in Graz.")
    assert await kept(facts) == ["Lives in Graz"]
    assert [asked.body["max_output_tokens"] for asked in llm.requests] == [4000, 8000]


async def test_prose_twice_is_an_error_and_nothing_is_stored(facts, llm, tell, kept):
    llm.reply("I found nothing.")
    llm.reply("Really nothing.")
    with pytest.raises(ProviderInvalidOutput):
        await tell(facts, "I live in Graz.")
    assert await kept(facts) == []


async def test_a_refused_key_is_said_and_not_tried_again(facts, llm, tell):
    llm.queue(failure(401, "wrong key"))
    with pytest.raises(ProviderRefused) as caught:
        await tell(facts, "I live in Graz.")
    assert (caught.value.code, len(llm.requests)) == ("llm_auth_failed", 1)
