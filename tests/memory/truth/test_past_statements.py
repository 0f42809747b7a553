"""What an import tells of the past changes nothing that was told after it, and leaves what was said in order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import LoggedChange, Memory
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts import AddRequest, Edit, Facts, Turn
from mnemoir.ports.memory_store import Project
from tests.memory.truth.conftest import BEGIN, MIRA, day, model_that
from tests.stages import staged

IN_ORDER = Scope(project="kitchen", user="noor")
PLACES, FIRMS, LIKED = ("Graz", "Linz", "Wels", "Oslo"), ("Bosch", "Siemens", "Norlin"), ("tea", "chess", "rowing")
SHAPES = (  # each told as often as the others; what ends or denies another one is among them
    ("I live in {}.", PLACES),
    ("I moved to {}.", PLACES),
    ("I no longer live in {}.", PLACES),
    ("I work at {}.", FIRMS),
    ("I work as a {}.", ("nurse", "baker", "teacher")),
    ("I quit my job at {}.", FIRMS),
    ("I like {}.", LIKED),
    ("I don't like {} anymore.", LIKED),
    ("I am allergic to {}.", ("nuts", "milk")),
    ("I am not allergic to {}.", ("nuts", "milk")),
    ("I am {} years old.", ("30", "31", "32")),
    ("I am married to {}.", ("Anna", "Ruth")),
    ("I am {}.", ("vegan", "single", "divorced", "a vegetarian")),
    ("I have {} children.", ("two", "three", "2")),
    ("I have a {}.", ("dog", "cat", "boat")),
    ("I drive a {}.", ("Volvo", "Skoda")),
    ("My favourite colour is {}.", ("green", "blue", "red")),
    ("My sister is called {}.", ("Anna", "Mia", "Ruth")),
    ("My name is {}.", ("Mira", "Miriam")),
)


@dataclass(frozen=True)
class Said:
    """A user's turn; `in_chat`: it was told in a chat before the import came."""

    text: str
    at: datetime
    in_chat: bool = False


def generated_past(seed: int) -> list[Said]:
    """Turns in order of time, equal ones among them; about a third were told in chats, each of these once."""
    chance, told = random.Random(seed), set[str]()
    said = []
    for ago in sorted(chance.sample(range(10, 900), chance.randrange(5, 11)), reverse=True):
        shape, values = chance.choice(SHAPES)
        text = shape.format(chance.choice(values))
        in_chat = chance.random() < 0.35 and text not in told
        told |= {text} if in_chat else set()
        said.append(Said(text, BEGIN - timedelta(days=ago), in_chat))
    return said


async def tell(facts: Facts, scope: Scope, one: Said, *, is_past: bool = False) -> None:
    request = AddRequest(turns=[Turn(role="user", text=one.text)], said_at=one.at, is_past=is_past)
    await facts.add(scope, request)


async def current(facts: Facts, scope: Scope) -> dict[MemoryId, Memory]:
    return {memory.id: memory for memory in await facts.page(scope, limit=1000)}


async def bring_past(facts: Facts, said: Sequence[Said]) -> None:
    """Tell them to the user as an import does; after each, what was told later than it must be as it was."""
    for one in said:
        before = await current(facts, MIRA)
        await tell(facts, MIRA, one, is_past=True)
        after = await current(facts, MIRA)
        for memory in before.values():
            renewed = from_text(memory.updated_at)
            assert renewed is not None
            assert renewed <= one.at or after.get(memory.id) == memory, (one, memory)


def texts(memories: dict[MemoryId, Memory]) -> list[str]:
    return sorted(memory.text for memory in memories.values())


@pytest.mark.parametrize("seed", staged(range(100), quick=3))
async def test_a_past_changes_no_later_fact_and_leaves_the_list_of_the_same_turns_said_in_order(live, seed):
    said, facts = generated_past(seed), live(touch_on_none=seed % 2 == 1).facts
    for one in said:
        await tell(facts, IN_ORDER, one)
        if one.in_chat:
            await tell(facts, MIRA, one)
    await bring_past(facts, [one for one in said if not one.in_chat])
    assert texts(await current(facts, MIRA)) == texts(await current(facts, IN_ORDER))


