"""A hundred sentences, written without a look at the code or its tests, with what becomes of each.

`expected` says in plain words what should become of it, `learned` which memories are there after all its turns, and
`is_as_expected` whether the one is the other. The sentences stay as they were written.
"""

from pathlib import Path

import orjson
import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn

ROWS = orjson.loads((Path(__file__).parent / "unseen_sentences.json").read_bytes())
NOT_AS_EXPECTED = 0


async def outcome(facts, user, turns):
    """The memories of a new user who says the turns one after the other, in order of the alphabet."""
    scope = Scope(project="kitchen", user=user)
    for text in turns:
        await facts.add(scope, AddRequest(turns=[Turn(role="user", text=text)]))
    return sorted(memory.text for memory in await facts.page(scope, limit=50))


@pytest.mark.parametrize("first", range(0, 100, 10))
async def test_each_unseen_sentence_gives_what_is_recorded(live, first):
    facts, others = live().facts, []
    for at, row in enumerate(ROWS[first : first + 10]):
        found = await outcome(facts, f"user-{at}", row["turns"])
        if found != row["learned"]:
            others.append((row["turns"], row["learned"], found))
    assert others == []


def test_the_sentences_that_are_not_as_expected_are_counted():
    assert len(ROWS) == 100
    assert sum(not row["is_as_expected"] for row in ROWS) == NOT_AS_EXPECTED
