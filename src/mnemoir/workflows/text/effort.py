"""Limits of a template run: steps, time, and the size of the values it creates.

Every loop iteration, call, filter and piece of output is a step. The cost of a step grows with the size of its
values, so values are measured when they are created: a few lines of a template can build a list of lists of lists.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from time import thread_time
from typing import Final, TypeVar

from jinja2.exceptions import SecurityError

MOST_STEPS: Final = 200_000
MOST_SECONDS: Final = 0.25  # processor time, since other requests wait; a busy machine fails no ordinary template
MOST_OUTPUT: Final = 1024 * 1024  # characters, including those of captured blocks
MOST_WEIGHT: Final = 16 * 1024 * 1024  # of one value: its characters, and _ITEM for each member
MOST_WEIGHT_IN_ALL: Final = 4 * MOST_WEIGHT
MOST_NUMBER: Final = 1024 * 1024  # as an argument of a filter or a method: a width, a count, an indentation
_MOST_BITS = 64 * 1024  # of an integer
_ITEM = 64
_STEPS_BETWEEN_LOOKS = 16  # reading the clock costs as much as a step
_SLOW_WEIGHT = 128 * 1024

_WIDTH = re.compile(r"\d+")
_WIDTH_FROM_VALUES = re.compile(r"%[^a-zA-Z%]*\*|\{[^{}]+\{")
_LEAVES = frozenset({int, float, bool, type(None)})

T = TypeVar("T")


class Effort:
    """The effort of one template run. All methods raise SecurityError when a limit is exceeded."""

    def __init__(self) -> None:
        self._steps = 0
        self._written = 0
        self._made = 0
        self._deadline = thread_time() + MOST_SECONDS

    def step(self) -> None:
        """Count a step; called for everything that a template can repeat."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise SecurityError(f"it takes more than {MOST_STEPS} steps")
        if self._steps % _STEPS_BETWEEN_LOOKS == 0:
            self._look()

    def large_step(self) -> None:
        """Count a step that may take long by itself, and check the time."""
        self.step()
        self._look()

    def write(self, text: str) -> str:
        """`text`, counted as output."""
        self.step()
        self._written += len(text)
        if self._written > MOST_OUTPUT:
            raise SecurityError(f"it writes more than {MOST_OUTPUT} characters")
        return text

    def make(self, value: T) -> T:
        """`value`, counted as made by the template."""
        if isinstance(value, int):
            _check_bits(value.bit_length())
        elif isinstance(value, str | list | tuple | dict | set | frozenset):
            self._made += weight_of(value)
            if self._made > MOST_WEIGHT_IN_ALL:
                raise SecurityError("it makes too much")
        return value

    def _look(self) -> None:
        if thread_time() > self._deadline:
            raise SecurityError(f"it takes more than {MOST_SECONDS:g} s")


def weight_of(value: object) -> int:
    """The size of a value with all its members, counted as often as they occur.

    Raises SecurityError for a value that is too large, without visiting more members than a value may have.
    """
    weight = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) in _LEAVES:
            continue
        if isinstance(item, str | bytes):
            weight += len(item)
        elif isinstance(item, Mapping):
            weight = _check_weight(weight + 2 * _ITEM * len(item))
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, Collection):
            weight = _check_weight(weight + _ITEM * len(item))
            waiting += item
    return _check_weight(weight)


def check_product(left: object, right: object) -> None:
    """Raise SecurityError for a product that would be too large, of a text or list and a number or of two numbers."""
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    for repeated, times in ((left, right), (right, left)):
        if isinstance(repeated, str | list | tuple) and isinstance(times, int):
            _check_weight(weight_of(repeated) * times)


def check_power(base: object, exponent: object) -> None:
    """Raise SecurityError for a power of integers that would be too large."""
    if isinstance(base, int) and isinstance(exponent, int):
        _check_bits(base.bit_length() * exponent)


def check_format(text: str, values: object) -> None:
    """Raise SecurityError if `text % values` or `text.format(values)` would be too large."""
    if _WIDTH_FROM_VALUES.search(text):
        raise SecurityError("the width of a format stands among its values")
    widths = sum(int(digits[:9]) for digits in _WIDTH.findall(text))
    places = text.count("%") + text.count("{")
    _check_weight(widths + len(text) + places * weight_of(values))


def check_numbers(values: Iterable[object]) -> None:
    """Raise SecurityError for an integer too large for a width, a count or an indentation."""
    if any(isinstance(value, int) and abs(value) > MOST_NUMBER for value in values):
        raise SecurityError(f"it asks for more than {MOST_NUMBER} of something")


def check_insertion(value: object, inserted: Iterable[object]) -> None:
    """Raise SecurityError if one of `inserted`, a text or a width, put in everywhere makes `value` too large."""
    places = len(value) if isinstance(value, str) else weight_of(value) // _ITEM
    for piece in inserted:
        _check_weight((places + 1) * (piece if isinstance(piece, int) else weight_of(piece)))


def check_replacement(text: str, old: str, new: str) -> None:
    """Raise SecurityError if replacing `old` by `new` would make the text too large."""
    _check_weight(text.count(old) * len(new))


def check_slow(value: object) -> None:
    """Raise SecurityError for a value too large for an operation that takes more than linear time."""
    if weight_of(value) > _SLOW_WEIGHT:
        raise SecurityError("it works too long on a value")


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise SecurityError("it makes a number that is too large")


def _check_weight(weight: int) -> int:
    """Return the weight. Raises SecurityError for one that is too large."""
    if weight > MOST_WEIGHT:
        raise SecurityError("it works on a value that is too large")
    return weight