@pytest.mark.parametrize("event", [None, "UPDATE", "DELETE"])
async def test_an_older_value_is_history_of_the_one_that_is_known(live, event):
    told = {"I live in Graz.": ["Lives in Graz"], "I live in Wels.": ["Lives in Wels"]}
    life = live(None if event is None else model_that(event, told))
    await tell(life.facts, MIRA, Said("I live in Graz.", day("2025-05-01")))
    await bring_past(life.facts, [Said("I live in Wels.", day("2024-01-01"))])
    assert await life.now() == ["Lives in Graz"]
    assert await life.at(day("2024-02-01")) == ["Lives in Wels"]


async def test_a_fuller_wording_of_the_past_stands_beside_the_shorter_one(live):
    life = live()
    await tell(life.facts, MIRA, Said("I have a dog.", day("2025-05-01")))
    await bring_past(life.facts, [Said("I have a dog called Rex.", day("2024-05-01"))])
    assert await life.now() == ["Has a dog", "Has a dog called Rex"]


async def test_what_a_model_joins_to_a_later_memory_is_kept_in_the_words_that_were_said(live):
    joined = model_that("UPDATE", {"I row.": ["Rows"]})
    life = live(joined)
    await tell(life.facts, MIRA, Said("Swims and rows on Sundays", day("2025-05-01")))
    await bring_past(life.facts, [Said("I row.", day("2024-05-01"))])
    assert "Swims and rows on Sundays" in await life.now()


async def test_a_hidden_memory_is_not_renewed_by_what_was_said_before_it(live):
    life = live(decay_days=30)
    await tell(life.facts, MIRA, Said("I row every morning.", BEGIN - timedelta(days=40)))
    await bring_past(life.facts, [Said("I row every morning.", BEGIN - timedelta(days=60))])
    [memory] = (await life.store.same_text(MIRA, [content_hash("Rows every morning")])).values()
    assert memory.created_at == memory.updated_at == to_text(BEGIN - timedelta(days=40))


async def changes_since(facts: Facts, place: int) -> list[LoggedChange]:
    """The changes behind a place of the log, newest first."""
    page = await facts.undoing.changes(MIRA, limit=1000)
    return [change for change in page.changes if change.place > place]


async def edit_some(facts: Facts, chance: random.Random) -> dict[MemoryId, str]:
    """Change a third of the memories by hand; what they say then."""
    edited = {}
    for memory in (await current(facts, MIRA)).values():
        if chance.random() < 0.33:
            text = f"{memory.text}, as I put it"
            await facts.curation.edit(Project(tenant="default", project="kitchen"), memory.id, Edit(text=text))
            edited[memory.id] = text
    return edited


@pytest.mark.parametrize("seed", staged(range(100), quick=3))
async def test_undo_of_a_past_gives_the_list_of_before_but_for_what_was_changed_by_hand(live, seed):
    said, facts, chance = generated_past(seed), live().facts, random.Random(seed)
    for one in said:
        if one.in_chat:
            await tell(facts, MIRA, one)
    before = await current(facts, MIRA)
    last = (await facts.undoing.changes(MIRA, limit=1)).changes
    await bring_past(facts, [one for one in said if not one.in_chat])
    learned = await changes_since(facts, last[0].place if last else 0)
    edited = await edit_some(facts, chance) if seed % 2 else {}
    for change in learned:
        await facts.undoing.take_back(MIRA, change)
    after = await current(facts, MIRA)
    untouched = {id: memory for id, memory in after.items() if id not in edited}
    assert {id: memory.text for id, memory in after.items() if id in edited} == edited
    assert untouched.items() <= before.items()
    gone = [await facts.undoing._store.get(MIRA, id) for id in before.keys() - after.keys()]
    assert all(memory is not None and memory.replaced_by for memory in gone)
    assert edited or after == before  # what an edited memory had replaced does not come back beside it
