"""Trees of messages as other programs hold them, put into the order of ours.

They name each message by a text and its parent by another. Ours stand in one order in which parents come first; here
that is the order of time, as far as parents allow. What is left out (placeholders, instructions of the program) hands
its children to its own parent.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from mnemoir.conversations.transfer.copies import BEGINNING, InvalidImport, MessageCopy
from mnemoir.conversations.turns.threads import follow


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignNode:
    """A message of another program, by its name in the tree; `copy` is None for one that is left out."""

    parent: str | None
    copy: MessageCopy | None
    created_at: datetime | None = None


def in_order(nodes: Mapping[str, ForeignNode], head: str | None, place: str) -> Iterator[MessageCopy]:
    """The copies with numbers for parents, none older than its parent. `head` ends the thread, None: the last one.

    Raises InvalidImport for a parent or a head that is not there, and for messages in a circle.
    """
    last = _kept(nodes, head, place)
    number = 0
    numbers: dict[str, int] = {}
    for name, created_at in _parents_first(nodes, place):
        node = nodes[name]
        parent = BEGINNING if node.parent is None else numbers[node.parent]
        if node.copy is None:
            numbers[name] = parent
            continue
        number += 1
        numbers[name] = number
        yield replace(node.copy, parent=parent, created_at=created_at, is_head=name == last)


def _parents_first(nodes: Mapping[str, ForeignNode], place: str) -> list[tuple[str, datetime | None]]:
    """Names and times; of those whose parent is out already the oldest is next, then the one that stands first.

    One without a time has its parent's, and one without a parent the earliest of all.
    """
    children: dict[str | None, list[str]] = defaultdict(list)
    for name, node in nodes.items():
        if node.parent is not None and node.parent not in nodes:
            raise InvalidImport(f"{place}: the message {name!r:.80} has a parent that is not in the file.")
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
    if len(order) < len(nodes):
        raise InvalidImport(f"{place}: {len(nodes) - len(order)} messages are each other's parents, in a circle.")
    return order


def _kept(nodes: Mapping[str, ForeignNode], name: str | None, place: str) -> str | None:
    """The message itself, or the nearest one above it that is not left out."""
    if name is not None and name not in nodes:
        raise InvalidImport(f"{place}: its newest message {name!r:.80} is not in the file.")

    def above(name: str) -> str | None:
        parent = nodes[name].parent
        return parent if parent in nodes else None  # a parent that is missing is refused where they are put in order

    return next((one for one in follow(name, above, str) if nodes[one].copy is not None), None)
