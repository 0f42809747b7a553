"""Placeholders such as [EMAIL_1] in place of personal data, and the values back in place of placeholders.

A text may be the text of a message or a JSON text, such as the arguments of a tool call, which stays valid JSON.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from mnemoir.ports.personal_values import PersonalValue
from mnemoir.privacy.detection import Finding
from mnemoir.privacy.spellings import plain

PLACEHOLDER = re.compile(r"\[([A-Z]+(?:_[A-Z]+)*)_([1-9]\d{0,9})\]")
_BEGUN = re.compile(r"\[(?:[A-Z_]*(?:_\d*)?)?\Z")
_LONGEST = 64  # characters of a placeholder
_SPACES = re.compile(r"[\s().\-/–‑]+")
_NUMBERS = frozenset({"CARD", "IBAN", "NATIONAL_ID", "PHONE"})  # kinds that are written with or without separators

Find = Callable[[str], Sequence[Finding]]
Change = Callable[[str], str]


def values_in(text: str, findings: Sequence[Finding]) -> list[PersonalValue]:
    """The values of the findings, in the order of the text."""
    return [_value(one.kind, text[one.start : one.end]) for one in findings]


def _value(kind: str, original: str) -> PersonalValue:
    normal = plain(original)
    if kind in _NUMBERS:
        normal = _SPACES.sub("", normal).upper()
    elif kind != "SECRET":
        normal = normal.casefold()
    return PersonalValue(kind=kind, normal=normal, original=original)


class Placeholders:
    """The placeholders of one request. Unless `number` was called for it, a new value gets the next free number."""

    def __init__(self) -> None:
        self._numbers: dict[PersonalValue, int] = {}
        self._last: dict[str, int] = {}
        self._originals: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._originals)

    def reserve(self, text: str) -> None:
        """Give the numbers of the placeholders that stand in `text` to no new value."""
        if "_" in text:
            for kind, number in PLACEHOLDER.findall(text):
                self._last[kind] = max(self._last.get(kind, 0), int(number))

    def number(self, value: PersonalValue, number: int) -> None:
        """Give a value its number."""
        self._numbers[value] = number
        self._last[value.kind] = max(self._last.get(value.kind, 0), number)
        self._originals[placeholder(value.kind, number)] = value.original

    def know(self, originals: Mapping[tuple[str, int], str]) -> None:
        """Turn these back too, by kind and number, unless their placeholders are known."""
        for (kind, number), original in originals.items():
            self._originals.setdefault(placeholder(kind, number), original)

    def with_placeholders(self, text: str, findings: Sequence[Finding]) -> str:
        """The text with placeholders in place of what was found."""
        pieces, done = [], 0
        for one in findings:
            pieces += [text[done : one.start], self._of(_value(one.kind, text[one.start : one.end]))]
            done = one.end
        return "".join([*pieces, text[done:]])

    def with_values(self, text: str, *, in_json: bool = False) -> str:
        """The text with the values in place of known placeholders; within JSON they are escaped."""

        def original(match: re.Match[str]) -> str:
            found = self._originals.get(match[0])
            if found is None:
                return match[0]
            return orjson.dumps(found).decode()[1:-1] if in_json else found

        return PLACEHOLDER.sub(original, text) if "[" in text else text

    def _of(self, value: PersonalValue) -> str:
        known = self._numbers.get(value)
        if known is None:
            known = self._last.get(value.kind, 0) + 1
            self.number(value, known)
        return placeholder(value.kind, known)


def placeholder(kind: str, number: int) -> str:
    """What stands in place of a value."""
    return f"[{kind}_{number}]"


class Restorer:
    """Turns a text that comes in pieces back. It holds back what may be the beginning of a placeholder."""

    def __init__(self, placeholders: Placeholders, *, in_json: bool = False) -> None:
        self._placeholders = placeholders
        self._in_json = in_json
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is certain with this piece; may be ""."""
        text = self._held + piece
        begun = text.rfind("[", max(0, len(text) - _LONGEST))
        if begun < 0 or _BEGUN.match(text, begun) is None:
            begun = len(text)
        self._held = text[begun:]
        return self._placeholders.with_values(text[:begun], in_json=self._in_json)

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return held


def in_json(value: Any, change: Change) -> Any:
    """A JSON value with changed texts and names of members; a number that is personal data becomes a text."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): _member(name, member, change) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [in_json(member, change) for member in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**6:
        text = str(value)
        changed = change(text)
        return value if changed == text else changed
    return value


def _member(name: str, value: Any, change: Change) -> Any:
    """A member of a JSON object with changed texts; its name may tell what its value is, such as a password."""
    changed = in_json(value, change)
    if not isinstance(value, str) or changed != value:
        return changed
    before, behind = f'"{name}": "', '"'
    together = change(f"{before}{value}{behind}")
    return together.removeprefix(before).removesuffix(behind) if together.startswith(before) else value


def in_json_text(text: str, change: Change) -> str:
    """A JSON text with changed texts, as it was where nothing is changed; what is no JSON is changed as a text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return change(text)
    changed = in_json(value, change)
    return text if changed == value else orjson.dumps(changed).decode()
