"""Conditions on metadata: parses the `where` of a vector store into one type.

`{}` and None match everything. Several keys, and several operators on one key, must all hold. `$in []` is never
true, `$nin []` always. `$ne` and `$nin` hold for metadata that lack the key. Numbers are compared by value, and True
is no number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Literal, cast, get_args

from mnemoir.core.errors import InvalidRequest

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar]
Where = Mapping[str, Any]  # nested lists and mappings of scalars
Operator = Literal["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"]

_OPERATORS: frozenset[str] = frozenset(get_args(Operator))
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OF_LISTS = ("$in", "$nin")


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of one key with one value, or with several for `$in` and `$nin`."""

    key: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """True when all parts are; also without parts."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True when some part is; False without parts."""

    parts: "tuple[Condition, ...]"


Condition = Compare | AllOf | AnyOf


def read_where(where: Where | None) -> Condition | None:
    """The condition; None for none. Raises InvalidRequest for an invalid one, so that none is ever ignored."""
    if where is None:
        return None
    if not isinstance(where, Mapping):
        raise _wrong(f"it must be a mapping, not {type(where).__name__}")
    return _all(tuple(_member(key, value) for key, value in where.items())) if where else None


def both(one: Where | None, other: Where | None) -> Where | None:
    """The conjunction of two conditions."""
    if not one or not other:
        return one or other or None
    return {"$and": [one, other]}


def holds(condition: Condition | None, metadata: Mapping[str, Any]) -> bool:
    """True when the metadata meet the condition."""
    match condition:
        case None:
            return True
        case Compare(key, operator, value):
            return _is_met(operator, metadata.get(key), value)
        case AllOf(parts):
            return all(holds(part, metadata) for part in parts)
        case AnyOf(parts):
            return any(holds(part, metadata) for part in parts)


def is_one_value(where: Where | None) -> bool:
    """True for a condition that is one key with its value, and for none."""
    return not where or (len(where) == 1 and not isinstance(next(iter(where.values())), Mapping | list))


def _is_met(operator: Operator, found: Any, value: Scalar | tuple[Scalar, ...]) -> bool:
    if isinstance(value, tuple) or operator in ("$eq", "$ne"):
        values = value if isinstance(value, tuple) else (value,)
        is_among = any(found == each and isinstance(found, bool) == isinstance(each, bool) for each in values)
        return is_among != (operator in ("$ne", "$nin"))
    return is_number(found) and _ORDERS[operator](found, value)


def _member(key: object, value: object) -> Condition:
    if key in ("$and", "$or"):
        parts = _parts(str(key), value)
        return _all(parts) if key == "$and" else AnyOf(parts)
    if not isinstance(key, str) or key.startswith("$"):
        raise _wrong(f"{key!r} is neither a key nor $and or $or")
    if not isinstance(value, Mapping):
        return Compare(key, "$eq", _scalar(key, value))
    if not value:
        raise _wrong(f"the key {key} has no operator")
    return _all(tuple(_comparison(key, operator, wanted) for operator, wanted in value.items()))


def _parts(operator: str, value: object) -> tuple[Condition, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise _wrong(f"{operator} needs a list of conditions")
    read = [read_where(part) for part in value]
    if operator == "$or" and None in read:  # an empty part is always true, and so the whole is
        return (AllOf(()),)
    return tuple(part for part in read if part is not None)


def _comparison(key: str, operator: object, value: object) -> Compare:
    if operator not in _OPERATORS:
        raise _wrong(f"{operator!r} is no operator; there are {', '.join(sorted(_OPERATORS))}")
    known = cast("Operator", operator)
    if known in _OF_LISTS:
        if not isinstance(value, Sequence | set | frozenset) or isinstance(value, str):
            raise _wrong(f"{operator} of {key} needs a list")
        return Compare(key, known, tuple(_scalar(key, each) for each in value))
    wanted = _scalar(key, value)
    if known in _ORDERS and not is_number(wanted):
        raise _wrong(f"{operator} of {key} needs a number")
    return Compare(key, known, wanted)


def is_number(value: object) -> bool:
    """True for values that are compared by size."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _scalar(key: str, value: object) -> Scalar:
    if not isinstance(value, str | int | float | bool) or value != value:
        raise _wrong(
            f"the key {key} is compared with {type(value).__name__}, not with a text, a number or a truth value"
        )
    return value


def _all(parts: tuple[Condition, ...]) -> Condition:
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _wrong(what: str) -> InvalidRequest:
    return InvalidRequest(f"The condition on metadata cannot be used: {what}.", field="where")
