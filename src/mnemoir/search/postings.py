"""Postings: a word index with the rows and counts of each term, in three flat arrays that never change.

New rows become a small `Postings` after the large one; whenever the last two are of similar size they are merged. So
an index of n rows is at most log2(n) pieces, a row is copied log2(n) times in its life, and a search right after a
single add pays for that one row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemoir.search.terms import Terms

Slots = NDArray[np.int32]
Counts = NDArray[np.uint16]

MOST_COUNTED = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """`terms` are distinct and ascending; the slots of `terms[i]` are `slots[starts[i]:starts[i + 1]]`, ascending."""

    terms: Terms
    starts: NDArray[np.int64]
    slots: Slots
    counts: Counts

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.terms.nbytes + self.starts.nbytes + self.slots.nbytes + self.counts.nbytes


EMPTY = Postings(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16))


def post(texts: Sequence[Terms], first_slot: int) -> Postings:
    """The postings of consecutive rows, the first of which has number `first_slot`."""
    lengths = [len(text) for text in texts]
    terms = np.concatenate(texts) if texts else np.zeros(0, np.uint64)
    slots = np.repeat(np.arange(first_slot, first_slot + len(texts), dtype=np.int32), lengths)
    order = np.argsort(terms, kind="stable")  # stable: slots stay ascending within a term
    terms, slots = terms[order], slots[order]
    first = np.ones(len(terms), bool)
    first[1:] = (terms[1:] != terms[:-1]) | (slots[1:] != slots[:-1])
    at = np.flatnonzero(first)
    counts = np.diff(at, append=len(terms))
    return _grouped(terms[at], slots[at], np.minimum(counts, MOST_COUNTED).astype(np.uint16))


def append(pieces: Sequence[Postings], newest: Postings) -> list[Postings]:
    """`pieces` followed by `newest`, with pieces of similar size merged."""
    out = [*pieces, newest]
    while len(out) > 1 and len(out[-2].slots) < 2 * len(out[-1].slots):
        last = out.pop()
        out[-1] = in_one([out[-1], last])
    return out


def find(pieces: Sequence[Postings], terms: Terms) -> list[tuple[Slots, Counts]]:
    """Slots and counts for each of `terms`, in their order; empty arrays for a term without rows."""
    found: list[list[tuple[Slots, Counts]]] = [[] for _ in terms]
    for piece in pieces:
        at = np.searchsorted(piece.terms, terms)
        at[at == len(piece.terms)] = 0
        hits = np.flatnonzero(piece.terms[at] == terms) if len(piece.terms) else ()
        for number in hits:
            start, end = piece.starts[at[number]], piece.starts[at[number] + 1]
            found[number].append((piece.slots[start:end], piece.counts[start:end]))
    return [_concatenated(parts) for parts in found]


def in_one(pieces: Sequence[Postings]) -> Postings:
    """Several pieces merged into one; every slot of a piece must precede those of the next."""
    terms = np.concatenate([_each(piece) for piece in pieces])
    slots = np.concatenate([piece.slots for piece in pieces])
    counts = np.concatenate([piece.counts for piece in pieces])
    order = np.argsort(terms, kind="stable")
    return _grouped(terms[order], slots[order], counts[order])


def moved(postings: Postings, to: NDArray[np.int64]) -> Postings:
    """A copy with slots mapped by `to`, which keeps their order; slots mapped below 0 are left out."""
    slots = to[postings.slots]
    stays = slots >= 0
    return _grouped(_each(postings)[stays], slots[stays].astype(np.int32), postings.counts[stays])


def _each(postings: Postings) -> Terms:
    return np.repeat(postings.terms, np.diff(postings.starts))


def _grouped(terms: Terms, slots: Slots, counts: Counts) -> Postings:
    """Postings of entries that are sorted by term, then slot."""
    first = np.ones(len(terms), bool)
    first[1:] = terms[1:] != terms[:-1]
    at = np.flatnonzero(first)
    return Postings(terms[at], np.append(at, len(terms)), slots, counts)


def _concatenated(parts: Sequence[tuple[Slots, Counts]]) -> tuple[Slots, Counts]:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0, np.uint16)
    return np.concatenate([slots for slots, _ in parts]), np.concatenate([counts for _, counts in parts])
