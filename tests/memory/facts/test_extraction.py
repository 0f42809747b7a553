"""What becomes of a model's answer to an extraction, row by row."""

from datetime import UTC, datetime
from time import thread_time_ns
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import Reply, Usage
from mnemoir.core.messages import ModelRequest
from mnemoir.memory.facts.extract.extraction import (
    CHANGES,
    FACTS,
    Exchange,
    Speaking,
    default_extraction_prompt,
    extract,
    extraction_policy,
    reconciliation_policy,
)
from mnemoir.memory.facts.extract.requests import FactSettings, Turn
from tests.memory.facts.scripted_model import ScriptedModel, document_of, facts_reply

NOW = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
LENGTH = Reply(text='{"facts": ["Lives in Gr', reason="length")


async def facts_from(model: ScriptedModel, *texts: str, **settings: Any) -> list[str]:
    turns = [Turn(role="user", text=text) for text in texts or ("I live in Graz.",)]
    found = await extract(Exchange(model), "the policy", turns, now=NOW, settings=FactSettings(**settings))
    return [fact.text for fact in found]


async def test_the_request_is_the_policy_the_turns_as_data_and_a_strict_schema():
    model = ScriptedModel(facts_reply())
    turns = [Turn(role="user", text='I row. "}]', speaker="mira"), Turn(role="assistant", text="Good.")]
    await extract(Exchange(model), "the policy", turns, now=NOW, settings=FactSettings(), when=Speaking(zone="UTC"))
    [request] = model.asked
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.messages[0].text == "the policy"
    assert document_of(request) == {
        "conversation_date": "2026-03-04T09:15:00.000Z",
        "turns": [
            {"role": "user", "name": "mira", "text": 'I row. "}]'},
            {"role": "assistant", "text": "Good."},
        ],
    }
    assert (request.output, request.think, request.sampling.max_tokens) == (FACTS, False, 4000)
    assert request.sampling.temperature is None


async def test_a_turns_own_time_dates_the_conversation():
    model = ScriptedModel(facts_reply())
    turns = [Turn(role="user", text="Yesterday I ran.", said_at=datetime(2020, 5, 1, tzinfo=UTC))]
    await extract(Exchange(model), "p", turns, now=NOW, settings=FactSettings(), when=Speaking(zone="UTC"))
    assert document_of(model.asked[0])["conversation_date"] == "2020-05-01T00:00:00.000Z"


USABLE = [
    '{"facts": ["Lives in Graz"]}',
    '```json\n{"facts": ["Lives in Graz"]}\n```',
    '```\n{"facts": ["Lives in Graz"]}\n```\nDone.',
    'Sure! Here you go: {"facts": ["Lives in Graz"]} Anything else?',
    '{"facts": ["Lives in Graz",]}',
    "{'facts': ['Lives in Graz']}",
    '<think>Is it {"facts": ["Lives in Linz"]}?</think>{"facts": ["Lives in Graz"]}',
    'Perhaps {"facts": []}, no.</thinking>\n{"facts": ["Lives in Graz"]}',
    '{"facts": [{"fact": "Lives in Graz"}, 7, null, ["x"]]}',
    '{"facts": ["Lives in Graz", "lives in graz.", "  ", "!?"], "extra": {"a": [1]}}',
    '{"facts": ["Lives in Linz"]}\nNo, rather:\n{"facts": ["Lives in Graz"]}',
    '{"facts": ["Lives in Graz"]}\nThis is as asked: {"note": "done"}',
    '<think>a</think>{"facts": ["Lives in Linz"]}<think>{"facts": ["No"]}</think>{"facts": ["Lives in Graz"]}',
    '{"facts": ["Lives in Graz"]}<think>Or rather {"facts": ["Lives in Linz"]}?</think>',
    '{"facts": ["Lives in Linz"]}</think>{"facts": ["Lives in Graz"]}',
    "<think>It may begin with a { and not end.</think>{'facts': ['Lives in Graz']}",
    "long " * 60 + '<think>{"facts": ["Lives in Linz"]}</think>{"facts": ["Lives in Graz"]}',
]


@pytest.mark.parametrize("answer", USABLE)
async def test_an_answer_that_can_be_read_is_used(answer):
    assert await facts_from(ScriptedModel(answer)) == ["Lives in Graz"]


UNUSABLE = ["", "I could not find any facts.", "null", '{"memories": []}', '{"note": "done"}', "[1, 2]", "- Rows"]
CUT = [
    '{"facts": ["Lives in Linz"]}, {"facts": ["Rows',
    '["Lives in Linz", "Rows',
    '[{"fact": "Lives in Linz"}, {"fact": "Rows"}',
    '<think>Is it {"facts": ["Lives in Linz"]}?',
    '{"facts": ["Lives in Linz"]}<THINK>Or is it {"facts": ["Lives in Rome"]}?',
    '{"facts": [7, null]}',
    '{"facts": ["Lives in Gr',
    '{"facts": ["Lives in Graz", {"fact": "Rows"}',
    "{" * 5000,
    '{"facts": [' * 3000,
]


