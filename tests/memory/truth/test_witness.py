"""What the user told is changed only by what the user says; then it is changed as the model decides."""

import random
import time
from collections.abc import Sequence

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory, Origin
from mnemoir.memory.facts.decide.defences import Plan, defend
from mnemoir.memory.facts.decide.reconciliation import Candidate, Event, Proposal
from mnemoir.memory.facts.decide.witness import Witnesses
from mnemoir.memory.facts.extract.requests import Turn
from tests.each_case import check_each
from tests.memory.truth.changes import BORNE_OUT, NOT_BORNE_OUT, turns_of

CHANGES: Sequence[Event] = ("UPDATE", "DELETE")


def candidates(*texts: str, facts: int = 1, origin: Origin | None = None) -> list[Candidate]:
    return [
        Candidate(
            memory=Memory(id=MemoryId(f"mem_{at}"), text=text, user="mira", created_at="", given_origin=origin),
            cosines=(0.6,) * facts,
        )
        for at, text in enumerate(texts)
    ]


def plan(
    stored: str, said: Sequence[str], fact: str, event: Event, origin: Origin | None = None, text: str = ""
) -> Plan:
    """The plan when the model gives an event to the memory, for the fact it draws from the turns."""
    proposals = [Proposal(event=event, at=0, text=text or (fact if event == "UPDATE" else stored))]
    witnesses = Witnesses(turns_of(said))
    return defend([fact], candidates(stored, origin=origin), proposals, total=100, witnesses=witnesses)


@pytest.mark.parametrize("event", CHANGES)
def test_with_the_users_word_a_decision_is_followed(event):
    def is_done(stored, said, fact):
        made = plan(stored, said, fact, event)
        assert [*(at for at, _ in made.updates), *(at for at, _ in made.removes)] == [0]
        assert [*(text for _, text in made.updates), *made.adds] == [fact]
        assert not made.unsure | made.unconfirmed

    check_each(BORNE_OUT, is_done)


@pytest.mark.parametrize("event", CHANGES)
def test_without_the_users_word_what_the_user_told_stays(event):
    def stays(stored, said, fact):
        made = plan(stored, said, fact, event)
        assert (made.updates, made.removes) == ([], [])

    check_each(NOT_BORNE_OUT, stays)


@pytest.mark.parametrize("origin", ["person", "import", "api", "user"])
def test_what_was_given_in_other_ways_stays_as_well(origin):
    made = plan("Lives in Graz", ["Hello!"], "Lives in Oslo", "UPDATE", origin)
    assert (made.updates, made.removes) == ([], [])


@pytest.mark.parametrize("origin", ["assistant", "tool", "document"])
def test_what_nobody_but_a_program_told_changes_without_it(origin):
    assert plan("Lives in Graz", ["Hello!"], "Lives in Oslo", "UPDATE", origin).updates == [(0, "Lives in Oslo")]


@pytest.mark.parametrize(
    ("said", "unsure", "unconfirmed"),
    [
        (["Hello!"], [], [0]),
        (["Where to?", "assistant: Since you live in Oslo, try skiing."], [], [0]),
        (["My wife lives in Oslo"], [], [0]),
        (["I row every day.", "assistant: Then Oslo, where you live, is best."], [0], []),
    ],
)
def test_a_contradiction_is_added_beside_only_where_the_user_says_anything_of_themselves(said, unsure, unconfirmed):
    made = plan("Lives in Graz", said, "Lives in Oslo", "UPDATE")
    assert (made.adds, [*made.unsure], [*made.unconfirmed]) == (["Lives in Oslo"], unsure, unconfirmed)


def test_what_contradicts_nothing_is_added_and_is_unsure_where_a_change_was_refused():
    made = plan("Loves pizza", ["Hello!"], "Loves pizza with olives", "UPDATE")
    assert (made.adds, [*made.unsure], [*made.unconfirmed]) == (["Loves pizza with olives"], [0], [])


def test_an_update_says_no_more_than_the_memory_and_the_fact():
    text = "Loves pizza with olives and works at Google"
    made = plan("Loves pizza", ["I love pizza with olives"], "Loves pizza with olives", "UPDATE", text=text)
    assert made.updates == [(0, "Loves pizza with olives")]


def test_of_a_fact_that_adds_what_nobody_said_the_rest_is_kept_beside_the_memory():
    fact = "Lives in Graz with two sons, near the park"
    made = plan("Lives in Graz", ["I live in Graz, near the park"], fact, "UPDATE")
    assert (made.adds, [*made.unsure]) == (["Lives in Graz, near the park"], [0])


@pytest.mark.parametrize(("cosine", "stored"), [(0.1, False), (0.3, True), (None, True)])
def test_a_fact_of_which_nothing_was_said_is_not_stored_where_its_meaning_is_far_from_all(cosine, stored):
    witnesses = Witnesses([Turn(role="user", text="How tall is Everest?")])
    pairs = witnesses.questions(["Plays the violin"], {})
    witnesses = witnesses.with_likeness({} if cosine is None else dict.fromkeys(pairs, cosine))
    made = defend(["Plays the violin"], [], [], total=9, witnesses=witnesses)
    assert (bool(made.adds), made.refused["ungrounded"]) == (stored, not stored)


