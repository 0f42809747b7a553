"""Incremental reader of JSON lines: network reads in, complete lines out, without line ends or blank lines."""

from mnemoir.core.errors import ProviderInvalidOutput

MOST_LINE_BYTES = 16 * 1024 * 1024


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
