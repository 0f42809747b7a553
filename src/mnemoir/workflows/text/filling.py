"""Filling variables into texts of nodes, from layers of values that are computed when they are first read.

The author's text is read in one pass. Filled-in values are never read again, so text of a user or a model cannot act
as a variable, a template or a brace. Filling never fails: a field that cannot be filled stays as it was written.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import structlog

from mnemoir.workflows.text.fields import Field, Member, Piece, TextPosition, TextPositions, pieces_of

_log = structlog.get_logger(__name__)
_MOST_CHARACTERS = 64 * 1024 * 1024
_LONG_NUMBER = re.compile(r"\d{5}")  # a width or precision of ten thousand or more is refused
_PLAUSIBLE = re.compile(r"[^\W\d][\w-]*")
_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"r": repr, "s": str, "a": ascii}
# exceptions of formatting plain data: a missing index, a format for another type, a number or nesting too large
_CANNOT_SHOW = (LookupError, ValueError, TypeError, OverflowError, RecursionError)
_MOST_NESTED = 16  # levels of variables in variables: more is a mistake, and Python's stack is limited
_MOST_IN_ONE_VALUE = 16 * 1024 * 1024  # of one value: nested variables can multiply to a gigabyte

T = TypeVar("T")


def fill(
    text: str,
    variables: Mapping[str, object],
    *,
    jinja: bool = False,
    most_characters: int = _MOST_CHARACTERS,
    places: TextPositions | None = None,
) -> str:
    """`text` with the values of `variables` filled in. Their positions are appended to `places`.

    Without `jinja`, `{{` and `}}` become single braces; unknown names, single braces, and fields that would exceed
    `most_characters` stay as written. With `jinja` the text is a Jinja2 template; a wrong template, or one that
    exceeds a limit, raises SettingsError.
    """
    if jinja:
        from mnemoir.workflows.text.jinja import render  # few trees have templates, and Jinja2 takes 25 ms to import

        return render(text, variables, places)
    if "{" not in text and "}" not in text:
        return text
    return _fill(pieces_of(text), variables, most_characters, places)


def names_in(text: str, *, jinja: bool = False) -> set[str]:
    """The names of variables in a text, known or not. Raises SettingsError for an invalid Jinja2 template."""
    if jinja:
        from mnemoir.workflows.text.jinja import names_in as names_in_template

        return set(names_in_template(text))
    return set(_plausible(piece.name for piece in pieces_of(text) if isinstance(piece, Field)))


def _fill(
    pieces: Sequence[Piece], variables: Mapping[str, object], most_characters: int, places: TextPositions | None
) -> str:
    filled: list[str] = []
    unknown: list[str] = []
    size = 0
    for piece in pieces:
        shown = piece if isinstance(piece, str) else _text_of_field(piece, variables, unknown)
        if isinstance(piece, Field) and size + len(shown) > most_characters:
            shown = piece.source
        filled.append(shown)
        if places is not None and isinstance(piece, Field) and shown is not piece.source:
            places.append(TextPosition(piece.name, size, size + len(shown)))
        size += len(shown)
    if names := _plausible(unknown):
        _log.debug("unknown variables", names=names)
    return "".join(filled)


def _plausible(names: Iterable[str]) -> list[str]:
    """The names that can be variables, without pieces of code or JSON between braces."""
    return [name for name in names if _PLAUSIBLE.fullmatch(name)]


def _text_of_field(field: Field, variables: Mapping[str, object], unknown: list[str]) -> str:
    try:
        value = variables[field.name]
    except KeyError:
        unknown.append(field.name)
        return field.source
    try:
        return _formatted_value(_within(value, field.path), field)
    except _CANNOT_SHOW:
        return field.source


def _within(value: object, path: Sequence[Member]) -> object:
    for member in path:
        value = _member_of(value, member)
    return value


def _member_of(value: object, member: Member) -> object:
    """A dict's value or a list's item; Python attributes are never exposed to templates."""
    key = member.key
    if isinstance(value, Mapping):
        return value[int(key)] if key not in value and key.isdecimal() else value[key]
    if isinstance(value, Sequence) and not member.is_dotted:
        return value[int(key)] if key.isdecimal() else _refuse(key)
    return _refuse(key)


def _refuse(key: str) -> object:
    raise LookupError(key)


def _formatted_value(value: object, field: Field) -> str:
    if _LONG_NUMBER.search(field.format):
        return field.source
    converted = _CONVERSIONS[field.conversion](value) if field.conversion else value
    return format(converted, field.format) if field.format else str(converted)


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

    def has_read(self, names: Iterable[str]) -> bool:
        """Whether one of these was read."""
        return any(name in self._known for name in names)

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
            return self._filled_text(name, value)
        return value

    def _filled_text(self, name: str, text: str) -> str:
        if len(self._being_filled) == _MOST_NESTED:
            return text
        self._being_filled.append(name)
        try:
            return fill(text, self, most_characters=_MOST_IN_ONE_VALUE)
        finally:
            self._being_filled.pop()
