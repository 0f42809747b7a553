"""Chunks: runs of messages that a model reads at once."""

from collections.abc import Sequence

_FILLED = 0.8  # of the target: token counts are estimates, and a chunk must fit the room reserved for it


def chunk_spans(tokens: Sequence[int], target: float) -> list[tuple[int, int]]:
    """The start and end of each chunk, oldest first, for messages with these token counts; all are covered.

    Chunks are filled from the newest message to the oldest up to four fifths of `target`, so the oldest chunk is what
    remains. A message is never split: one that is larger is a chunk of its own.
    """
    spans: list[tuple[int, int]] = []
    room, stop, held = _FILLED * target, len(tokens), 0
    for at in range(len(tokens) - 1, -1, -1):
        if at + 1 < stop and held + tokens[at] > room:
            spans.append((at + 1, stop))
            stop, held = at + 1, 0
        held += tokens[at]
    if stop:
        spans.append((0, stop))
    return spans[::-1]
