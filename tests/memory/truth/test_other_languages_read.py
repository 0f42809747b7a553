"""What is said in six other languages, a dozen sentences a layer that give no fact, and a dozen that give one.

In `other_languages.txt` a bar is a line end, stars stand around what is learned, and "=>" before a repaired fact.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.each_case import check_each
from tests.memory.truth.test_readings import learned

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
LAYERS = ("speakers", "frames", "blocks", "repairs", "slots")


def rows(code: str, layer: str) -> Iterator[tuple[str, str, str]]:
    """The kind, the text and the fact ("" for none) of each sentence."""
    heading = ["", "", ""]
    for line in Path(__file__).with_name("other_languages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and len(line.split()) == 4:
            heading = line.split()[1:]
        elif heading[:2] == [code, layer]:
            text, _, fact = line.partition(" => ")
            marked = text.split("*")
            fact = fact or (marked[1][0].upper() + marked[1][1:] if len(marked) == 3 else "")
            yield heading[2], text.replace("*", "") if len(marked) == 3 else text, fact


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_layer_reads_another_language(code, layer):
    def is_read(kind, text, fact):
        if kind == "wrong":
            assert learned(text) == ([fact] if fact else [])
        else:
            assert any(fact.lower() in said.lower() for said in learned(text))

    check_each(list(rows(code, layer)), is_read)


def test_each_layer_has_a_dozen_of_both_kinds():
    counts = {
        (code, layer): Counter(kind for kind, *_ in rows(code, layer)) for code in LANGUAGES for layer in LAYERS
    }
    assert {key: count for key, count in counts.items() if min(count["wrong"], count["own"]) < 12} == {}
