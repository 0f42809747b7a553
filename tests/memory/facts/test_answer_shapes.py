"""What is read of a model's answer, in the shapes that models give facts and decisions."""

from typing import Any

import pytest

from mnemoir.core.events import Reply
from mnemoir.memory.facts.decide.reconciliation import Proposal, read_proposals
from mnemoir.memory.facts.extract.answers import read_facts
from mnemoir.memory.facts.extract.extraction import FACTS, Exchange, Question, UnreadableAnswer
from mnemoir.memory.model_json import read_groups
from tests.each_case import check_each
from tests.memory.facts.scripted_model import ScriptedModel, facts_reply

BOTH = ["Name is Jo", "Likes pizza"]
QUESTION = Question(policy="p", document={}, output=FACTS)

SHAPES: list[tuple[str, list[str]]] = [
    ('{"facts": ["Name is Jo", "Likes pizza"]}', BOTH),
    ('["Name is Jo", "Likes pizza"]', BOTH),
    ("['Name is Jo', 'Likes pizza']", BOTH),
    ('```json\n["Name is Jo", "Likes pizza"]\n```', BOTH),
    ('Here they are: ["Name is Jo", "Likes pizza"] Anything else?', BOTH),
    ('{"facts": [{"fact": "Name is Jo", "category": "identity"}, {"text": "Likes pizza", "confidence": 0.9}]}', BOTH),
    ('[{"memory": "Name is Jo", "id": 3}, {"content": "Likes pizza"}]', BOTH),
    ('{"facts": [{"Fact": "Name is Jo"}, {"statement": "Likes pizza", "fact": null}]}', BOTH),
    ('{"fact": "Name is Jo"}\n{"fact": "Likes pizza"}', BOTH),
    ('{"facts": ["Name is Jo"]}\n{"facts": ["Likes pizza"]}', BOTH),
    ('{"facts": ["Name is Jo"]}, {"facts": ["Likes pizza"]},', BOTH),
    ('```json\n{"facts": ["Name is Jo"]}\n```\n\n```json\n{"facts": ["Likes pizza"]}\n```', BOTH),
    ('["Name is Jo"]["Likes pizza"]', BOTH),
    ('{"facts": ["Name is Jo", "Likes pizza"]}\n\nWait, the format for none would be {"facts": []}.', BOTH),
    ('{"facts": []} Hm, there is something: {"facts": ["Name is Jo", "Likes pizza"]} and not {"facts": [""]}', BOTH),
    ('{"facts": ["Name is Joe"]} No, better: ["Name is Jo", "Likes pizza"]', BOTH),
    ('{"facts": ["- Name is Jo", "* Likes pizza"]}', BOTH),
    ('{"facts": ["1. Name is Jo", "2. Likes pizza"]}', BOTH),
    ('{"facts": ["• Name is Jo", "– [x] Likes pizza"]}', BOTH),
    ('{"facts": "- Name is Jo\\n- Likes pizza"}', BOTH),
    ('{"memories": ["Name is Jo", "Likes pizza"]}', BOTH),
    ('{"result": {"facts": ["Name is Jo", "Likes pizza"]}}', BOTH),
    ('{"facts": {"facts": ["Name is Jo", "Likes pizza"]}}', BOTH),
    ('{"facts": ["Name is Jo", "None", "Likes pizza", null, 7]}', BOTH),
    ('<think>["Name is Al"]</think>["Name is Jo", "Likes pizza"]', BOTH),
    ('["Name is Al"] or so?</reasoning>\n["Name is Jo", "Likes pizza"]', BOTH),
    ('<thought>Is it {"facts": []}?</thought>{"facts": ["Name is Jo", "Likes pizza"]}', BOTH),
    ('See [1] and {name}: {"facts": ["Name is Jo", "Likes pizza"]} {done', BOTH),
    ('{"facts": [{"name": "Jo"}, {"likes": "pizza"}]}', ["name: Jo", "likes: pizza"]),
    ('{"facts": {"name": "Jo", "likes": ["pizza", "jazz"]}}', ["name: Jo", "likes: pizza", "likes: jazz"]),
    ('{"facts": [{"age": 34, "category": "identity"}]}', ["age: 34"]),
    ('{"facts": [{"person": "Anna", "city": "Linz"}]}', ["person: Anna, city: Linz"]),
    ('{"facts": [{"key": "name", "value": "Jo"}]}', ["name: Jo"]),
    ('{"facts": [{"subject": "user", "predicate": "likes", "object": "pizza"}]}', ["likes: pizza"]),
    ('{"facts": [{"category": "food"}]}', ["category: food"]),
    ('{"facts": "Lives in Graz"}', ["Lives in Graz"]),
    ('{"fact": "Lives in Graz"}', ["Lives in Graz"]),
    ('"Lives in Graz"', ["Lives in Graz"]),
    ('```json\n"Lives in Graz"\n```', ["Lives in Graz"]),
    ('{"facts": ["1. FC Köln is the favourite club"]}', ["1. FC Köln is the favourite club"]),
    ('{"facts": ["3. März is the birthday", "Rows"]}', ["3. März is the birthday", "Rows"]),
    ('{"facts": ["No memory of childhood"]}', ["No memory of childhood"]),
    ('{"facts": ["Owns [2] boats", "Uses {curly} braces"]}', ["Owns [2] boats", "Uses {curly} braces"]),
    ("[]", []),
    ('{"facts": []}\n{"facts": []}', []),
    ('There are none: {"facts": []}', []),
    ('{"facts": null}', []),
    ('{"facts": {}}', []),
    ('{"facts": "None"}', []),
    ('{"facts": ["No facts found."]}', []),
]

