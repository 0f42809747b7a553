"""Reads the facts in a model's answer, in every shape that models give them.

The prompt asks for `{"facts": ["…"]}`. Models answer with a bare list, with objects in place of texts, with facts by
category, with one text, or with the marks of a list in front of each. A fact is never the bare value of an unknown
key: "pizza" says nothing, "likes: pizza" does. A text that says that there is no fact is none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_TEXTS = ("fact", "text", "memory", "content", "statement", "sentence", "description", "summary")
_LISTS = ("facts", "memories", "memory", "results", "items", "data", "extracted_facts", "new_facts", "user_facts")
_KEYS = ("key", "name", "attribute", "predicate", "relation", "category", "topic", "type")
_VALUES = ("value", "object")
_ABOUT = {"category", "categories", "type", "topic", "tags", "confidence", "importance", "score", "id", "source"} | {
    "timestamp", "reason", "event", "language", "subject"
}  # fmt: skip  # they tell of a fact and are none
_MARK = re.compile(r"\s*(?:[-*•‣◦–—+·]\s+)+(?:\[[ xX]?\]\s+)?")
_NUMBER = re.compile(r"\s*\(?(\d{1,3})[.)]\s+")
_NONE = re.compile(
    r"\W*(?:none|null|nil|n/?a|nothing|empty|keine|aucun|ninguno|nessuno|nenhum|geen|"
    r"no (?:(?:new|relevant|personal|lasting) )*(?:facts?|information|memor(?:y|ies)|statements?)"
    r"(?: (?:found|given|present|available|here|to (?:keep|remember|extract|store)))?)\W*",
    re.IGNORECASE,
)


def read_facts(values: Sequence[Any]) -> list[str] | None:
    """The facts in the values of an answer, in order; [] when it has none, None when nothing in it can be read."""
    lists = [found for value in values if (found := _facts_in(value)) is not None]
    return [fact for found in lists for fact in found] if lists else None


def _facts_in(value: Any) -> list[str] | None:
    if isinstance(value, str | list):
        return _facts_of([value] if isinstance(value, str) else value)
    if not isinstance(value, Mapping):
        return None
    if "facts" in value:
        return _facts_of_member(value["facts"])
    listed = next((value[key] for key in _LISTS if isinstance(value.get(key), list) and value[key]), None)
    if listed is not None:
        return _facts_of(listed)
    if any(isinstance(value.get(key), str) for key in _TEXTS):
        return _facts_of([value])
    inner = next(iter(value.values())) if len(value) == 1 else None
    return _facts_in(inner) if isinstance(inner, Mapping) else None


def _facts_of_member(member: Any) -> list[str] | None:
    """The facts in the member `facts`: a list, one text, one object, facts by key, or null for none."""
    if isinstance(member, Mapping) and not any(isinstance(member.get(key), str) for key in _TEXTS):
        return _facts_in(member) if "facts" in member else _facts_of([{key: one} for key, one in _members(member)])
    if member is None:
        return []
    return _facts_of(member if isinstance(member, list) else [member])


def _members(member: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The members with each value of a list by itself."""
    for key, value in member.items():
        for one in value if isinstance(value, list) else [value]:
            yield key, one


def _facts_of(items: Sequence[Any]) -> list[str] | None:
    """The texts of a list; None when it has members and none of them is or holds a text."""
    found = [
        text.encode("utf-8", "replace").decode("utf-8") for item in items if (text := _text_of(item)) is not None
    ]
    if items and not found:
        return None
    facts = [text for text in _without_marks(found) if not _NONE.fullmatch(text)]
    return facts if any(map(str.strip, facts)) else []


def _text_of(item: Any) -> str | None:
    """The text of one member of a list; None for one that holds none, such as a number."""
    if not isinstance(item, Mapping):
        return item if isinstance(item, str) else None
    members = {key.lower(): value for key, value in item.items()}
    told = next((members[key] for key in _TEXTS if members.get(key)), None)
    if told is not None:
        return _text_of(told)
    key = next((members[key] for key in _KEYS if isinstance(members.get(key), str)), None)
    value = next((_scalar(members[key]) for key in _VALUES if members.get(key) is not None), None)
    if key and value:
        return f"{key}: {value}"
    pairs = [(name, _scalar(one)) for name, one in item.items() if name.lower() not in _ABOUT or len(item) == 1]
    return ", ".join(f"{name}: {one}" for name, one in pairs if one) or None


def _scalar(value: Any) -> str:
    """A text, a number, a truth or a list of them as text; "" for anything else."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_scalar, value)))
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _without_marks(texts: Sequence[str]) -> list[str]:
    """The texts without marks of a list in front; a text whose lines all have one is a list itself.

    Numbers are such marks only where they count several texts: "1. FC Köln" alone is a name.
    """
    lines = [line for text in texts for line in _lines(text)]
    numbers = [_NUMBER.match(line) for line in lines]
    counts = len(lines) > 1 and all(number and int(number[1]) == at for at, number in enumerate(numbers, 1))
    return [_MARK.sub("", _NUMBER.sub("", line, count=1) if counts else line, count=1) for line in lines]


def _lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if len(lines) > 1 and all(_MARK.match(line) or _NUMBER.match(line) for line in lines) else [text]
