"""JSON in what a model answered, read as tolerantly as can be without guessing.

Models put JSON between fences or into prose, wrap a list into an object, write one object a line, break quotes, leave
commas too many, or stop in the middle. What is whole is read or mended; of what breaks off, nothing is made up. Work
is linear in the length of the answer, but for mending, which takes up to the square of what it may get. Thinking is
not looked for here (`core/thinking.py`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import json_repair
import orjson

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_JSON_FENCE = re.compile(r"```json\b(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BARE_FENCE = re.compile(r"```[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)  # a string to its end, or the text's
_STEPS = {"{": 1, "}": -1}
_MENDABLE_CHARACTERS = 200_000  # of one value: no honest answer is longer
_MENDABLE_IN_ITEMS = 10_000  # of all items: there may be many, and so many characters take a second
_MENDABLE_DEPTH = 32
_TORN_WRAPPERS = 3  # an answer that stops inside a wrapper is looked into so deep


def read_value(answer: str) -> Any:
    """The JSON value of an answer that is to hold one object; None when there is no whole one in it."""
    fence = _FENCE.search(answer)
    body = (fence[1] if fence else answer).strip()
    value = _strict(body)
    start, end = body.find("{"), body.rfind("}") + 1
    if value is not None or start < 0:
        return value
    closing = _end(body, start)
    if closing is not None and (value := _strict(body[start:closing])) is not None:
        return value
    whole, rest = body[start:end], body[end:]
    is_whole = _is_balanced(whole) and '"' not in rest and "[" not in rest
    return _mended(whole) if is_whole and len(whole) <= _MENDABLE_CHARACTERS else None


def read_items(answer: str, keys: Collection[str]) -> tuple[list[Any] | None, list[str]]:
    """The members of the list that an answer is to hold, or all whole objects in it, and what is wrong with the rest.

    None when there is neither a list nor an object. An object with one of `keys` is an item itself; of any other with
    a single list or object in it, that is read. Faults quote nothing of the answer.
    """
    places = _places(answer)
    for place in places:
        items = _items_of(_strict(place.text), keys) if place.is_all else None
        if items is not None:
            return items, []
    return _scattered(places[0].rest, keys) if places else (None, [])


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Where JSON may be: `text` ends where it should end, `rest` with the answer.

    `is_all` is True only if no object begins behind it and no list in front: else the rest is looked through too.
    """

    text: str
    rest: str
    is_all: bool


def _places(text: str) -> list[_Candidate]:
    """Where JSON may be, the first to start in front: in a fence, between braces, between brackets."""
    starts: dict[int, _Candidate] = {}
    fence = _JSON_FENCE.search(text) or _BARE_FENCE.search(text)
    if fence:
        is_all = not _JSON_FENCE.search(text, fence.end())
        starts[fence.start()] = _Candidate(fence[1].strip(), fence[1] if is_all else text[fence.start() :], is_all)
    for opening, closing in ("{}", "[]"):
        start, end = text.find(opening), text.rfind(closing) + 1
        if start >= 0:
            is_all = "{" not in text[end:] and not text[:start].rstrip().endswith("[")
            starts[start] = _Candidate(text[start:end], text[start:], is_all)
    return [starts[start] for start in sorted(starts)]


def _items_of(value: Any, keys: Collection[str]) -> list[Any] | None:
    """A list, unless nothing in it is an object; what an object wraps, or the object itself."""
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) for item in value) else None
    if not isinstance(value, dict):
        return None
    wrapped = [member for member in value.values() if isinstance(member, list | dict)]
    if len(wrapped) == 1 and not any(key in value for key in keys):
        return wrapped[0] if isinstance(wrapped[0], list) else [wrapped[0]]
    return [value]


def _scattered(text: str, keys: Collection[str]) -> tuple[list[Any] | None, list[str]]:
    """The items of all objects in a text that close, and faults for the others."""
    objects, torn = _objects(text)
    items: list[Any] = []
    faults: list[str] = []
    mendable = _MENDABLE_IN_ITEMS
    for found in objects:
        value = _strict(found)
        if value is None and len(found) <= mendable:
            mendable -= len(found)
            value = _mended(found)
        read = _items_of(value, keys)
        if read is None:
            faults.append("One object in it is not valid JSON.")
        else:
            items += read
    if torn or text.count("[") > text.count("]"):
        faults.append("It breaks off before its end.")
    if not objects and _is_balanced(text) and len(text) <= mendable:
        return _items_of(_mended(text), keys), faults
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


def _strict(text: str) -> Any:
    """None for what is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _is_balanced(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("[") == text.count("]")


def _mended(text: str) -> Any:
    """What json-repair makes of it; None for what is nested too deep for it, or beyond it."""
    if max(text.count("{"), text.count("[")) > _MENDABLE_DEPTH and _depth(text) > _MENDABLE_DEPTH:
        return None
    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    return deepest
