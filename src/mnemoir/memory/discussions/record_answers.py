"""What a model answered when it was asked for records, read as tolerantly as can be without guessing.

Models put JSON between fences or into prose, wrap the list into an object, write one object a line, leave commas too
many, or stop in the middle. What is whole is read; what is not is told as a fault, so that the model can be asked
again. Faults tell which item and which key, never what was said. Work is linear in the length of the answer.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair
import orjson

KEYS = ("title", "summary", "entities", "key_phrases")

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_JSON_FENCE = re.compile(r"```json\b(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BARE_FENCE = re.compile(r"```[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)  # a string to its end, or the text's
_STEPS = {"{": 1, "}": -1}
_UNFIT = re.compile("[\0\ud800-\udfff]")  # no file or database of text takes these
_MENDABLE_CHARACTERS = 10_000  # of an answer, all in all: mending may take the square of it, a second for so many
_MOST_OPENINGS = 200  # of what is mended, for depth costs
_MOST_DEPTH = 32
_TORN_WRAPPERS = 3  # an answer that stops inside a wrapper is looked into so deep


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAnswer:
    """The items that have all KEYS, in order, and what is wrong with the rest; an empty list is an answer too."""

    records: Sequence[Mapping[str, Any]] = ()  # JSON objects, open by nature
    faults: Sequence[str] = ()


def read_records(answer: str) -> RecordAnswer:
    """What an answer holds."""
    text = _THOUGHT.sub("", answer, count=1)
    items, faults = _items(text)
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where JSON may be: `text` ends where it should end, `rest` wherever the answer does.

    It is all there is only if no object begins behind it and no list in front: else the rest is looked through too.
    """

    text: str
    rest: str
    is_all: bool


def _items(text: str) -> tuple[list[Any] | None, list[str]]:
    """The items of the first part of the text that is JSON, else all whole objects in it; None for none."""
    places = _places(text)
    for place in places:
        items = _items_of(_strict(place.text)) if place.is_all else None
        if items is not None:
            return items, []
    return _scattered(places[0].rest) if places else (None, [])


def _places(text: str) -> list[_Place]:
    """Where JSON may be, the first to start in front: in a fence, between braces, between brackets."""
    starts: dict[int, _Place] = {}
    fence = _JSON_FENCE.search(text) or _BARE_FENCE.search(text)
    if fence:
        is_all = not _JSON_FENCE.search(text, fence.end())
        starts[fence.start()] = _Place(fence[1].strip(), fence[1] if is_all else text[fence.start() :], is_all)
    for opening, closing in ("{}", "[]"):
        start, end = text.find(opening), text.rfind(closing) + 1
        if start >= 0:
            is_all = "{" not in text[end:] and not text[:start].rstrip().endswith("[")
            starts[start] = _Place(text[start:end], text[start:], is_all)
    return [starts[start] for start in sorted(starts)]


def _strict(text: str) -> Any:
    """None for what is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _items_of(value: Any) -> list[Any] | None:
    """A list, unless nothing in it is an object; what an object wraps, or the object itself."""
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) for item in value) else None
    if not isinstance(value, dict):
        return None
    wrapped = [member for member in value.values() if isinstance(member, list | dict)]
    if len(wrapped) == 1 and not any(key in value for key in KEYS):
        return wrapped[0] if isinstance(wrapped[0], list) else [wrapped[0]]
    return [value]


def _scattered(text: str) -> tuple[list[Any] | None, list[str]]:
    """The items of all objects in a text that close, and faults for the others."""
    objects, torn = _objects(text)
    items: list[Any] = []
    faults: list[str] = []
    mendable = _MENDABLE_CHARACTERS
    for found in objects:
        value = _strict(found)
        if value is None and len(found) <= mendable:
            mendable -= len(found)
            value = _mended(found)
        read = _items_of(value)
        if read is None:
            faults.append("One object in it is not valid JSON.")
        else:
            items += read
    if torn or text.count("[") > text.count("]"):
        faults.append("It breaks off before its end.")
    if not objects and _is_balanced(text) and len(text) <= mendable:
        return _items_of(_mended(text)), faults
    return (items or None), faults


def _objects(text: str) -> tuple[list[str], bool]:
    """The outermost objects that close, and whether there is one that does not: then those inside it."""
    found: list[str] = []
    torn = 0
    begin = text.find("{")
    while begin >= 0 and torn <= _TORN_WRAPPERS:
        end = _end(text, begin)
        if end is None:
            torn, end = torn + 1, begin + 1
        else:
            found.append(text[begin:end])
        begin = text.find("{", end)
    return found, torn > 0


def _end(text: str, begin: int) -> int | None:
    """Behind the brace that closes the one at `begin`."""
    depth = 0
    for mark in _MARKS.finditer(text, begin):
        depth += _STEPS.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return None


def _is_balanced(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("[") == text.count("]")


def _mended(text: str) -> Any:
    """What json-repair makes of it; None for what is nested too deep for it, or beyond it."""
    if max(text.count("{"), text.count("[")) > _MOST_OPENINGS:
        return None
    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _fault(item: Any) -> str:
    """What keeps an item from being a record, "" when nothing does."""
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
    """The same without what cannot be stored: halves of characters, NUL, numbers that are none."""
    if isinstance(value, str):
        return _UNFIT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_fit(str(key)): _fit(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_fit(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
