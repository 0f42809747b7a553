"""The offline model as a chat model: the port's promises, answers by quoting, summaries by extraction."""

from typing import Any

import orjson
import pytest

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import Finished, Text, Usage
from mnemoir.core.messages import JsonSchema, ModelRequest, Sampling, text_message
from mnemoir.core.text import RecalledLine, put_up
from mnemoir.providers.llm.offline import OfflineModel, summarise


def asked(text: str, *, system: str = "", output: str | None = None, **sampling: Any) -> ModelRequest:
    messages = [*([text_message("system", system)] if system else []), text_message("user", text)]
    schema = JsonSchema(name=output, schema={}) if output else None
    return ModelRequest(messages=messages, output=schema, sampling=Sampling(**sampling))


COOKING = put_up(
    [RecalledLine(text="Is vegetarian"), RecalledLine(text="Allergic to nuts", day="2026-03-04")],
    "what should I keep in mind when cooking for me?",
)


async def test_a_chat_is_answered_by_quoting_what_was_recalled_and_saying_how_to_connect_a_model():
    reply = await OfflineModel().ask(asked(COOKING))
    for expected in ("- Is vegetarian", "- Allergic to nuts (2026-03-04)", "No language model", "OPENAI_API_KEY"):
        assert expected in reply.text


async def test_without_memories_it_says_that_it_remembers_nothing():
    reply = await OfflineModel().ask(asked("who am I?"))
    assert reply.text.startswith("I remember nothing about that.")


async def test_a_statement_is_not_answered_like_a_question():
    reply = await OfflineModel().ask(asked("Hi, I'm Alex. I'm a vegetarian."))
    assert reply.text.startswith("No language model is connected")


async def test_of_many_memories_the_ones_near_the_question_are_quoted():
    lines = [RecalledLine(text=f"Owns boat number {n}") for n in range(20)] + [
        RecalledLine(text="Sister lives in Oslo")
    ]
    reply = await OfflineModel().ask(asked(put_up(lines, "where does my sister live?")))
    assert "Sister lives in Oslo" in reply.text
    assert reply.text.count("\n- ") == 8


async def test_a_stream_says_the_same_as_the_whole_answer_and_ends_with_its_usage():
    model, request = OfflineModel(), asked(COOKING)
    batches = [batch async for batch in model.stream(request)]
    whole = await model.ask(request)
    events = [event for batch in batches for event in batch]
    assert "".join(event.text for event in events if isinstance(event, Text)) == whole.text
    assert len(batches) > 3
    assert all(batches)
    assert events[-2:] == [whole.usage, Finished()]
    assert whole.usage == Usage(input_tokens=whole.usage.input_tokens, output_tokens=whole.usage.output_tokens)
    assert min(whole.usage.input_tokens, whole.usage.output_tokens) > 0


async def test_an_answer_over_the_token_limit_is_cut_with_the_reason_length():
    reply = await OfflineModel().ask(asked(COOKING, max_tokens=5))
    assert reply.reason == "length"
    assert len(reply.text) <= 20


async def test_facts_are_extracted_through_the_schema_of_that_name():
    document = {"conversation_date": "2026-03-04", "turns": [{"role": "user", "text": "Hi, I'm Alex."}]}
    reply = await OfflineModel().ask(asked(orjson.dumps(document).decode(), output="memory_facts"))
    assert orjson.loads(reply.text) == {"facts": ["Name is Alex"]}


@pytest.mark.parametrize(("text", "output"), [("{}", "invoice"), ("no json", "memory_facts"), ("[]", "memory_facts")])
async def test_structured_output_it_has_no_rules_for_is_refused(text, output):
    with pytest.raises(ProviderRefused):
        await OfflineModel().ask(asked(text, output=output))


STORY = (
    "Anna sails every summer. She sails with her brother. The weather was nice. "
    "Sailing with her brother is what Anna loves. Lunch was soup."
)


async def test_a_summary_is_made_of_the_sentences_whose_words_occur_most():
    assert summarise(STORY, 2) == "Anna sails every summer. Sailing with her brother is what Anna loves."
    reply = await OfflineModel().ask(asked(STORY, system="Summarise the text."))
    assert reply.text == summarise(STORY)


async def test_a_summary_is_also_available_as_structured_output():
    document = orjson.dumps({"text": STORY, "sentences": 1}).decode()
    reply = await OfflineModel().ask(asked(document, output="summary"))
    assert orjson.loads(reply.text) == {"summary": summarise(STORY, 1)}


def test_a_short_text_is_its_own_summary():
    assert (summarise("One. Two.", 3), summarise("", 3)) == ("One. Two.", "")
