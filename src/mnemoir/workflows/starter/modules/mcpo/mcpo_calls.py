"""Reading of the tool calls in a model's answer."""

import json
from collections.abc import Iterator
from typing import Any, TypedDict

from json_repair import repair_json

_MOST_TRIES = 200  # positions tried as the beginning of an object
_MOST_CHARACTERS = 200_000


class ToolCall(TypedDict):
    """One tool call: the tool's name, and its parameters by name."""

    name: str
    parameters: dict[str, Any]


def read_calls(text: str) -> list[ToolCall]:
    """The calls in the first object with `tool_calls`, also if its JSON is broken; [] without one."""
    text = text.rpartition("</think>")[2][:_MOST_CHARACTERS]
    for found in (*_objects(text), *_repaired_objects(text)):
        if isinstance(found.get("tool_calls"), list):
            return [call for raw in found["tool_calls"] if (call := _call(raw)) is not None]
    return []


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """All outermost JSON objects in the text."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MOST_TRIES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield found


def _repaired_objects(text: str) -> Iterator[dict[str, Any]]:
    """The probable object of a broken text, repaired from its probable beginning."""
    if "tool_calls" not in text or "{" not in text:
        return
    begin = text.rfind("{", 0, text.index("tool_calls"))
    try:
        found = repair_json(text[max(begin, 0) :], return_objects=True)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        yield found


def _call(raw: Any) -> ToolCall | None:
    """The tool call; None without a tool's name. Some models say `arguments`, and some give them as a text."""
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        return None
    given = raw.get("parameters", raw.get("arguments"))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    return {"name": raw["name"].strip(), "parameters": given if isinstance(given, dict) else {}}