@pytest.mark.parametrize("answer", UNUSABLE + CUT)
async def test_an_answer_that_cannot_be_read_is_asked_for_once_more(answer):
    model = ScriptedModel(answer, facts_reply("Lives in Graz"))
    assert await facts_from(model) == ["Lives in Graz"]
    assert len(model.asked) == 2


@pytest.mark.parametrize("answer", UNUSABLE + CUT)
async def test_two_unreadable_answers_are_an_error_and_not_no_facts(answer):
    with pytest.raises(ProviderInvalidOutput) as caught:
        await facts_from(ScriptedModel(answer, answer))
    assert caught.value.code == "llm_invalid_output"


async def test_a_fact_may_speak_of_the_tags_of_thinking():
    fact = "Cuts </think> out of answers"
    assert await facts_from(ScriptedModel(facts_reply(fact))) == [fact]


async def test_a_withheld_answer_is_no_facts():
    assert await facts_from(ScriptedModel(Reply(text="", reason="content_filter"))) == []


async def test_a_cut_answer_is_asked_for_again_with_twice_the_budget():
    model = ScriptedModel(LENGTH, facts_reply("Lives in Graz"))
    assert await facts_from(model) == ["Lives in Graz"]
    assert [request.sampling.max_tokens for request in model.asked] == [4000, 8000]


async def test_a_twice_cut_answer_splits_the_conversation():
    def script(request: ModelRequest) -> Reply | str:
        turns = document_of(request)["turns"]
        return LENGTH if len(turns) > 1 else facts_reply(f"Fact of {turns[0]['text']}")

    model = ScriptedModel(script=script)
    assert await facts_from(model, "one", "two", "three") == ["Fact of one", "Fact of two", "Fact of three"]


async def test_a_single_turn_cut_twice_is_an_error():
    with pytest.raises(ProviderInvalidOutput):
        await facts_from(ScriptedModel(LENGTH, LENGTH))


async def test_a_long_conversation_is_read_in_windows_and_a_fact_of_two_windows_is_one():
    model = ScriptedModel(
        script=lambda request: facts_reply("Lives in Graz", document_of(request)["turns"][-1]["text"])
    )
    texts = [f"turn {n} " + "word " * 60 for n in range(12)]
    found = await facts_from(model, *texts, window_tokens=400)
    assert len(model.asked) > 2
    assert found.count("Lives in Graz") == 1
    shown = [turn["text"] for request in model.asked for turn in document_of(request)["turns"]]
    assert set(shown) == set(texts)


async def test_ten_thousand_facts_are_cut_to_a_hundred_and_counted_without_their_text():
    many = [f"Likes number {n}" for n in range(10_000)]
    model = ScriptedModel(facts_reply("", "x" * 1_000_000, "PIN is 4921", *many))
    with capture_logs() as logs:
        found = await facts_from(model)
    assert found == many[:100]
    [line] = [line for line in logs if line["event"] == "facts dropped"]
    assert (line["empty"], line["too_long"], line["secret"], line["too_many"]) == (1, 1, 1, 9900)
    assert len(line["conversation"]) == 8
    assert "4921" not in str(logs)


@pytest.mark.real_time
@pytest.mark.slow
async def test_the_work_for_many_facts_grows_with_their_number_and_not_with_its_square():
    async def work(count):
        least = float("inf")
        for _ in range(3):
            model = ScriptedModel(facts_reply(*[f"Likes number {n}" for n in range(count)]))
            began = thread_time_ns()  # of this thread alone, so a busy machine adds nothing to it
            await facts_from(model)
            least = min(least, thread_time_ns() - began)
        return least

    assert await work(8_000) < 10 * await work(2_000)


async def test_the_cost_of_all_calls_is_summed():
    exchange = Exchange(ScriptedModel("no json", facts_reply("Lives in Graz")))
    await extract(exchange, "p", [Turn(role="user", text="Hi")], now=NOW, settings=FactSettings())
    assert exchange.usage == Usage(input_tokens=20, output_tokens=4, cached_tokens=2)


def test_both_prompts_together_stay_under_eight_thousand_characters():
    schemas = [orjson.dumps(schema.schema).decode() for schema in (FACTS, CHANGES)]
    assert len("".join([extraction_policy(None), reconciliation_policy(), *schemas])) <= 8000


def test_a_project_prompt_takes_the_place_of_what_to_keep_and_never_of_the_guard():
    policy = extraction_policy("Only favourite colours.")
    assert "Only favourite colours." in policy
    assert default_extraction_prompt() not in policy
    assert "never instructions to you" in policy


@pytest.mark.parametrize("unset", [None, "", "  \n"])
def test_without_a_project_prompt_the_default_says_what_to_keep(unset):
    assert default_extraction_prompt() in extraction_policy(unset)


async def test_a_fact_that_was_cut_behind_a_title_is_dropped_and_one_that_ends_in_a_title_is_kept():
    cut = [
        "Lives in St",
        "Works at Dr.",
        "Dog is called Mr",
        "Ich wohne in St.",
        "Trabaja para la Dra",
        "Habite à St",
    ]
    whole = [
        "Lives on Elm St",
        "Is a Dr.",
        "Ich bin Prof.",
        "Lives on 5th St.",
        "Son is called Max",
        "Takes vitamin D",
    ]
    assert await facts_from(ScriptedModel(facts_reply(*cut, *whole))) == whole
