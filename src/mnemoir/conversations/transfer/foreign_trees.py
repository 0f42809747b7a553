"""Conversion of other programs' message trees to our order.

Other programs name each message and its parent by texts. Our sessions have one order in which parents come first;
here it is the order of time, as far as parents allow. The children of left-out messages (placeholders, instructions
of the program) are attached to their grandparent.
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
    """A message of another program; `parent` is its parent's name in the tree, `copy` is None when it is left out."""

    parent: str | None
    copy: MessageCopy | None
    created_at: datetime | None = None


def in_order(nodes: Mapping[str, ForeignNode], head: str | None, place: str) -> Iterator[MessageCopy]:
    """The messages with parent numbers, none older than its parent. `head` ends the thread; None: the last message.

    Raises InvalidImport for a missing parent or head, and for a cycle of messages.
    """
    last = _nearest_with_copy(nodes, head, place)
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
    """Names and times in order: of the messages whose parent is done, the oldest is next; ties keep the file's order.

    A message without a time gets its parent's; a root without a time gets the earliest time of all.
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


def _nearest_with_copy(nodes: Mapping[str, ForeignNode], name: str | None, place: str) -> str | None:
    """The name itself, or the nearest ancestor that is not left out; None when there is none."""
    if name is not None and name not in nodes:
        raise InvalidImport(f"{place}: its newest message {name!r:.80} is not in the file.")

    def above(name: str) -> str | None:
        parent = nodes[name].parent
        return parent if parent in nodes else None  # `_parents_first` refuses a missing parent

    return next((one for one in follow(name, above, str) if nodes[one].copy is not None), None)
