"""Values whose type is known to the test: each function checks it, for the reader and for mypy."""

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value; fails when it is None."""
    assert value is not None, "a value is expected, there is none"
    return value


def instance(kind: type[T], value: object) -> T:
    """The value; fails when it is no instance of `kind`."""
    assert isinstance(value, kind), f"{kind.__name__} expected, got {type(value).__name__}"
    return value
