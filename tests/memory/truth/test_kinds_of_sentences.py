"""What becomes of sentences by kind, in seven languages, with neighbours that look alike and mean other things.

In `kinds_of_sentences.txt` an arrow stands between the turns of a user. Behind "=>" stand words of each memory that
is there after the last one, with ";" between memories; there is no memory without such words.
"""

from pathlib import Path

import pytest

from mnemoir.core.text import normalise
from tests.memory.truth.test_fresh_sentences import is_as_wanted
from tests.memory.truth.test_readings import learned
from tests.memory.truth.test_unseen_sentences import outcome

TABLE = Path(__file__).with_name("kinds_of_sentences.txt").read_text(encoding="utf-8")
LINES = [line for line in TABLE.splitlines() if line and not line.startswith("# ")]
AT_A_TIME = 8


def turns_and_words(line: str) -> tuple[list[str], list[list[str]]]:
    """The turns of a line, and the words of each memory that is to come of them."""
    said, _, told = line.partition(" =>")
    return said.split(" -> "), [normalise(words).split() for words in told.split(" ; ") if words.strip()]


@pytest.mark.parametrize("first", range(0, len(LINES), AT_A_TIME))
async def test_each_sentence_gives_the_memories_beside_it(live, first):
    facts, others = live().facts, []
    for at, line in enumerate(LINES[first : first + AT_A_TIME]):
        turns, wanted = turns_and_words(line)
        found = await outcome(facts, f"user-{at}", turns)
        if not is_as_wanted(found, wanted):
            others.append((line, found))
    assert others == []


@pytest.mark.parametrize(("gap", "kept"), [("\n", []), ("\n\n", ["Lives in Bonn"])])
def test_a_prompt_in_parts_ends_with_the_paragraph_of_its_last_label(gap, kept):
    assert learned(f"Context: I am a nurse.{gap}Task: write a mail.{gap}By the way, I live in Bonn.") == kept
