"""Values as rows: each field of a dataclass is a column, and so are those of a dataclass within it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, get_type_hints

from mnemoir.core.clock import from_text, to_text
from mnemoir.storage.sql.engine import Damaged, Value
from mnemoir.storage.sql.rows import as_json, from_json

T = TypeVar("T")


class Columns(Generic[T]):
    """The columns of a dataclass: times are text, lists JSON, truths 0 or 1. `types` has the type of each by name."""

    def __init__(self, kind: Callable[..., T]) -> None:
        self._kind = kind
        self._inner: dict[str, Columns[Any]] = {}
        self._readers: dict[str, Callable[[Iterator[Any]], Any]] = {}
        self.types: dict[str, str] = {}
        for name, hint in get_type_hints(kind).items():
            if isinstance(hint, type) and is_dataclass(hint):
                self._inner[name] = inner = Columns(hint)
                self._readers[name] = inner._next
                self.types |= inner.types
            else:
                self._readers[name] = _READERS.get(hint, next)
                self.types[name] = _TYPES.get(hint, "text")

    def value(self, row: Sequence[Any]) -> T:
        """The value of a row that begins with these columns, in their order. Raises Damaged."""
        return self._next(iter(row))

    def cells(self, value: T) -> dict[str, Value]:
        """What a query binds for a value, by the names of the columns."""
        found: dict[str, Value] = {}
        for name in self._readers:
            one = getattr(value, name)
            found |= self._inner[name].cells(one) if name in self._inner else {name: _cell(one)}
        return found

    def _next(self, row: Iterator[Any]) -> T:
        return self._kind(**{name: read(row) for name, read in self._readers.items()})


def _cell(value: Any) -> Value:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, list | tuple):
        return as_json(value)
    cell: Value = int(value) if isinstance(value, bool) else value
    return cell


def _time(row: Iterator[Any]) -> datetime:
    at = from_text(text := next(row))
    if at is None:
        raise Damaged(f"{text!r} is no time")
    return at


def _time_or_none(row: Iterator[Any]) -> datetime | None:
    return from_text(next(row))


def _list_or_none(row: Iterator[Any]) -> Any:
    return None if (text := next(row)) is None else from_json(text)


def _truth(row: Iterator[Any]) -> bool:
    return bool(next(row))


_READERS: Mapping[Any, Callable[[Iterator[Any]], Any]] = {  # of the other types a cell is the value
    datetime: _time,
    datetime | None: _time_or_none,
    Sequence[str] | None: _list_or_none,
    bool: _truth,
}
_TYPES = {bytes: "bytes", bytes | None: "bytes", int: "integer", bool: "integer"}
