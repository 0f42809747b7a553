"""The planner of changes: each change of a commit meets the memories as the changes before it leave them."""

from dataclasses import dataclass, field, replace

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Add, IndexEntry, Memory, Remove, Restore, Update
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import StaleChange
from mnemoir.storage.planning import planned_effects

MIRA = Scope(project="demo", user="mira")
NOON, LATER = "2026-03-04T12:00:00.000Z", "2026-03-04T13:00:00.000Z"
WORDS = IndexEntry(terms=b"")


@dataclass
class Memories:
    """What stands before the commit."""

    standing: list[Memory] = field(default_factory=list)

    def find(self, memory_id):
        return next((memory for memory in self.standing if memory.id == memory_id), None)

    def same_text(self, hashed):
        return [memory for memory in self.standing if content_hash(memory.text) == hashed]

    def in_past(self, memory):
        return None

    def memory_at_removal(self, memory_id):
        return None


TEA = MemoryId("x-Likes tea")


def fact(text, **members):
    return replace(Memory(id=MemoryId(f"x-{text}"), text=text, user="mira", created_at=NOON), **members)


def add(text, **members):
    return Add(memory=fact(text, **members), entry=WORDS)


def effects(changes, *standing, degrade=False):
    plan = planned_effects(Memories(list(standing)), MIRA, changes, LATER, degrade=degrade)
    return [(effect.event, effect.memory.id, effect.replaced_by) for effect in plan]


def test_a_fact_that_is_told_twice_in_one_commit_is_added_once():
    assert effects([add("Likes tea"), add("likes TEA.", id="other")]) == [("ADD", "x-Likes tea", None)]


def test_a_text_that_was_removed_or_rewritten_before_may_be_added():
    gone = Remove(target=TEA, expected="Likes tea")
    changed = Update(target=MemoryId("x-Likes milk"), expected="Likes milk", text="Likes cream", entry=WORDS)
    again = [add("Likes tea", id="tea"), add("Likes milk", id="milk"), add("Likes cream", id="cream")]
    assert effects([gone, changed, *again], fact("Likes tea"), fact("Likes milk")) == [
        ("DELETE", "x-Likes tea", None),
        ("UPDATE", "x-Likes milk", None),
        ("ADD", "tea", None),
        ("ADD", "milk", None),
    ]


def test_a_removed_memory_names_the_one_that_a_later_change_stored():
    changes = [Remove(target=TEA, expected="Likes tea", replaced_by=1), add("Likes coffee")]
    assert effects(changes, fact("Likes tea")) == [
        ("DELETE", "x-Likes tea", "x-Likes coffee"),
        ("ADD", "x-Likes coffee", None),
    ]


def test_what_a_commit_removed_it_may_take_back():
    changes = [
        Remove(target=TEA, expected="Likes tea"),
        Restore(target=TEA, expected="Likes tea", entry=WORDS),
    ]
    assert effects(changes, fact("Likes tea")) == [("DELETE", "x-Likes tea", None), ("ADD", "x-Likes tea", None)]


def test_a_target_that_an_earlier_change_rewrote_is_stale():
    first = Update(target=TEA, expected="Likes tea", text="Likes green tea", entry=WORDS)
    second = replace(first, text="Likes black tea")
    with pytest.raises(StaleChange):
        effects([first, second], fact("Likes tea"))
    (updated, (event, added, _)) = effects([first, second], fact("Likes tea"), degrade=True)
    assert (updated, event) == (("UPDATE", "x-Likes tea", None), "ADD")
    assert added != "x-Likes tea"


def test_of_facts_with_one_text_the_last_renewed_is_renewed_again():
    """Two agents of one user may know the same."""
    tea, coffee = fact("Likes tea", agent="a"), fact("Likes coffee")
    newer = fact("Likes tea", id="newer", agent="b", updated_at=LATER)
    change = Update(target=coffee.id, expected=coffee.text, text="likes tea", entry=WORDS)
    assert effects([change], newer, tea, coffee) == [("DELETE", coffee.id, "newer"), ("UPDATE", "newer", None)]


def times(change, standing):
    [effect] = planned_effects(Memories([standing]), MIRA, [change], LATER, degrade=False)
    return effect.memory.updated_at, effect.until


EARLIER, BETWEEN = "2026-03-04T11:00:00.000Z", "2026-03-04T12:30:00.000Z"


@pytest.mark.parametrize(
    ("at", "text", "renewed"),
    [
        (None, "Likes rum", LATER),
        (BETWEEN, "Likes rum", BETWEEN),
        (EARLIER, "Likes rum", "2026-03-04T12:00:00.001Z"),
        (EARLIER, "Likes tea", NOON),
    ],
)
def test_a_text_holds_from_when_it_was_said_but_not_from_before_the_last_change(at, text, renewed):
    change = Update(target=TEA, expected="Likes tea", text=text, entry=WORDS, at=at)
    assert times(change, fact("Likes tea")) == (renewed, None)


@pytest.mark.parametrize(("at", "until"), [(None, None), (BETWEEN, BETWEEN), (EARLIER, NOON)])
def test_a_removed_memory_held_until_its_successor_was_said_at_least_until_its_last_change(at, until):
    change = Remove(target=TEA, expected="Likes tea", at=at)
    assert times(change, fact("Likes tea"))[1] == until
