"""The names of a memory's statement, as its index entry keeps them."""

from mnemoir.core.memories import Memory


def statement_names(memory: Memory) -> bytes:
    """See `mnemoir.memory.names.reading.names_of`, which the library of conversations does without."""
    from mnemoir.memory.names.reading import names_of  # late, so that storage loads no fact memory by itself

    return names_of(memory)
