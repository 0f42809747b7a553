"""Values as rows: each field of a dataclass is a column, and so are those of a dataclass within it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, get_type_hints

from mnemoir.core.clock import from_text, to_text
from mnemoir.storage.sql.engine import Damaged, Value
from mnemoir.storage.sql.rows import as_json, from_json

T = TypeVar("T")
_TYPES = {bytes: "bytes", bytes | None: "bytes", int: "integer", bool: "integer"}  # all others are text


class Columns(Generic[T]):
    """The columns of a dataclass: times are text, lists JSON, truths 0 or 1. `types` has the type of each by name."""

    def __init__(self, kind: Callable[..., T]) -> None:
        self._kind = kind
        self._hints: dict[str, Any] = get_type_hints(kind)
        self._inner: dict[str, Columns[Any]] = {}
        self.types: dict[str, str] = {}
        for name, hint in self._hints.items():
            if isinstance(hint, type) and is_dataclass(hint):
                self._inner[name] = Columns(hint)
                self.types |= self._inner[name].types
            else:
                self.types[name] = _TYPES.get(hint, "text")

    def value(self, row: Sequence[Any]) -> T:
        """The value of a row that begins with these columns, in their order. Raises Damaged."""
        return self._next(iter(row))

    def cells(self, value: T) -> dict[str, Value]:
        """What a query binds for a value, by the names of the columns."""
        found: dict[str, Value] = {}
        for name in self._hints:
            one = getattr(value, name)
            found |= self._inner[name].cells(one) if name in self._inner else {name: _cell(one)}
        return found

    def _next(self, row: Iterator[Any]) -> T:
        inner = self._inner
        read = {
            name: inner[name]._next(row) if name in inner else _read(next(row), hint)
            for name, hint in self._hints.items()
        }
        return self._kind(**read)


def _cell(value: Any) -> Value:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, list | tuple):
        return as_json(value)
    cell: Value = int(value) if isinstance(value, bool) else value
    return cell


def _read(cell: Any, hint: Any) -> Any:
    """What is in a column of that type; NULL is None where it may be. Raises Damaged."""
    if hint is datetime and from_text(cell) is None:
        raise Damaged(f"{cell!r} is no time")
    if cell is None:
        return None
    if hint in (datetime, datetime | None):
        at = from_text(cell)
        return None if at is None else at.astimezone(UTC)
    if hint == Sequence[str] | None:
        return from_json(cell)
    return bool(cell) if hint is bool else cell