@pytest.mark.parametrize(
    ("stored", "said", "fact", "cosine"),
    [
        ("Is single", "We tied the knot in June", "Is married", 0.3),
        ("Lives in Graz", "Ich bin in die Stadt an der Newa gezogen", "Lives in Saint Petersburg", 0.45),
        ("Has a dog", "Onze hond is ingeslapen", "Dog died", 0.45),
    ],
)
def test_a_clause_in_other_words_is_a_witness_if_it_means_the_same(stored, said, fact, cosine):
    witnesses = Witnesses([Turn(role="user", text=said)])
    pairs = witnesses.questions([fact], {fact: [stored]})
    assert not witnesses.stands(fact, stored)
    assert witnesses.with_likeness(dict.fromkeys(pairs, cosine)).stands(fact, stored)
    assert not witnesses.with_likeness(dict.fromkeys(pairs, cosine - 0.01)).stands(fact, stored)


def test_the_question_that_the_user_answers_may_stand_in_the_context():
    question, answer = turns_of(["assistant: So you live in Oslo now?", "Exactly"])
    assert Witnesses([answer], [question]).stands("Lives in Oslo", "Lives in Graz")
    assert not Witnesses([answer]).stands("Lives in Oslo", "Lives in Graz")
    statement = Turn(role="user", text="I live in Oslo")
    assert not Witnesses([Turn(role="user", text="Hello!")], [statement]).stands("Lives in Oslo", "Lives in Graz")


LONG = {
    "one letter": "a" * 40_000,
    "statements": "".join(f"I like {number} and I live in Town{number}. " for number in range(1000)),
    "line ends": "\n" * 40_000,
    "quote marks": '"' * 40_000,
    "brackets": "(" * 40_000,
    "speakers": "".join(f"Anna{number}: I live in Oslo.\n" for number in range(1600)),
    "subjects": "I, " * 13_333,
    "introductions": "he said: " * 4_444,
}


def least_cost(text: str) -> int:
    """The nanoseconds of processor time that witnesses of a text take, the least of two times."""

    def once() -> int:
        began = time.thread_time_ns()
        witnesses = Witnesses([Turn(role="assistant", text=text), Turn(role="user", text=text)])
        witnesses.stands("Lives in Oslo", "Lives in Graz")
        witnesses.questions(["Lives in Oslo"], {"Lives in Oslo": ["Lives in Graz"]})
        return time.thread_time_ns() - began

    return min(once() for _ in range(2))


@pytest.mark.costly("it is about large texts")
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_four_times_the_text_costs_about_four_times_as_much(text):
    assert least_cost(text) <= 10 * least_cost(text[: len(text) // 4])  # 16 times if all were compared with all


def random_answer(dice: random.Random, stored: int, texts: Sequence[str]) -> list[Proposal]:
    events: Sequence[Event] = ("ADD", "UPDATE", "DELETE", "NONE")
    return [
        Proposal(event=dice.choice(events), at=dice.choice([None, *range(stored)]), text=dice.choice(texts))
        for _ in range(dice.randint(1, 6))
    ]


def check_random_answers(count: int) -> None:
    """Nothing that the user told changes without a witness; one decision that has one is done."""
    dice = random.Random(28)
    cases = [*BORNE_OUT, *NOT_BORNE_OUT]
    heard = [Witnesses(turns_of(said)) for _, said, _ in cases]
    for _ in range(count):
        at = dice.randrange(len(cases))
        stored = [cases[at][0], *(dice.choice(cases)[0] for _ in range(dice.randint(0, 3)))]
        facts = [cases[at][2], *(dice.choice(cases)[2] for _ in range(dice.randint(0, 2)))]
        shown = candidates(*stored, facts=len(facts))
        answer = random_answer(dice, len(stored), [*facts, *stored, f"{stored[0]} and {facts[-1]}"])
        made = defend(facts, shown, answer, total=100, witnesses=heard[at])
        for changed in (*(place for place, _ in made.updates), *(place for place, _ in made.removes)):
            assert any(heard[at].stands(fact, stored[changed]) for fact in facts), (cases[at], answer)
        event: Event = dice.choice(CHANGES)
        text = facts[0] if event == "UPDATE" else stored[0]
        alone = defend(facts[:1], shown[:1], [Proposal(event=event, at=0, text=text)], total=100, witnesses=heard[at])
        assert bool(alone.updates or alone.removes) == (cases[at] in BORNE_OUT), cases[at]


def test_whatever_a_model_answers_nothing_changes_without_a_witness():
    check_random_answers(300)


@pytest.mark.slow
def test_ten_thousand_answers_change_nothing_without_a_witness():
    check_random_answers(10_000)
