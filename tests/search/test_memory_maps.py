"""How vectors are laid out in groups, and when a layout is made anew."""

import time

import numpy as np
import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.search.maps import Maps, MemoryMap, Selection
from mnemoir.search.maps.labels import group_labels
from mnemoir.search.maps.layout import fit

MIRA = Scope(project="p", user="mira")


def unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def around(centres: int, each: int, dimensions: int = 384, seed: int = 1) -> np.ndarray:
    """Unit vectors around some centres, which are far from each other."""
    chance = np.random.default_rng(seed)
    middle = np.repeat(chance.standard_normal((centres, dimensions)), each, axis=0)
    return unit(middle + 0.6 * chance.standard_normal(middle.shape))


def test_groups_lie_beside_each_other_and_hold_their_members():
    vectors = around(centres=10, each=10)
    layout = fit(vectors)
    groups = layout.groups_of(vectors)
    assert sum(len(set(groups[at : at + 10])) == 1 for at in range(0, 100, 10)) >= 8
    places = layout.positions_of(vectors, groups)
    apart = np.linalg.norm(layout.places[:, None] - layout.places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (apart >= layout.radii[:, None] + layout.radii[None]).all()
    assert (np.linalg.norm(places - layout.places[groups], axis=1) <= layout.radii[groups]).all()
    assert np.abs(places).max() <= 1
    assert np.array_equal(fit(vectors).places, layout.places)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_vectors_and_equal_ones_have_places(count):
    vectors = np.repeat(around(1, 1), count, axis=0)
    layout = fit(vectors)
    assert np.isfinite(layout.positions_of(vectors, layout.groups_of(vectors))).all()


@pytest.mark.slow
def test_five_thousand_vectors_take_less_than_a_second():
    vectors = around(centres=60, each=84)[:5000]
    began = time.thread_time()
    layout = fit(vectors)
    layout.positions_of(vectors, layout.groups_of(vectors))
    assert time.thread_time() - began < 1


def test_a_group_is_named_by_its_commonest_words_without_those_of_all():
    texts = ["Nora bakes bread", "Nora sells bread", "the bread of Nora", "Nora plays cello", "Nora tunes the cello"]
    assert [words[0] for words in group_labels(texts, [0, 0, 0, 1, 1], 2)] == ["bread", "cello"]
    assert group_labels(["?", "12 34"], [0, 1], 2) == [[], []]


class Drawing:
    """Maps with a clock set by hand, over vectors that a test gives."""

    def __init__(self) -> None:
        self.now = 0.0
        self.maps = Maps(clock=lambda: self.now)
        self.vectors = around(centres=20, each=10)

    async def draw(self, seqs: range) -> MemoryMap:
        async def select() -> Selection:
            return Selection(
                model="m",
                memories={seq: memory(seq) for seq in seqs},
                seqs=np.array(seqs),
                vectors=self.vectors[list(seqs)],
                matching=np.ones(len(seqs), np.bool_),
                total=len(seqs),
                without_vector=0,
                left_out=0,
            )

        return await self.maps.draw(MIRA, False, select)

    async def moved(self, seqs: range) -> bool:
        """Whether those that were there before lie elsewhere now."""
        before = {point.memory.id: (point.x, point.y) for point in (await self.draw(seqs)).points}
        return any(before[id] != place for id, place in self.last.items())

    async def begin(self, seqs: range) -> None:
        self.last = {point.memory.id: (point.x, point.y) for point in (await self.draw(seqs)).points}


def memory(seq: int) -> Memory:
    return Memory(id=MemoryId(str(seq)), text=f"memory {seq}", user="mira", created_at="2026-01-01T00:00:00Z")


async def test_a_layout_stays_until_a_fifth_is_new():
    drawing = Drawing()
    await drawing.begin(range(100))
    assert not await drawing.moved(range(120))
    assert await drawing.moved(range(126))


async def test_a_layout_with_anything_new_is_made_anew_after_an_hour_and_one_without_stays():
    drawing = Drawing()
    await drawing.begin(range(100))
    drawing.now = 3599.0
    assert not await drawing.moved(range(110))
    drawing.now = 3600.0
    assert not await drawing.moved(range(100))
    assert await drawing.moved(range(110))


async def test_a_user_who_is_forgotten_leaves_no_layout():
    drawing = Drawing()
    await drawing.begin(range(100))
    drawing.maps.forget(MIRA)
    assert await drawing.moved(range(110))
