"""Reads JSON from model answers, as tolerantly as possible without guessing.

Models put JSON between fences or into prose, wrap a list into an object, write one object a line, break quotes, leave
commas too many, or stop in the middle. Complete values are read or repaired; nothing is made up for truncated ones.
Time is linear in the length of the answer, except for repair, which is quadratic in its bounded input. Values outside
of the model's thinking are read in groups: those with prose between them are several answers, of which the last one
that says something counts.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnemoir.core import first_use

if TYPE_CHECKING:
    import json_repair
else:
    json_repair = first_use.module("json_repair")

import orjson

_TAGS = r"(?:seed:)?think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad"
_THOUGHT = re.compile(rf"</(?:{_TAGS})\s*>", re.IGNORECASE)
_BEGIN = re.compile(  # of thinking, or of a value; other braces and brackets are prose, such as "[1]" and "{name}"
    rf"<(?P<thinking>{_TAGS})\s*>|(?P<closing></(?:{_TAGS})\s*>)"
    r"|\{(?=\s*(?:[\"'“}/]|\w{1,40}\s*:))|\[(?=\s*[\"'“{\[\]])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:[\s,;]|```[\w-]*)*")  # two values of one answer
_FENCE = re.compile(r"\s*```[\w-]*\s*(.*?)\s*(?:```)?\s*", re.DOTALL)
_JSON_FENCE = re.compile(r"```json\b(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BARE_FENCE = re.compile(r"```[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'  # to its end, or the text's
_MARKS = {"{": re.compile(rf"{_STRING}|[{{}}]", re.DOTALL), "[": re.compile(rf"{_STRING}|[\[\]]", re.DOTALL)}
_STEPS = {"{": 1, "}": -1, "[": 1, "]": -1}
_MENDABLE_CHARACTERS = 200_000  # of one value: no honest answer is longer
_MENDABLE_IN_ITEMS = 10_000  # of all items together: repairing so many characters takes a second
_MENDABLE_DEPTH = 32
_TORN_WRAPPERS = 3  # how deep a truncated wrapper is searched


def read_groups(answer: str) -> Iterator[list[Any]]:
    """The objects and lists of an answer, in groups; the last group first, each in order.

    Nothing but white space, commas and fence marks stands between the values of a group. What is in the model's
    thinking is left out. A tag in a text of a value is data. Broken values are repaired. An answer of one JSON text
    is a group of its own. There is none where thinking or a value has no end: what was meant is still missing.
    """
    values, rest_at = _spoken_values(answer)
    tail = None if rest_at is None else _whole(answer[rest_at:])
    if rest_at is not None and tail is None:
        return
    groups: list[list[Any]] = []
    end = None
    for start, stop in values:
        if end is None or not _BETWEEN.fullmatch(answer, end, start):
            groups.append([])
        groups[-1].append(_value_of(answer[start:stop]))
        end = stop
    if rest_at is not None:
        groups.append([tail])
    yield from reversed(groups or _text_alone(answer))


def _spoken_values(answer: str) -> tuple[list[tuple[int, int]], int | None]:
    """The places of closed values outside of thinking, and of the rest of the answer from one that does not close.

    The rest begins at the end of the answer where thinking has no end.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while mark := _BEGIN.search(answer, at):
        if mark["closing"]:  # what stood before it was thinking
            found, at = [], mark.end()
        elif mark["thinking"]:
            closing = re.compile(rf"</{mark['thinking']}\s*>", re.IGNORECASE).search(answer, mark.end())
            if closing is None:
                return [], len(answer)
            at = closing.end()
        elif (end := _end(answer, mark.start())) is not None:
            found.append((mark.start(), end))
            at = end
        elif closing := _THOUGHT.search(answer, mark.end()):
            found, at = [], closing.end()
        else:
            return found, mark.start()
    return found, None


def _text_alone(answer: str) -> list[list[Any]]:
    """The group of an answer that is one JSON text, with or without a fence; none for any other answer."""
    spoken = answer[max((tag.end() for tag in _THOUGHT.finditer(answer)), default=0) :]
    fenced = _FENCE.fullmatch(spoken)
    value = _strict(fenced[1] if fenced else spoken.strip())
    return [[value]] if isinstance(value, str) else []


def _value_of(text: str) -> Any:
    """The value, repaired if need be; None when it cannot be."""
    value = _strict(text)
    return _repaired_value(text) if value is None and len(text) <= _MENDABLE_CHARACTERS else value


def _whole(text: str) -> Any:
    """The value with broken quotes that begins a text; None when it is cut off."""
    end = max(text.rfind("}"), text.rfind("]")) + 1
    whole, rest = text[:end], text[end:]
    is_whole = _is_balanced(whole) and '"' not in rest and "[" not in rest
    return _repaired_value(whole) if is_whole and 0 < len(whole) <= _MENDABLE_CHARACTERS else None


def read_items(answer: str, keys: Collection[str]) -> tuple[list[Any] | None, list[str]]:
    """The items of the list in an answer, or all complete objects in it, and the faults of the rest.

    None when there is neither a list nor an object. An object with one of `keys` is an item itself; any other
    object that wraps a single list or object is unwrapped. Faults quote nothing of the answer.
    """
    places = _places(answer)
    for place in places:
        items = _items_of(_strict(place.text), keys) if place.is_all else None
        if items is not None:
            return items, []
    return _items_of_objects(places[0].rest, keys) if places else (None, [])


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A possible JSON value: `text` ends where it should end, `rest` at the end of the answer.

    `is_all` is True only if no object begins after it and no list before it: else the rest is searched, too.
    """

    text: str
    rest: str
    is_all: bool


def _places(text: str) -> list[_Candidate]:
    """Possible JSON values, ordered by start: in a fence, between braces, between brackets."""
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
    """The items of a value: a list with any object in it, the list in a wrapper, or the object itself."""
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) for item in value) else None
    if not isinstance(value, dict):
        return None
    wrapped = [member for member in value.values() if isinstance(member, list | dict)]
    if len(wrapped) == 1 and not any(key in value for key in keys):
        return wrapped[0] if isinstance(wrapped[0], list) else [wrapped[0]]
    return [value]


def _items_of_objects(text: str, keys: Collection[str]) -> tuple[list[Any] | None, list[str]]:
    """The items of all closed objects in a text, and faults for the others."""
    objects, torn = _objects(text)
    items: list[Any] = []
    faults: list[str] = []
    mendable = _MENDABLE_IN_ITEMS
    for found in objects:
        value = _strict(found)
        if value is None and len(found) <= mendable:
            mendable -= len(found)
            value = _repaired_value(found)
        read = _items_of(value, keys)
        if read is None:
            faults.append("One object in it is not valid JSON.")
        else:
            items += read
    if torn or text.count("[") > text.count("]"):
        faults.append("It breaks off before its end.")
    if not objects and _is_balanced(text) and len(text) <= mendable:
        return _items_of(_repaired_value(text), keys), faults
    return (items or None), faults


def _objects(text: str) -> tuple[list[str], bool]:
    """The outermost closed objects, and True if one is unclosed: then the closed ones inside it count."""
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
    """The index after the brace or bracket that closes the one at `begin`; None when none does."""
    depth = 0
    for mark in _MARKS[text[begin]].finditer(text, begin):
        depth += _STEPS.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return None


def _strict(text: str) -> Any:
    """The value of strict JSON; None for anything else."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _is_balanced(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("[") == text.count("]")


def _repaired_value(text: str) -> Any:
    """The value after json-repair; None when it is nested too deep or cannot be repaired."""
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
