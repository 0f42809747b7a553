"""Reads records from a model's answer: the objects that are records, and the faults of the rest.

Faults name the item and the key but quote no text, so that the model can be asked again.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemoir.memory.model_json import read_items

KEYS = ("title", "summary", "entities", "key_phrases")

_UNFIT = re.compile("[\0\ud800-\udfff]")  # text files and databases refuse these
_MOST_DEPTH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAnswer:
    """The items that have all KEYS, in order, and the faults of the rest; an empty list is a valid answer."""

    records: Sequence[Mapping[str, Any]] = ()  # JSON objects, open by nature
    faults: Sequence[str] = ()


def read_records(answer: str) -> RecordAnswer:
    """The records of an answer without thinking, as `Written` has it."""
    items, faults = read_items(answer, KEYS)
    if items is None:
        return RecordAnswer(faults=faults or ["It holds no JSON list or object."])
    records: list[Mapping[str, Any]] = []
    for number, item in enumerate(items, 1):
        fault = _fault(item)
        if fault:
            faults.append(f"Item {number} {fault}.")
        else:
            records.append(_fit(item))
    return RecordAnswer(records=records, faults=faults)


def _fault(item: Any) -> str:
    """The reason why an item is no record; "" when it is one."""
    if not isinstance(item, dict):
        return "is not an object"
    missing = [key for key in KEYS if key not in item]
    if missing:
        return f"lacks {', '.join(missing)}"
    if not isinstance(item["summary"], str) or not item["summary"].strip():
        return "has no text as its summary"
    return "is nested too deep" if _is_deeper(item, _MOST_DEPTH) else ""


def _is_deeper(value: Any, depth: int) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < 0 or any(_is_deeper(member, depth - 1) for member in members)


def _fit(value: Any) -> Any:
    """The value without parts that cannot be stored: lone surrogates, NUL, NaN and infinities."""
    if isinstance(value, str):
        return _UNFIT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_fit(str(key)): _fit(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_fit(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
