"""How much a template may do: steps, time, and the size of what it makes.

Every turn of a loop, call, filter and piece of output is a step. A step costs as much as the values it works on are
large, so those are weighed when they are made: a list of ten lists of ten lists takes a few lines of a template.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from time import thread_time
from typing import Final, TypeVar

from jinja2.exceptions import SecurityError

MOST_STEPS: Final = 200_000
MOST_SECONDS: Final = 0.25  # of processor time, for everybody else waits; a busy machine fails no honest template
MOST_OUTPUT: Final = 1024 * 1024  # characters, those of blocks that are set aside included
MOST_WEIGHT: Final = 16 * 1024 * 1024  # of one value: characters, and _ITEM for each member
MOST_WEIGHT_IN_ALL: Final = 4 * MOST_WEIGHT
MOST_NUMBER: Final = 1024 * 1024  # given to a filter or a method: a width, a count, an indentation
_MOST_BITS = 64 * 1024  # of a whole number
_ITEM = 64
_STEPS_BETWEEN_LOOKS = 16  # at the clock, which costs as much as a step
_SLOW_WEIGHT = 128 * 1024

_WIDTH = re.compile(r"\d+")
_WIDTH_FROM_VALUES = re.compile(r"%[^a-zA-Z%]*\*|\{[^{}]+\{")
_LEAVES = frozenset({int, float, bool, type(None)})

T = TypeVar("T")


class Effort:
    """What one run of a template has used up. Raises SecurityError when that is more than it may."""

    def __init__(self) -> None:
        self._steps = 0
        self._written = 0
        self._made = 0
        self._deadline = thread_time() + MOST_SECONDS

    def step(self) -> None:
        """To be called wherever a template can do something again and again."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise SecurityError(f"it takes more than {MOST_STEPS} steps")
        if self._steps % _STEPS_BETWEEN_LOOKS == 0:
            self._look()

    def large_step(self) -> None:
        """A step that may take long by itself."""
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
    """How large a value is with all that is in it, as often as it is in it.

    Raises SecurityError for a value that is too large, before it has looked at more than may be in one.
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
            weight = _checked(weight + 2 * _ITEM * len(item))
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, Collection):
            weight = _checked(weight + _ITEM * len(item))
            waiting += item
    return _checked(weight)


def check_product(left: object, right: object) -> None:
    """Raises SecurityError before a text or a list is repeated too often, or a number becomes too large."""
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    for repeated, times in ((left, right), (right, left)):
        if isinstance(repeated, str | list | tuple) and isinstance(times, int):
            _checked(weight_of(repeated) * times)


def check_power(base: object, exponent: object) -> None:
    """Raises SecurityError before a whole number is raised too high."""
    if isinstance(base, int) and isinstance(exponent, int):
        _check_bits(base.bit_length() * exponent)


def check_format(text: str, values: object) -> None:
    """Raises SecurityError before `text % values` or `text.format(values)` becomes too large."""
    if _WIDTH_FROM_VALUES.search(text):
        raise SecurityError("the width of a format stands among its values")
    widths = sum(int(digits[:9]) for digits in _WIDTH.findall(text))
    places = text.count("%") + text.count("{")
    _checked(widths + len(text) + places * weight_of(values))


def check_numbers(values: Iterable[object]) -> None:
    """Raises SecurityError for a number that is no sensible width, count or indentation."""
    if any(isinstance(value, int) and abs(value) > MOST_NUMBER for value in values):
        raise SecurityError(f"it asks for more than {MOST_NUMBER} of something")


def check_insertion(value: object, inserted: Iterable[object]) -> None:
    """Raises SecurityError before one of `inserted`, a text or a width, is put in at too many places of `value`."""
    places = len(value) if isinstance(value, str) else weight_of(value) // _ITEM
    for piece in inserted:
        _checked((places + 1) * (piece if isinstance(piece, int) else weight_of(piece)))


def check_replacement(text: str, old: str, new: str) -> None:
    """Raises SecurityError before a text grows too large by what is put in the place of `old`."""
    _checked(text.count(old) * len(new))


def check_slow(value: object) -> None:
    """Raises SecurityError before work that takes far longer for a value twice as large."""
    if weight_of(value) > _SLOW_WEIGHT:
        raise SecurityError("it works too long on a value")


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise SecurityError("it makes a number that is too large")


def _checked(weight: int) -> int:
    if weight > MOST_WEIGHT:
        raise SecurityError("it works on a value that is too large")
    return weight
