"""What becomes of sentences as people say them every day, in seven languages, by kind.

In `everyday_words.txt` an arrow stands between the turns of a user, and "=>" before all memories that are there after
the last one, in order of the alphabet with ";" between them. Half of a kind tempts to learn what is not so.
"""

from pathlib import Path

import pytest

from tests.memory.truth.test_unseen_sentences import outcome

KINDS = Path(__file__).with_name("everyday_words.txt").read_text(encoding="utf-8").split("# ")[1:]
LINES = [line for kind in KINDS for line in kind.splitlines()[1:]]
AT_A_TIME = 12


@pytest.mark.parametrize("first", range(0, len(LINES), AT_A_TIME))
async def test_everyday_words_give_the_memories_beside_them(live, first):
    facts, others = live().facts, []
    for at, line in enumerate(LINES[first : first + AT_A_TIME]):
        said, _, told = line.partition(" =>")
        wanted = told.strip().split(" ; ") if told.strip() else []
        found = await outcome(facts, f"user-{at}", said.split(" -> "))
        if found != wanted:
            others.append((said, wanted, found))
    assert others == []


def test_each_kind_has_two_dozen_sentences():
    assert [kind.split()[0] for kind in KINDS if len(kind.splitlines()) < 25] == []
