"""Maps of users' memories, each fitted once and kept in memory: what is new is put to the groups that are there."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import FloatArray
from mnemoir.ports.memory_store import ListFilter
from mnemoir.ports.search_rows import SearchSnapshot
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.maps.labels import group_labels
from mnemoir.search.maps.layout import Layout, fit
from mnemoir.search.vector_rows import VectorRows

MOST_PLACED = 5000  # memories
_MOST_KEPT = 32  # layouts
_REST_S = 3600.0  # a layout is not made anew before, unless much is new
_MUCH_NEW = 0.2  # of the memories

Seqs = NDArray[np.int64]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where a memory lies, within [-1, 1] in both directions, and the place of its group in the list of groups."""

    memory: Memory
    x: float
    y: float
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MapGroup:
    """A group: its circle, how many of the points are in it, and its commonest content words."""

    words: Sequence[str]
    x: float
    y: float
    radius: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMap:
    """A map. Of `total` memories that were asked for `without_vector` have no place yet; `left_out` are more than a
    map shows, the least recalled and oldest."""

    points: Sequence[Point]
    groups: Sequence[MapGroup]
    total: int
    without_vector: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What one snapshot gave: memories by `seq`, the rows that can be placed with their vectors, and how many others.

    `matching` is True for those that were asked for; the layout is of all.
    """

    model: str
    memories: dict[int, Memory]
    seqs: Seqs
    vectors: FloatArray
    matching: Mask
    total: int
    without_vector: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    layout: Layout
    model: str
    seqs: Seqs
    at: float


class Maps:
    """The layouts of some users, the one used last kept longest. `clock` tells seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._fitted: OrderedDict[tuple[Scope, bool], _Fitted] = OrderedDict()
        self._one_by_one = KeyedLock()

    async def draw(self, scope: Scope, is_past: bool, select: Callable[[], Awaitable[Selection]]) -> MemoryMap:
        """The map of what `select` gives. Raises what `select` raises."""
        key = (scope, is_past)
        async with self._one_by_one.hold(key):
            selection = await select()
            if not len(selection.seqs):
                return _empty_map(selection)
            layout = await self._layout_of(key, selection)
            return await asyncio.to_thread(_draw, selection, layout)

    def forget(self, scope: Scope) -> None:
        """Drop the layouts of the scope's user."""
        for key in [key for key in self._fitted if key[0].owner == scope.owner]:
            del self._fitted[key]

    async def _layout_of(self, key: tuple[Scope, bool], selection: Selection) -> Layout:
        known = self._fitted.get(key)
        if known is None or self._is_outdated(known, selection):
            layout = await asyncio.to_thread(fit, selection.vectors)
            known = _Fitted(layout=layout, model=selection.model, seqs=selection.seqs, at=self._clock())
            self._fitted[key] = known
        self._fitted.move_to_end(key)
        while len(self._fitted) > _MOST_KEPT:
            self._fitted.popitem(last=False)
        return known.layout

    def _is_outdated(self, known: _Fitted, selection: Selection) -> bool:
        if known.model != selection.model:
            return True
        new = int(np.count_nonzero(~np.isin(selection.seqs, known.seqs)))
        is_changed = new > 0 or len(selection.seqs) != len(known.seqs)
        return new >= _MUCH_NEW * len(selection.seqs) or (is_changed and self._clock() - known.at >= _REST_S)


def select_rows(
    view: SearchSnapshot,
    index: ScopeIndex,
    owner: Scope,
    shown: Mask,
    among: ListFilter | None,
    recalled: ListFilter,
) -> Selection:
    """What a map shows of the rows `shown` of an index, by slot: at most `MOST_PLACED`.

    Of more, those that `recalled` lists come first, then the newest.
    """
    slots = np.flatnonzero(shown)
    rows = _common_space(index, slots)
    has_vector = rows.has_vector[slots]
    placed = _sample(view, index, owner, slots[has_vector], recalled)
    seqs = index.seqs[placed]
    asked = np.ones(len(slots), np.bool_)
    if among is not None and not among.is_all:
        asked = np.isin(index.seqs[slots], view.matching_seqs(owner, among))
    matching = np.isin(seqs, index.seqs[slots][asked])
    memories = view.memories(owner, [int(seq) for seq in seqs[matching]])
    with_vector = int(np.count_nonzero(asked & has_vector))
    return Selection(
        model=rows.model,
        memories=memories,
        seqs=seqs,
        vectors=np.zeros((0, 1), np.float32) if rows.vectors is None else rows.vectors[placed],
        matching=matching,
        total=int(np.count_nonzero(asked)),
        without_vector=int(np.count_nonzero(asked & ~has_vector)),
        left_out=with_vector - int(np.count_nonzero(matching)),
    )


def _common_space(index: ScopeIndex, slots: NDArray[np.int64]) -> VectorRows:
    """The space in which the most of the slots have vectors, the main one before others."""
    spaces = (index.main, *index.further.values())
    return max(spaces, key=lambda rows: np.count_nonzero(rows.has_vector[slots]))


def _sample(
    view: SearchSnapshot, index: ScopeIndex, owner: Scope, slots: NDArray[np.int64], recalled: ListFilter
) -> NDArray[np.int64]:
    if len(slots) <= MOST_PLACED:
        return slots
    is_recalled = np.isin(index.seqs[slots], view.matching_seqs(owner, recalled))
    said_at = np.nan_to_num(index.said_at[slots], nan=-np.inf)
    best = np.lexsort((-said_at, ~is_recalled))[:MOST_PLACED]
    return np.sort(slots[best])


def _draw(selection: Selection, layout: Layout) -> MemoryMap:
    groups = layout.groups_of(selection.vectors)
    places = layout.positions_of(selection.vectors, groups)
    rows = [
        (selection.memories[int(seq)], int(group), place)
        for seq, group, place, is_asked in zip(selection.seqs, groups, places, selection.matching, strict=True)
        if is_asked and int(seq) in selection.memories
    ]
    used = sorted({group for _, group, _ in rows})
    number = {group: at for at, group in enumerate(used)}
    of_rows = [number[group] for _, group, _ in rows]
    words = group_labels([memory.text for memory, _, _ in rows], of_rows, len(used))
    counts = Counter(of_rows)
    return MemoryMap(
        points=[
            Point(memory=memory, x=float(place[0]), y=float(place[1]), group=at)
            for (memory, _, place), at in zip(rows, of_rows, strict=True)
        ],
        groups=[
            MapGroup(
                words=words[at],
                x=float(layout.places[group][0]),
                y=float(layout.places[group][1]),
                radius=float(layout.radii[group]),
                count=counts[at],
            )
            for at, group in enumerate(used)
        ],
        total=selection.total,
        without_vector=selection.without_vector,
        left_out=selection.left_out,
    )


def _empty_map(selection: Selection) -> MemoryMap:
    return MemoryMap(points=(), groups=(), total=selection.total, without_vector=selection.without_vector, left_out=0)
