"""A state told by what ended, as a correction, of two people or since yesterday takes the place of the old one.

In `new_states.txt` an arrow stands between the turns of a user, and behind "=>" all memories that are current then,
in order of the alphabet. The last ones are neighbours, behind which the old state still holds.
"""

from pathlib import Path

import pytest

from mnemoir.memory.facts.reading.changes import with_new_states
from tests.memory.truth.test_unseen_sentences import outcome

LINES = Path(__file__).with_name("new_states.txt").read_text(encoding="utf-8").splitlines()
AT_A_TIME = 6


@pytest.mark.parametrize("first", range(0, len(LINES), AT_A_TIME))
async def test_each_change_leaves_what_stands_beside_it(live, first):
    facts, others = live().facts, []
    for at, line in enumerate(LINES[first : first + AT_A_TIME]):
        turns, _, wanted = line.partition(" => ")
        found = await outcome(facts, f"user-{at}", turns.split(" -> "))
        if found != wanted.split(" ; "):
            others.append((line, found))
    assert others == []


async def test_what_the_rules_do_not_read_closes_nothing(live):
    life = live()
    for text in (
        "I have two cats.",
        "I work at Bosch.",
        "One of my cats died.",
        "Been with Novartis for six years now.",
    ):
        await life.tell(text)
    assert await life.now() == ["Has two cats", "One of the cats died", "Works at Bosch"]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Graz, but now I work in Linz.",
        "My sister moved to Linz and so did my brother.",
        "I meant what I said, not more.",
        "Ich wohne nicht weit von Graz.",
        "Je ne vis plus comme avant.",
        "Ya no vivo con mis padres.",
    ],
)
def test_other_sentences_stay_as_they_are(text):
    assert with_new_states(text) == text
