"""Incremental readers of streams: network reads in, the data of each complete event or line out.

Source of server-sent events: WHATWG HTML, "server-sent events". Line ends are LF or CRLF. The standard allows a
lone CR too, but no model server sends it, and waiting for a possible LF would delay events. Only the field `data`
counts here: every dialect repeats the event's name inside its JSON.
"""

from mnemoir.core.errors import ProviderInvalidOutput

MOST_EVENT_BYTES = 16 * 1024 * 1024
MOST_LINE_BYTES = 16 * 1024 * 1024


class SseReader:
    """Joins reads of any size, down to single bytes. An event over the limit raises ProviderInvalidOutput."""

    def __init__(self, most_bytes: int = MOST_EVENT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rest = bytearray()  # the unfinished line
        self._data: list[bytes] = []  # data lines of the unfinished event
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The data of every event that `data` completes, in order."""
        lines = self._lines(data)
        if len(self._rest) + self._size > self._most_bytes:
            self._refuse()
        events: list[bytes] = []
        for line in lines:
            if not line or line == b"\r":
                self._close_event(events)
            elif line.startswith(b"data:"):
                self._add(line)
        return events

    def end(self) -> list[bytes]:
        """The last event, if the body ended without the blank line after it."""
        return self.feed(b"\n\n") if self._rest or self._data else []

    def _lines(self, data: bytes) -> list[bytes]:
        if b"\n" not in data:
            self._rest += data
            return []
        if self._rest:
            self._rest += data
            data = bytes(self._rest)
        *lines, rest = data.split(b"\n")
        self._rest = bytearray(rest)
        return lines

    def _add(self, line: bytes) -> None:
        value = line[6:] if line.startswith(b"data: ") else line[5:]
        self._data.append(value[:-1] if value.endswith(b"\r") else value)
        self._size += len(value)
        if self._size > self._most_bytes:
            self._refuse()

    def _close_event(self, events: list[bytes]) -> None:
        if self._data:
            events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
            self._data = []
            self._size = 0

    def _refuse(self) -> None:
        self._rest.clear()
        self._data.clear()
        raise ProviderInvalidOutput(f"The model's server sent one event of more than {self._most_bytes} bytes.")


class NdjsonReader:
    """Joins reads of any size, down to single bytes. A line over the limit raises ProviderInvalidOutput."""

    def __init__(self, most_bytes: int = MOST_LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Every line that `data` completes, in order."""
        if b"\n" not in data:
            self._rest += data
            self._check(len(self._rest))
            return []
        if self._rest:
            self._rest += data
            data = bytes(self._rest)
        *lines, rest = data.split(b"\n")
        self._rest = bytearray(rest)
        self._check(max(len(rest), *map(len, lines)))
        return [line for line in lines if line and not line.isspace()]

    def end(self) -> list[bytes]:
        """The last line, if the body ended without ending it."""
        return self.feed(b"\n") if self._rest else []

    def _check(self, size: int) -> None:
        if size > self._most_bytes:
            self._rest.clear()
            raise ProviderInvalidOutput(f"The model's server sent one line of more than {self._most_bytes} bytes.")
