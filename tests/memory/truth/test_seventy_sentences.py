"""Seventy sentences in seven languages, written before any of them was run, in the form of `kinds_of_sentences.txt`.

They are of the kinds of that file, with a plain one here and there, and stay as they were written. Before the rules
of these kinds were there, 27 came as expected; when they were run for the first time behind them, all but two did.
"""

from pathlib import Path

import pytest

from tests.memory.truth.test_fresh_sentences import LANGUAGES, is_as_wanted
from tests.memory.truth.test_kinds_of_sentences import turns_and_words
from tests.memory.truth.test_unseen_sentences import outcome

PARTS = Path(__file__).with_name("seventy_sentences.txt").read_text(encoding="utf-8").split("# ")[1:]
BY_LANGUAGE = {part.splitlines()[0]: part.splitlines()[1:] for part in PARTS}
AT_FIRST = {  # what was left of the two, before their kinds were mended
    "A minha mulher trabalha na TAP e eu nos Correios.": ["A minha mulher trabalha na TAP"],
    "Ik ben tandarts en ik zwem elke dinsdag.": ["Ik ben tandarts"],
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_of_the_seventy_gives_the_memories_beside_it(live, language):
    facts, others = live().facts, {}
    for at, line in enumerate(BY_LANGUAGE[language]):
        turns, wanted = turns_and_words(line)
        found = await outcome(facts, f"{language}-{at}", turns)
        if not is_as_wanted(found, wanted):
            others[line] = found
    assert others == {}


def test_they_are_ten_in_each_language_and_those_that_failed_at_first_are_named():
    assert {code: len(lines) for code, lines in BY_LANGUAGE.items()} == dict.fromkeys(LANGUAGES, 10)
    lines = {line.partition(" =>")[0] for lines in BY_LANGUAGE.values() for line in lines}
    assert set(AT_FIRST) <= lines
