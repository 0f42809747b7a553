"""What narrows, or tells something beside, leaves what was told; a denial of the whole and another value close it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.providers.llm.offline.decide import decide
from mnemoir.providers.llm.offline.extract import extract
from tests.each_case import check_each


def blocks_of(name: str) -> list[list[tuple[str, ...]]]:
    """The pairs of each block of a file."""
    blocks = (Path(__file__).parent / name).read_text(encoding="utf-8").split("\n\n")
    return [[tuple(line.split(" + ")) for line in block.splitlines()[1:]] for block in blocks]


OF_A_PART, OF_THE_WHOLE = blocks_of("parts_and_wholes.txt")
BESIDE, INSTEAD = blocks_of("places_and_names.txt")


def facts_in(text: str) -> Sequence[str]:
    """The facts of one turn."""
    facts: Sequence[str] = extract({"turns": [{"role": "user", "text": text}]})["facts"]
    return facts


def events(first: str, then: str) -> list[str]:
    """What happens to what was told first, and to what is told then."""
    memories = [{"id": str(at), "text": fact} for at, fact in enumerate(facts_in(first))]
    return sorted(entry["event"] for entry in decide({"memories": memories, "facts": facts_in(then)})["memory"])


def test_the_rest_of_what_a_denial_narrows_still_holds():
    def is_kept(first, then):
        assert len(facts_in(first)) == 1
        assert events(first, then) == ["ADD"]

    check_each(OF_A_PART, is_kept)


def test_a_denial_of_the_same_whole_closes_it():
    def is_closed(first, then):
        assert events(first, then) in (["ADD", "DELETE"], ["UPDATE"])

    check_each(OF_THE_WHOLE, is_closed)


def test_what_is_no_place_no_employer_and_no_name_replaces_none():
    def is_kept(first, then):
        assert len(facts_in(first)) == 1
        assert events(first, then) in (["ADD"], [])

    check_each(BESIDE, is_kept)


def test_another_place_employer_or_name_takes_the_place_of_the_first():
    def is_replaced(first, then):
        assert events(first, then) == ["UPDATE"]

    check_each(INSTEAD, is_replaced)


@pytest.mark.parametrize(("pairs", "left"), [(INSTEAD, 1), (OF_A_PART, 2), (OF_THE_WHOLE, 1)])
async def test_a_list_shows_what_still_holds(live, pairs, left):
    life = live()
    for number, pair in enumerate(pairs[::6]):
        scope = Scope(project="kitchen", user=f"user {number}")
        for text in pair:
            await life.facts.add(scope, AddRequest(turns=[Turn(role="user", text=text)]))
        assert len(await life.facts.page(scope, limit=10)) == left, pair
