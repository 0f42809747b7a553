"""Lazy mappings: several layers of named values, computed when they are first read and then cached."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from mnemoir.workflows.text.filling import fill

_MOST_NESTED = 16  # levels of variables in variables: more is a mistake, and Python's stack is limited
_MOST_CHARACTERS = 16 * 1024 * 1024  # of one value: nested variables can multiply to a gigabyte

T = TypeVar("T")


class Computed(Mapping[str, object], Generic[T]):
    """A mapping of functions of one subject; a value is computed each time it is read."""

    def __init__(self, table: Mapping[str, Callable[[T], object]], subject: T) -> None:
        self._table = table
        self._subject = subject

    def __getitem__(self, name: str) -> object:
        return self._table[name](self._subject)

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class Layers(Mapping[str, object]):
    """Several mappings as one: the first with a name gives its value, which is then cached.

    Texts in the `authored` layers may name other variables; they are filled once, when they are first read. A
    variable that is itself being filled stays in the text as written, so that a circle ends.
    """

    def __init__(self, layers: Sequence[Mapping[str, object]], authored: Sequence[Mapping[str, object]] = ()) -> None:
        self._layers = layers
        self._authored = authored
        self._known: dict[str, object] = {}
        self._being_filled: list[str] = []

    def __getitem__(self, name: str) -> object:
        if name not in self._known:
            self._known[name] = self._work_out(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return any(name in layer for layer in self._layers)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for layer in self._layers for name in layer))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _work_out(self, name: str) -> object:
        layer = next((layer for layer in self._layers if name in layer), None)
        if layer is None or name in self._being_filled:
            raise KeyError(name)
        value = layer[name]
        if isinstance(value, str) and any(layer is authored for authored in self._authored):
            return self._filled(name, value)
        return value

    def _filled(self, name: str, text: str) -> str:
        if len(self._being_filled) == _MOST_NESTED:
            return text
        self._being_filled.append(name)
        try:
            return fill(text, self, most_characters=_MOST_CHARACTERS)
        finally:
            self._being_filled.pop()
