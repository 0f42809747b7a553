"""Stop texts for protocols without them: the answer ends before the first stop text, as at a model's server."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.events import Finished, ModelEvent, Reply, Text


class StopTexts:
    """Cuts a stream of events at the first stop text. `met` is True once one came; no event after it counts.

    A piece of text that may be the beginning of a stop text is held back until the next piece decides.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.met = False
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""

    def events(self, batch: Sequence[ModelEvent]) -> list[ModelEvent]:
        """The events of the batch for the client; may be empty."""
        out: list[ModelEvent] = []
        for event in batch:
            if isinstance(event, Text):
                out += self._text(event.text)
            elif isinstance(event, Finished):
                out += [*self.release(), event]
            else:
                out.append(event)
            if self.met:
                return [*out, Finished(reason="stop")]
        return out

    def release(self) -> list[ModelEvent]:
        """The text that is held back, at the end of an answer, also of one that breaks off; may be empty."""
        held, self._held = self._held, ""
        return [Text(held)] if held else []

    def _text(self, text: str) -> list[ModelEvent]:
        said = self._held + text
        end = _first_of(said, self._stops)
        self.met = end is not None
        if end is None:
            end = len(said) - _open_end(said, self._stops)
            self._held = said[end:]
        return [Text(said[:end])] if end else []


def cut(reply: Reply, stops: Sequence[str]) -> Reply:
    """A whole reply, cut at the first stop text. Tool calls after it are left out with the rest."""
    end = _first_of(reply.text, [stop for stop in stops if stop])
    return reply if end is None else replace(reply, text=reply.text[:end], reason="stop", tool_calls=())


def _first_of(text: str, stops: Sequence[str]) -> int | None:
    return min((place for stop in stops if (place := text.find(stop)) >= 0), default=None)


def _open_end(text: str, stops: Sequence[str]) -> int:
    """The number of characters at the end of `text` that may be the beginning of a stop text."""
    longest = max((len(stop) for stop in stops), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(stop.startswith(text[-size:]) for stop in stops):
            return size
    return 0
