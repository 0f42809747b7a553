"""The arrays of an index in a form that can be stored and loaded again without reading the rows.

Only living rows are stored: of a deleted row no vector, term, token or name remains.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from mnemoir.ports.index_packs import Arrays
from mnemoir.ports.search_rows import Revision
from mnemoir.search.columns import NONE, Array, Key
from mnemoir.search.terms import EMPTY, Postings, merged_postings, moved_postings

_VERSION = 7  # changes with the stored format and with the meaning of terms, names and tokens
_HEAD = "head"
_LISTS = {"token_ids": "token_ends", "name_keys": "name_ends"}  # columns of lists, and where each slot's ends
_LISTED = frozenset((*_LISTS, *_LISTS.values()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frozen:
    """The contents of a `ScopeIndex`. `chain_ends` are the last slots of conversations."""

    revision: Revision
    arrays: Arrays
    pieces: Sequence[Postings]
    names: Sequence[str]
    chain_ends: Mapping[Key, int]

    def of_the_living(self) -> "Frozen":
        """A copy without dead slots, with one piece of postings; the order is kept."""
        alive = self.arrays["alive"]
        places = np.where(alive, np.cumsum(alive) - 1, NONE)  # of each slot; NONE for a dead one
        names, codes = self._used_names(alive)
        is_whole = bool(alive.all())
        arrays = {
            name: rows if is_whole else rows[alive] for name, rows in self.arrays.items() if name not in _LISTED
        }
        arrays["links"] = _mapped_numbers(arrays["links"], places)
        arrays["places"] = _mapped_numbers(arrays["places"], codes)
        for listed, ends in _LISTS.items():
            arrays[listed], arrays[ends] = self._list_of(alive, listed, ends)
        chain_ends = {
            tuple(_mapped_numbers(np.array(key), codes).tolist()): int(places[end])
            for key, end in self.chain_ends.items()
            if end != NONE
        }
        return Frozen(
            revision=self.revision,
            arrays=arrays,
            pieces=[moved_postings(merged_postings([EMPTY, *self.pieces]), places)],
            names=names,
            chain_ends=chain_ends,
        )

    def as_arrays(self, model: str) -> Arrays:
        """The contents as arrays, vectors in their stored precision. The postings must be in one piece."""
        [words] = self.pieces
        ends = [(*key, end) for key, end in self.chain_ends.items()]
        arrays = {
            **self.arrays,
            "chain_ends": np.array(ends, np.int32).reshape(len(ends), 4),
            "terms": words.terms,
            "starts": words.starts,
            "slots": words.slots,
            "counts": words.counts,
        }
        for name, array in arrays.items():
            if name.startswith("vectors"):
                arrays[name] = array.astype("<f2")
        head = {"version": _VERSION, "model": model, "names": self.names, "holds": sorted(arrays)}
        head["revision"] = asdict(self.revision)
        return {**arrays, _HEAD: np.frombuffer(json.dumps(head).encode(), np.uint8)}

    def _used_names(self, alive: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
        """The names of living rows, and the new number of each name; NONE for the others."""
        is_used = np.zeros(len(self.names) + 1, bool)
        is_used[self.arrays["places"][alive]] = True
        is_used = is_used[:-1]  # the last entry belongs to NONE, which is no name
        names = [name for name, used in zip(self.names, is_used, strict=True) if used]
        return names, np.where(is_used, np.cumsum(is_used) - 1, NONE)

    def _list_of(self, alive: NDArray[np.bool_], listed: str, ends: str) -> tuple[Array, Array]:
        counts = np.diff(self.arrays[ends], prepend=0)
        return self.arrays[listed][np.repeat(alive, counts)], np.cumsum(counts[alive])


def frozen_from(arrays: Arrays, model: str) -> Frozen | None:
    """The contents from the result of `as_arrays`; None for another version or model, or invalid arrays."""
    try:
        head = json.loads(arrays[_HEAD].tobytes())
        if (head["version"], head["model"]) != (_VERSION, model) or {*head["holds"], _HEAD} != set(arrays):
            return None
        words = Postings(arrays["terms"], arrays["starts"], arrays["slots"], arrays["counts"])
        ends: dict[Key, int] = {tuple(key): slot for *key, slot in arrays["chain_ends"].tolist()}
        revision = Revision(**head["revision"])
    except (KeyError, TypeError, ValueError):
        return None
    return Frozen(revision=revision, arrays=arrays, pieces=(words,), names=head["names"], chain_ends=ends)


def _mapped_numbers(numbers: Array, to: NDArray[np.int64]) -> Array:
    """The numbers mapped by `to`; NONE stays."""
    return np.append(to, NONE)[numbers].astype(np.int32)
