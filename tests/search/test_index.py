"""The index: whatever happened to the rows, it equals one that was built from what is left."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import Arrays, IndexPacks
from mnemoir.search.columns import NONE
from mnemoir.search.index import ScopeIndex
from mnemoir.search.indexing import pack_ids, pack_vector
from mnemoir.search.resident import Resident
from mnemoir.search.residents import Budget, Residents
from mnemoir.search.scores import word_scores
from mnemoir.search.terms import query_terms, terms_and_mark_of
from tests.search.listed_rows import ListedRows, fact, message

T = TypeVar("T")

MIRA = Scope(project="p", user="mira")
WORDS = ["tea", "dog", "graz", "piano", "nut"]
TOKENS = np.arange(50, dtype=np.uint16)

texts = st.lists(st.sampled_from([*WORDS, "?"]), max_size=4).map(" ".join)
steps = st.lists(
    st.tuples(st.sampled_from(["say", "state", "rewrite", "remove", "look", "restart"]), texts, st.integers(0, 3)),
    max_size=25,
)


def entry(text: str) -> IndexEntry:
    words = text.replace("?", "").split()
    if not words:
        return IndexEntry(terms=b"")
    vector = np.zeros(5, np.float32)
    vector[WORDS.index(words[0])] = 1
    ids = np.array([WORDS.index(word) for word in words], np.uint16)
    return IndexEntry(
        terms=terms_and_mark_of(text), model="model", vector=pack_vector(vector), token_ids=pack_ids(ids)
    )


def made(kind: str, text: str, number: int) -> Memory:
    at = f"2026-01-01T{10 + 2 * (number % 2)}:00:00Z"
    if kind == "state":
        return fact("f", text, at=at)
    return message("m", text, at=at, speaker=["Ann", "Bob"][number % 2], conversation=["a", None][number // 2])


def seen(index: ScopeIndex) -> dict[int, tuple[object, ...]]:
    """All that ranking can learn of each living row, by seq."""
    words = word_scores(index, query_terms(" ".join(WORDS)), index.alive)
    vectors = index.vectors if index.vectors is not None else np.zeros((len(index), 5))
    return {
        int(index.seqs[slot]): (
            round(float(words.item[slot]), 6),
            round(float(words.window[slot]), 6),
            bool(index.has_vector[slot]),
            vectors[slot].tolist() if index.has_vector[slot] else None,
            float(index.said_at[slot]),
            float(index.asking_shares()[slot]),
            [int(index.seqs[before]) for before in index.before(np.array([slot])) if before != NONE],
        )
        for slot in np.flatnonzero(index.alive)
    }


class Shelf:
    """Packs in memory."""

    def __init__(self) -> None:
        self.arrays: Arrays | None = None

    def read(self, scope: Scope, model: str) -> Arrays | None:
        return self.arrays

    def mark(self, scope: Scope) -> int:
        return 0

    def write(self, scope: Scope, model: str, arrays: Arrays, mark: int) -> None:
        self.arrays = {name: array.copy() for name, array in arrays.items()}

    def drop(self, scope: Scope) -> None:
        self.arrays = None


def resident(packs: IndexPacks | None = None) -> Resident:
    return Resident(MIRA, lambda: ScopeIndex("model", None), packs)


def restarted(before: Resident, store: ListedRows, packs: Shelf) -> Resident:
    """An index that was kept and is taken up again."""
    before.pack(0, store)()
    after = resident(packs)
    kept = after.read_pack()
    assert kept is not None
    after.begin_with(kept, store)
    return after


@settings(max_examples=40)
@given(steps)
def test_an_index_kept_up_to_date_equals_a_rebuilt_one(history: list[tuple[str, str, int]]) -> None:
    store, shelf = ListedRows(), Shelf()
    kept = resident(shelf)
    kinds: dict[int, str] = {}
    for kind, text, number in history:
        known = sorted(store.live(MIRA))
        if kind in ("say", "state"):
            kinds[store.add(MIRA, made(kind, text, number), entry(text))] = kind
        elif kind == "look":
            with kept.up_to_date(store):
                pass
        elif kind == "restart":
            kept = restarted(kept, store, shelf)
        elif known and kind == "rewrite":
            seq = known[number % len(known)]
            old = store.memories(MIRA, [seq])[seq]
            store.rewrite(MIRA, seq, replace(old, text=text), entry(text))
        elif known:
            store.remove(MIRA, known[number % len(known)])
    with kept.up_to_date(store) as one, resident().up_to_date(store) as other:
        assert seen(one) == seen(other)
        assert one.token_rows(TOKENS).tolist() == other.token_rows(TOKENS).tolist()
        assert one.speaker_names() == other.speaker_names()


def test_a_search_after_one_add_reads_one_row() -> None:
    store, residents = ListedRows(), Residents("model", None)
    for number in range(20):
        store.add(MIRA, made("say", "tea", number % 4), entry("tea"))
    with residents.index(store, MIRA):
        store.rows_read = 0
    store.add(MIRA, made("say", "dog", 0), entry("dog"))
    with residents.index(store, MIRA) as index:
        assert (store.rows_read, index.count) == (1, 21)


def test_a_new_epoch_starts_afresh() -> None:
    store, residents = ListedRows(), Residents("model", None)
    store.add(MIRA, made("say", "tea", 0), entry("tea"))
    with residents.index(store, MIRA) as before:
        pass
    store.epoch = "restored"
    with residents.index(store, MIRA) as after:
        assert after is not before
        assert after.count == 1


def test_users_not_asked_about_for_longest_are_forgotten_when_memory_is_full() -> None:
    store, residents = ListedRows(), Residents("model", None, budget=Budget(1))
    people = [Scope(project="p", user=name) for name in ("ann", "bob")]
    for person in people:
        store.add(person, made("say", "tea", 0), entry("tea"))
        with residents.index(store, person):
            pass
    store.rows_read = 0
    for person in reversed(people):
        with residents.index(store, person):
            pass
    assert store.rows_read == 1


def test_indexes_of_the_present_and_of_the_past_share_one_budget() -> None:
    store, budget = ListedRows(), Budget(1)
    present, past = (Residents("model", None, budget=budget) for _ in range(2))
    store.add(MIRA, made("say", "tea", 0), entry("tea"))
    for residents in (present, past, present):
        with residents.index(store, MIRA):
            pass
    assert store.rows_read == 3


class ChangingRows(ListedRows):
    """Somebody writes after each look at the rows."""

    def __init__(self) -> None:
        super().__init__()
        self.most_read = 0
        self.changes: list[Callable[[], object]] = []

    async def reading(self, work: Callable[[ListedRows], T]) -> T:
        before = self.rows_read
        found = work(self)
        self.most_read = max(self.most_read, self.rows_read - before)
        if self.changes:
            self.changes.pop(0)()
        return found


async def test_an_index_is_made_in_short_looks_and_knows_what_changed_between_them(monkeypatch) -> None:
    monkeypatch.setattr("mnemoir.search.resident.PAGE", 4)
    store, residents = ChangingRows(), Residents("model", None)
    for number in range(10):
        store.add(MIRA, made("say", WORDS[number % 5], number % 4), entry(WORDS[number % 5]))

    def replace_the_first() -> None:
        store.remove(MIRA, 1)
        store.add(MIRA, made("state", "piano", 0), entry("piano"))

    store.changes = [
        lambda: store.rewrite(MIRA, 2, made("say", "nut nut", 1), entry("nut nut")),
        replace_the_first,
        lambda: store.remove(MIRA, 9),
    ]
    await asyncio.gather(*(residents.build(store, MIRA) for _ in range(3)))
    assert (store.most_read, store.changes) == (4, [])
    store.rows_read = 0
    with residents.index(store, MIRA) as built:
        assert store.rows_read <= 4
        with Residents("model", None).index(store, MIRA) as rebuilt:
            assert seen(built) == seen(rebuilt)


def test_vectors_of_another_model_are_not_compared() -> None:
    store = ListedRows()
    store.add(MIRA, made("say", "tea", 0), entry("tea"))
    with Residents("other", 5).index(store, MIRA) as index:
        assert index.has_vector.tolist() == [False]


def test_searches_of_one_user_from_several_threads_see_whole_states() -> None:
    store, residents = ListedRows(), Residents("model", None)
    for number in range(200):
        store.add(MIRA, made("say", WORDS[number % 5], number % 4), entry(WORDS[number % 5]))

    def count(_: int) -> tuple[int, int]:
        with residents.index(store, MIRA) as index:
            return index.count, int(np.count_nonzero(word_scores(index, query_terms("tea"), index.alive).item))

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(count, range(40))) == {(200, 40)}
