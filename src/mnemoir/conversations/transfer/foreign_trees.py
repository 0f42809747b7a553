"""Conversion of other programs' message trees to our order.

Other programs name each message and its parent by texts. Our sessions have one order in which parents come first;
here it is the order of time, as far as parents allow. The children of left-out messages (placeholders, instructions
of the program) are attached to their grandparent. Broken trees are mended, as programs write them themselves.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mnemoir.conversations.transfer.copies import BEGINNING, MessageCopy
from mnemoir.conversations.turns.threads import follow


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignNode:
    """A message of another program. `parent` is its parent's name in the tree, `children` those that it names.

    `copies` are the messages that it becomes, one behind the other; none when it is left out.
    """

    parent: str | None
    copies: Sequence[MessageCopy] = ()
    children: Sequence[str] = ()
    created_at: datetime | None = None


def in_order(told: Mapping[str, ForeignNode], head: str | None) -> Iterator[MessageCopy]:
    """The messages with parent numbers, none older than its parent. `head` ends the thread.

    A head that is not there, or leads to no message, is as good as None: the thread ends with the newest message. A
    message whose parent is not there is put behind the one that names it as its child, else it begins a thread. Of
    messages that are each other's parents, the newest one ends their row.
    """
    nodes = _without_circles(_with_known_parents(told))
    last = _nearest_with_copies(nodes, head)
    number = 0
    numbers: dict[str, int] = {}
    for name, created_at in _parents_first(nodes):
        node = nodes[name]
        parent = BEGINNING if node.parent is None else numbers[node.parent]
        for copy in node.copies:
            number += 1
            is_head = name == last and copy is node.copies[-1]
            yield replace(copy, parent=parent, created_at=created_at, is_head=is_head)
            parent = number
        numbers[name] = parent


def _with_known_parents(nodes: Mapping[str, ForeignNode]) -> dict[str, ForeignNode]:
    """Each node with a parent that is there, or None."""
    namers = {child: name for name, node in nodes.items() for child in node.children if child != name}
    known: dict[str, ForeignNode] = {}
    for name, node in nodes.items():
        parent = node.parent if node.parent in nodes and node.parent != name else namers.get(name)
        known[name] = node if parent == node.parent else replace(node, parent=parent)
    return known


def _without_circles(nodes: Mapping[str, ForeignNode]) -> Mapping[str, ForeignNode]:
    """The nodes with each circle of parents opened: whoever follows its newest message begins a thread."""
    opened: dict[str, ForeignNode] = {}
    rank = {name: at for at, name in enumerate(nodes)}
    done: set[str] = set()
    for name in nodes:
        way: dict[str, None] = {}
        here: str | None = name
        while here is not None and here not in done and here not in way:
            way[here] = None
            here = nodes[here].parent
        if here is not None and here in way:
            row = list(way)
            circle = row[row.index(here) :]
            newest = max(circle, key=lambda one: (nodes[one].created_at or datetime.min, rank[one]))
            first = next(one for one in circle if nodes[one].parent == newest)
            opened[first] = replace(nodes[first], parent=None)
        done |= way.keys()
    return {**nodes, **opened}


def _parents_first(nodes: Mapping[str, ForeignNode]) -> list[tuple[str, datetime | None]]:
    """Names and times in order: of the messages whose parent is done, the oldest is next; ties keep the file's order.

    A message without a time gets its parent's; a root without a time gets the earliest time of all.
    """
    children: dict[str | None, list[str]] = defaultdict(list)
    for name, node in nodes.items():
        children[node.parent].append(name)
    rank = {name: at for at, name in enumerate(nodes)}
    begun_at = min((node.created_at for node in nodes.values() if node.created_at is not None), default=None)
    earliest = begun_at or datetime.min
    ready = [(nodes[name].created_at or earliest, rank[name], name) for name in children[None]]
    heapq.heapify(ready)
    order: list[tuple[str, datetime | None]] = []
    while ready:
        at, _, name = heapq.heappop(ready)
        order.append((name, None if begun_at is None else at))
        for child in children[name]:
            heapq.heappush(ready, (max(at, nodes[child].created_at or at), rank[child], child))
    return order


def _nearest_with_copies(nodes: Mapping[str, ForeignNode], head: str | None) -> str | None:
    """The head itself, or the nearest ancestor that is not left out; None when there is none."""
    if head is None or head not in nodes:
        return None
    return next((one for one in follow(head, lambda name: nodes[name].parent, str) if nodes[one].copies), None)
