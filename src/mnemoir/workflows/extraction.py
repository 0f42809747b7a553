"""Extraction of parts of a model's answer: the text between two tags, and a member of a JSON object.

No answer raises an exception. JSON is parsed strictly, as the workflow format demands: unlike in
`memory/model_json.py`, broken JSON is not repaired and no object is searched for in prose.
"""

import json
import re
from typing import Any

_FENCED = re.compile(r"```(?:json|JSON)?(.*)```", re.DOTALL)


def text_in_tag(text: str, tag: str) -> str:
    """The text between the first `<tag>` and the next `</tag>`, without surrounding white space; "" if not found.

    The name is matched literally, including its case. A tag with attributes does not match.
    """
    opening = f"<{tag}>"
    start = text.find(opening)
    end = text.find(f"</{tag}>", start + len(opening)) if start >= 0 else -1
    return text[start + len(opening) : end].strip() if end >= 0 else ""


def json_member(text: str, name: str) -> str | None:
    """One top-level member of the JSON object in `text`, which may be in a code fence.

    A text is returned as it is, a number or a boolean in Python's notation, an object or a list as JSON. "" for null
    and for a missing member; None if `text` is no JSON object.
    """
    found = _json_value(_without_fence(text.strip()))
    if not isinstance(found, dict):
        return None
    value = found.get(name)
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _without_fence(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _json_value(text: str) -> Any:  # JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # invalid JSON, a number with thousands of digits, or thousands of brackets
        return None
