"""How many values hold at a time: one employer, unless the statement says that it is one of several."""

import pytest

from mnemoir.memory.facts.decide.matters import contradicts
from mnemoir.memory.facts.holding import FactExchange
from tests.each_case import check_each
from tests.memory.truth.conftest import MIRA
from tests.memory.truth.test_order_of_time import record

ONE_OF_SEVERAL = [
    "Also works at Bosch",
    "Works at Bosch, too",
    "Works at Bosch as well",
    "Works part-time at Bosch",
    "Works at Bosch part time",
    "Works at Bosch on weekends",
    "On the side works at Bosch",
    "Works freelance for Bosch",
    "Works as a nurse on the side",
    "Arbeitet auch bei Bosch",
    "Arbeitet nebenbei bei Bosch",
    "Travaille aussi chez Bosch",
    "Trabaja también en Bosch",
    "Lavora anche per Bosch",
    "Trabalha também na Bosch",
    "Werkt ook bij Bosch",
]
THE_ONE = ["Works at Bosch", "Now works at Bosch", "Works for Bosch", "Arbeitet bei Bosch", "Employer is Bosch"]


def test_one_of_several_jobs_closes_none():
    def stays(fact):
        assert not contradicts(fact, "Works at Siemens")
        assert not contradicts(fact, "Works as a teacher")

    check_each(ONE_OF_SEVERAL, stays)


def test_another_job_alone_takes_the_place_of_the_one_before():
    check_each(THE_ONE, lambda fact: contradicts(fact, "Works at Siemens") or pytest.fail("stays"))


def test_one_works_with_many():
    for fact in ("Works with Tom on project Kestrel", "Works with Python", "Works with children"):
        assert not contradicts(fact, "Works with Go")
        assert not contradicts(fact, "Works at Siemens")
    assert contradicts("No longer works with Python", "Works with Python")


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (["I work at Siemens.", "I work at Bosch."], ["Works at Bosch"]),
        (["I work at Siemens.", "I also work at Bosch."], ["Also works at Bosch", "Works at Siemens"]),
        (["I work at Siemens.", "I work at Bosch too."], ["Also works at Bosch", "Works at Siemens"]),
        (["I work at Siemens.", "I work part-time at Bosch."], ["Works at Siemens", "Works part-time at Bosch"]),
        (["I work at Siemens.", "I have a second job at Bosch."], ["Also works at Bosch", "Works at Siemens"]),
        (["I work at Siemens.", "My second job is at Bosch."], ["Also works at Bosch", "Works at Siemens"]),
        (["Ich arbeite bei Siemens.", "Ich habe einen Nebenjob bei Bosch."],
         ["Ich arbeite bei Siemens", "Ich habe einen Nebenjob bei Bosch"]),
        (["Je travaille chez Airbus.", "J'ai un deuxième emploi chez Bosch."],
         ["J'ai un deuxième emploi chez Bosch", "Je travaille chez Airbus"]),
        (["Trabajo en Seat.", "Tengo un segundo trabajo en Iberia."],
         ["Tengo un segundo trabajo en Iberia", "Trabajo en Seat"]),
        (["I work at Siemens. I work at Bosch."], ["Works at Bosch", "Works at Siemens"]),
        (["I work at Siemens.", "I work with Tom."], ["Works at Siemens", "Works with Tom"]),
        (["I live in Graz. I moved to Linz."], ["Lives in Linz"]),
        (["My favourite colour is blue.", "My new favourite colour is red."], ["Favourite colour is red"]),
        (["My favourite player is Halme.", "Okoro is my favourite player now."], ["Favourite player is Okoro"]),
        (["My car is a Volvo.", "My current car is a Skoda."], ["Car is a Skoda"]),
        (
            ["My brother lives in Wels.", "My sister moved from Wels to Graz."],
            ["Brother lives in Wels", "Sister moved from Wels to Graz"],
        ),
        (["My brother lives in Wels.", "My brother moved from Wels to Graz."], ["Brother moved from Wels to Graz"]),
    ],
)  # fmt: skip
async def test_what_is_told_stays_beside_what_it_does_not_replace(live, told, kept):
    life = live()
    for text in told:
        await life.tell(text)
    assert await life.now() == kept


async def test_what_was_closed_stands_in_the_answer(live):
    life = live()
    await life.tell("I work at Siemens.")
    result = await life.tell("I work at Bosch.")
    [change] = result.applied
    assert (change.event, change.previous_text, change.memory.text) == (
        "UPDATE",
        "Works at Siemens",
        "Works at Bosch",
    )


async def test_an_import_of_several_jobs_keeps_all(live):
    life = live()
    exchange = FactExchange(life.store, life.indexing, life.facts.plans, life.facts.personal)
    names = ["Siemens", "Bosch", "Voestalpine", "Norlin", "Acme"]
    jobs = [f"Works {how} {name}" for how in ("at", "with") for name in names]
    await exchange.add(MIRA, [record(text, f"20{20 + at % 5}-05-01") for at, text in enumerate(jobs)])
    assert await life.now() == sorted(jobs)
