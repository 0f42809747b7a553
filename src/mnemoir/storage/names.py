"""The names that are kept with each state of a fact, beside its terms."""

from mnemoir.core.memories import Memory


def names_of(memory: Memory) -> bytes:
    """The packed names of a memory; empty for one of no names."""
    from mnemoir.memory.names import reading  # late: who keeps conversations alone loads no fact memory

    return reading.names_of(memory)