UNREADABLE = [
    "I found nothing.",
    '{"note": "done"}',
    '{"facts": [3, null]}',
    '{"facts": [["Rows"]]}',
    '{"facts": [{}]}',
    '{"facts": ["Rows"',
    '["Rows", "Swi',
    '{"facts": ["Rows"]}\n{"facts": ["Swims"',
    '<reasoning>{"facts": ["Rows"]}',
    '{"facts": 7}',
    "[1]",
]


async def facts_of(*answers: str) -> list[str] | None:
    return await Exchange(ScriptedModel(*answers)).ask(QUESTION, read_facts, tokens=100)


async def test_facts_are_read_in_every_shape():
    wrong = {answer: got for answer, facts in SHAPES if (got := await facts_of(answer, facts_reply("-"))) != facts}
    assert wrong == {}


@pytest.mark.parametrize("answer", UNREADABLE)
async def test_an_answer_in_which_nothing_can_be_read_is_asked_for_once_more_and_then_an_error(answer):
    assert await facts_of(answer, facts_reply("Rows")) == ["Rows"]
    with pytest.raises(UnreadableAnswer) as caught:
        await facts_of(answer, answer)
    assert caught.value.code == "llm_invalid_output"


def entry(**members: Any) -> dict[str, Any]:
    return {"id": "0", "text": "Rows daily", "event": "UPDATE", **members}


UPDATE = Proposal(event="UPDATE", at=0, text="Rows daily")
DECISIONS: list[tuple[list[Any], list[Proposal]]] = [
    ([{"memory": [entry()]}], [UPDATE]),
    ([[entry()]], [UPDATE]),
    ([entry()], [UPDATE]),
    ([entry(), entry(event="NONE")], [UPDATE, Proposal(event="NONE", at=0, text="Rows daily")]),
    ([{"memories": [entry()]}], [UPDATE]),
    ([{"changes": [entry(id=0)]}], [UPDATE]),
    ([{"memory": {"0": {"text": "Rows daily", "event": "update"}}}], [UPDATE]),
    ([[{"memory_id": "0", "fact": "Rows  daily", "action": "Modify"}]], [UPDATE]),
    ([[entry(event="no change")]], [Proposal(event="NONE", at=0, text="Rows daily")]),
    ([[entry(event="REMOVE")]], [Proposal(event="DELETE", at=0, text="Rows daily")]),
    ([[entry(event="create", id="new")]], [Proposal(event="ADD", at=None, text="Rows daily")]),
    ([{"memory": []}], []),
    ([[]], []),
    ([{"memory": [entry(event="MERGE"), 7]}], []),
]


def test_decisions_are_read_in_every_shape():
    def check(values: list[Any], proposals: list[Proposal]) -> None:
        assert read_proposals(values, 1) == proposals

    check_each(DECISIONS, check)


@pytest.mark.parametrize("values", [[], ["ADD"], [["Rows"]], [{"memory": 7}], [{"facts": []}], [None]])
def test_what_holds_no_decision_is_not_read(values):
    assert read_proposals(values, 1) is None


UNDECIDED = ["no json", '{"memory": 7}', '{"memory": [{"id": "0"', '["ADD"]', ""]


@pytest.mark.parametrize("answer", UNDECIDED)
async def test_a_fact_that_nobody_could_decide_about_is_added(house, tell, kept, answer):
    model = ScriptedModel(facts_reply("Has a red boat"), facts_reply("Has a red boat in Graz"), answer, answer)
    facts = house.facts(model)
    await tell(facts, "I have a red boat.")
    await tell(facts, "I have a red boat in Graz.")
    assert sorted(await kept(facts)) == ["Has a red boat", "Has a red boat in Graz"]
    assert len(model.asked) == 4


async def test_decisions_that_are_cut_twice_are_asked_for_with_more_room_and_then_the_fact_is_added(
    house, tell, kept
):
    cut = Reply(text='{"memory": [', reason="length")
    model = ScriptedModel(facts_reply("Has a red boat"), facts_reply("Has a red boat in Graz"), cut, cut)
    facts = house.facts(model)
    await tell(facts, "I have a red boat.")
    await tell(facts, "I have a red boat in Graz.")
    assert [request.sampling.max_tokens for request in model.asked[2:]] == [4000, 8000]
    assert sorted(await kept(facts)) == ["Has a red boat", "Has a red boat in Graz"]


@pytest.mark.parametrize("piece", ['{"a":', "[[", '["a"', "{}", "[1]", "</think>", '["a"] '])
def test_a_long_answer_of_one_piece_is_read_in_bounded_time(piece):
    assert sum(map(len, read_groups((piece * 5_000)[:20_000]))) <= 20_000
