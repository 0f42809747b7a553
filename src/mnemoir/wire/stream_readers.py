"""Incremental readers of streams: network reads in, the data of each complete event or line out.

Source of server-sent events: WHATWG HTML, "server-sent events". Lines end in CR, LF or CRLF: a CR ends its line at
once, and an LF behind it is swallowed, so that no event waits for it. Unlike in the standard, the name of an event
holds until the next name, and a line that is no field, or one of a name such as `ValueError`, is an event of its own,
for it may be an answer or an error that a server or proxy wrote without the framing. Other fields that the standard
does not know are ignored, as it says.
"""

import json
import re
from dataclasses import dataclass

import orjson

from mnemoir.core.errors import ProviderInvalidOutput

MOST_EVENT_BYTES = 16 * 1024 * 1024
MOST_LINE_BYTES = 16 * 1024 * 1024
_MOST_OF_LAST_LINE = 64 * 1024
_ORDINARY = (b"", b"message")
_ERROR = b"error"
_PINGS = frozenset({b"ping", b"pong", b"heartbeat", b"keepalive", b"keep-alive", b"keep_alive"})
_UNKNOWN_FIELD = re.compile(
    rb"(?!.{0,60}(?:error|exception|traceback|fatal|panic):)[a-z][\w.-]{0,60}:", re.IGNORECASE
)
_WITHOUT_DATA = (b"id", b"retry", b"data")


def is_ping(text: bytes) -> bool:
    """True for the words by which servers keep a connection open: as data, or as the name of an event."""
    return len(text) < 20 and text.strip(b" \t\r\n\"'[]").lower() in _PINGS


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event whose name counts: `error`, a ping, or where all names count, any other than `message`."""

    name: bytes
    data: bytes


def is_last_line(line: bytes | bytearray) -> bool:
    """True for a whole object that says that an answer is done."""
    if len(line) > _MOST_OF_LAST_LINE or b'"done"' not in line:
        return False
    try:
        body = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(body, dict) and body.get("done") is True


def last_line_within(line: bytes) -> bytes | None:
    """The whole object that a line begins with and that says that an answer is done; None where there is none."""
    begun = line[:_MOST_OF_LAST_LINE].decode("utf-8", "surrogateescape")
    try:
        _, end = json.JSONDecoder().raw_decode(begun, len(begun) - len(begun.lstrip(" \t\r")))
    except (ValueError, RecursionError):
        return None
    first = begun[:end].encode("utf-8", "surrogateescape")
    return first if is_last_line(first) else None


class SseReader:
    """Joins reads of any size, down to single bytes. An event over the limit raises ProviderInvalidOutput.

    Most protocols repeat the name of an event within it, so that only `error` counts, and that of a ping; with
    `by_name` all names do.
    """

    def __init__(self, most_bytes: int = MOST_EVENT_BYTES, *, by_name: bool = False) -> None:
        self._most_bytes = most_bytes
        self._by_name = by_name
        self._rest = bytearray()  # the unfinished line
        self._data: list[bytes] = []  # data lines of the unfinished event
        self._size = 0
        self._name = b""
        self._ends_in_cr = False

    def feed(self, data: bytes) -> list[bytes | NamedEvent]:
        """Every event that `data` completes, in order: its data alone where its name says nothing."""
        if b"\r" in data or self._ends_in_cr:
            data = self._with_lf(data)
        lines = self._lines(data)
        if len(self._rest) + self._size > self._most_bytes:
            self._refuse()
        events: list[bytes | NamedEvent] = []
        for line in lines:  # with few further calls, since it runs for every piece of a stream
            if not line:
                if len(self._data) == 1 and not self._name:
                    events.append(self._data.pop())
                    self._size = 0
                else:
                    self._close_event(events)
            elif line.startswith(b"data:"):
                value = line[6:] if line.startswith(b"data: ") else line[5:]
                self._data.append(value)
                self._size += len(value)
                if self._size > self._most_bytes:
                    self._refuse()
            elif not line.startswith(b":"):
                self._field(line, events)
        return events

    def end(self) -> list[bytes | NamedEvent]:
        """The last event, if the body ended without the blank line after it."""
        self._ends_in_cr = False
        return self.feed(b"\n\n") if self._rest or self._data else []

    def _with_lf(self, data: bytes) -> bytes:
        if self._ends_in_cr and data.startswith(b"\n"):
            data = data[1:]
        self._ends_in_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

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

    def _field(self, line: bytes, events: list[bytes | NamedEvent]) -> None:
        name, _, value = line.partition(b":")
        if name == b"event":
            given = value.strip()
            is_told = given == _ERROR or (self._by_name and given not in _ORDINARY) or is_ping(given)
            self._name = given if is_told else b""
        elif name == _ERROR:
            self._close_event(events)
            events.append(NamedEvent(name, value.strip()))
        elif name not in _WITHOUT_DATA and not _UNKNOWN_FIELD.match(line):
            self._close_event(events)
            events.append(line)

    def _close_event(self, events: list[bytes | NamedEvent]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(NamedEvent(self._name, data) if self._name else data)
            self._data = []
            self._size = 0
        if self._name and not self._by_name and self._name != _ERROR:  # a ping, whose name holds for one event alone
            self._name = b""

    def _refuse(self) -> None:
        self._rest.clear()
        self._data.clear()
        raise ProviderInvalidOutput(f"The model's server sent one event of more than {self._most_bytes} bytes.")


class NdjsonReader:
    """Joins reads of any size, down to single bytes. A line over the limit raises ProviderInvalidOutput.

    A line that says that it is the last, as a whole object with `done`, ends with that object: some servers send
    nothing behind it and keep the connection open.
    """

    def __init__(self, most_bytes: int = MOST_LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Every line that `data` completes, in order."""
        if b"\n" not in data:
            self._rest += data
            self._check(len(self._rest))
            return self._last() if self._rest.endswith(b"}") else []
        if self._rest:
            self._rest += data
            data = bytes(self._rest)
        *lines, rest = data.split(b"\n")
        self._rest = bytearray(rest)
        self._check(max(len(rest), *map(len, lines)))
        whole = [line for line in lines if line and not line.isspace()]
        return whole + self._last() if rest and rest.endswith(b"}") else whole

    def _last(self) -> list[bytes]:
        """The unfinished line, if it is the last one."""
        if not is_last_line(self._rest):
            return []
        line, self._rest = bytes(self._rest), bytearray()
        return [line]

    def end(self) -> list[bytes]:
        """The last line, if the body ended without ending it."""
        return self.feed(b"\n") if self._rest else []

    def _check(self, size: int) -> None:
        if size > self._most_bytes:
            self._rest.clear()
            raise ProviderInvalidOutput(f"The model's server sent one line of more than {self._most_bytes} bytes.")
