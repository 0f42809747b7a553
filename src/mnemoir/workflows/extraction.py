"""Parts taken out of a model's answer: the text between two tags, a member of a JSON object.

Nothing here raises for what a model wrote; an answer without the part has no part. JSON is read strictly, by the rule
of the workflow format: what `memory/model_json.py` would mend or find in prose is no object here.
"""

import json
import re
from typing import Any

_FENCED = re.compile(r"```(?:json|JSON)?(.*)```", re.DOTALL)


def text_in_tag(text: str, tag: str) -> str:
    """What stands between the first `<tag>` and the next `</tag>`, without white space around it; "" for nothing.

    The name is taken literally, with its case. A tag with attributes is another tag.
    """
    opening = f"<{tag}>"
    start = text.find(opening)
    end = text.find(f"</{tag}>", start + len(opening)) if start >= 0 else -1
    return text[start + len(opening) : end].strip() if end >= 0 else ""


def json_member(text: str, name: str) -> str | None:
    """One top-level member of the JSON object in `text`, which may stand in a code fence.

    A text as it is, a number or a truth value as Python writes it, an object or a list as JSON. "" for null and for
    a member that is not there; None where there is no JSON object.
    """
    found = _parsed(_without_fence(text.strip()))
    if not isinstance(found, dict):
        return None
    value = found.get(name)
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _without_fence(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _parsed(text: str) -> Any:  # JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or thousands of brackets
        return None
