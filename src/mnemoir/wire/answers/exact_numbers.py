"""Whole numbers beyond 64 bits in the arguments of tool calls, which arrive as they were sent.

The decoder makes floats of them: `18446744073709551616` would become `1.8446744073709552e+19`, another value and no
whole number any more. Where arguments are an object that holds such a float, the data is decoded a second time, and
these numbers are kept as they are written.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.wire.members import holds_number_beyond_64_bits

ARGUMENTS = ("arguments", "input")
_LEAST, _MOST = -(2**63), 2**64 - 1  # what the decoder and the encoder know as a whole number
_LONGEST = 4_096  # digits


class RoundedNumber(ProviderInvalidOutput):
    """A call whose arguments hold a number that the decoder has changed."""


class _Pair(NamedTuple):
    """A value as the decoder gave it, and the same with its exact numbers."""

    rounded: Any  # JSON
    exact: Any  # JSON


def check_numbers(arguments: object) -> None:
    """Raise RoundedNumber for arguments that are an object with a number that the decoder has changed."""
    if isinstance(arguments, dict) and holds_number_beyond_64_bits(arguments):
        raise RoundedNumber(
            "The model's server sent an answer with a tool call whose arguments hold a number beyond 64 bits."
        )


def exact_arguments(body: dict[str, Any], data: bytes) -> dict[str, Any]:
    """`body`, which was decoded from `data`, changed so that the arguments of its calls hold their exact numbers."""
    for rounded, exact in _objects(body, _exactly(data)):
        for name in ARGUMENTS:
            if isinstance(rounded.get(name), dict) and isinstance(exact.get(name), dict):
                rounded[name] = exact[name]
    return body


def exact_object(arguments: str, rounded: dict[str, Any]) -> dict[str, Any]:
    """The object in the text of arguments, which was decoded as `rounded`, with its exact numbers."""
    if not holds_number_beyond_64_bits(rounded):
        return rounded
    exact = _exactly(arguments.encode())
    return exact if isinstance(exact, dict) else rounded


def _objects(rounded: object, exact: object) -> Iterator[_Pair]:
    """All objects of two equal values; walks without recursion."""
    waiting = [_Pair(rounded, exact)]
    while waiting:
        pair = waiting.pop()
        if isinstance(pair.rounded, dict) and isinstance(pair.exact, Mapping):
            yield pair
            waiting += [_Pair(value, pair.exact.get(name)) for name, value in pair.rounded.items()]
        elif isinstance(pair.rounded, list) and isinstance(pair.exact, list):
            waiting += map(_Pair, pair.rounded, pair.exact)


def _exactly(data: bytes) -> Any:
    """JSON whose whole numbers beyond 64 bits are kept as they are written; None where it cannot be read so."""
    try:
        return json.loads(data, parse_int=_integer, parse_float=_float)
    except (ValueError, RecursionError):
        return None


def _float(text: str) -> object:
    number = float(text)
    return orjson.Fragment(text.encode()) if holds_number_beyond_64_bits(number) else number


def _integer(text: str) -> object:
    if len(text) > _LONGEST:
        raise ValueError(text)
    number = int(text)
    return number if _LEAST <= number <= _MOST else orjson.Fragment(text.encode())
