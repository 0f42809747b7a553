"""The memories that bear upon what is to be stored: those nearest to a text, and those that settle what it does."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.memories import Hit
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.decide.matters import contradicts, is_known, stated_names, statements_like
from mnemoir.memory.facts.reading.own_name import name_in_front
from mnemoir.memory.facts.reading.persons import about
from mnemoir.ports.memory_store import ListFilter, MemoryStore, Visible
from mnemoir.search.recall import Recall

_NEAREST = 10  # memories looked at beside each text
_MOST_NAMES = 5  # that are looked up, and memories with one of them
_MOST_NAMING = 50


def settles(stored: str, text: str) -> bool:
    """True when an add of the text is decided by the memory: both cannot hold, or one tells what the other does."""
    return contradicts(text, stored) or is_known(text, stored) or is_known(stored, text)


async def neighbours_of(recall: Recall, scope: Scope, facts: Sequence[str], visible: Visible) -> list[list[Hit]]:
    """The memories nearest to each fact, and those with another value of its attribute in other words."""
    if not facts:
        return []
    alike = [(at, text) for at, fact in enumerate(facts) for text in statements_like(fact)]
    found = await recall.nearest(scope, [*facts, *(text for _, text in alike)], visible, k=_NEAREST)
    near = [list(hits) for hits in found[: len(facts)]]
    for (at, _), hits in zip(alike, found[len(facts) :], strict=True):
        seen = {hit.memory.id for hit in near[at]}
        against = (hit for hit in hits if hit.memory.id not in seen and contradicts(facts[at], hit.memory.text))
        near[at] += [replace(hit, signals={}) for hit in against]
    return near


async def own_names(store: MemoryStore, scope: Scope, texts: Sequence[str], visible: Visible) -> list[str]:
    """The names that the user told, of those with which the texts begin; few texts begin with one."""
    fronts = list(dict.fromkeys(front for text in texts if (front := name_in_front(text)) and _is_person(text)))
    found: list[str] = list(stated_names(texts))
    for front in fronts[:_MOST_NAMES]:
        wanted = ListFilter(visible=visible, words=front, kind="fact")
        held = await store.select(scope.owner, wanted, limit=_MOST_NAMING)
        found += stated_names(memory.text for memory in held)
    return found


def _is_person(text: str) -> bool:
    return about(text.replace("'s ", " is ", 1)).who == "person"
