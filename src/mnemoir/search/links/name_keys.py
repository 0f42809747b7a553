"""Names of statements as they are stored: eight bytes each, ascending.

A name is a hash of its compared form, as a term is. Its lowest bits say how the statement mentions it. Whether a word
is a name is then for all statements of the user to tell: a word at the beginning of a sentence is one if another
statement has it inside of one, and a German noun is none if the user writes the word small.
"""

import functools
import hashlib
from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
_MODE_BITS = 3
_MODES = (1 << _MODE_BITS) - 1


class Mode(IntEnum):
    """How a statement mentions a name. The first three are links of the statement."""

    NAME = 0  # surely a name
    FIRST = 1  # with a capital where any word has one
    NOUN = 2  # with a capital in a language that writes nouns so
    SMALL = 3  # without a capital in such a language: no link, and no noun of this spelling is a name
    USER = 4  # the user's own name: no link, and no name


@functools.lru_cache(maxsize=16384)
def key_of_name(name: str) -> int:
    """The key of a name in its compared form; its lowest bits are free for a mode."""
    hashed = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(hashed, "little") & ~_MODES


def pack_names(modes: Mapping[int, Mode]) -> bytes:
    """The names of a statement, by their keys, for storing; b"" for none."""
    return np.array(sorted(key | mode for key, mode in modes.items()), "<u8").tobytes()


def unpack_names(stored: bytes) -> Keys:
    """The names that `pack_names` encoded, with their modes."""
    return np.frombuffer(stored, "<u8")


def keys_in(names: Keys) -> Keys:
    """The keys without the modes."""
    return names & ~np.uint64(_MODES)


def modes_in(names: Keys) -> NDArray[np.uint16]:
    """The modes alone."""
    return (names & np.uint64(_MODES)).astype(np.uint16)
