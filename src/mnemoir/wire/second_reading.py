"""A second reading of JSON that the decoder refuses: its bytes are mended by one table, and decoded again.

The table: half of a surrogate pair and bytes that are not UTF-8 become U+FFFD, the numbers that JSON does not have
become null, and control characters within a text, such as tabs, are escaped. Where a character was cut between two
pieces of an answer, a Seam puts its halves together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from mnemoir.core.events import Finished, ModelEvent, Refusal, Text, Thinking, ToolCallPart

MOST_BYTES = 1024 * 1024
"""The longest data that is read a second time."""

# a text without an end is taken to the end of the data, lest each quote in it begins another search for one
_TOKENS = re.compile(rb'"((?:[^"\\]++|\\.)*+)("\s*+:|"|\\?\Z)|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_ODDITIES = re.compile(
    rb"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<escape>\\.)|(?P<beyond>[\x80-\xff]+)"
    rb"|(?P<control>[\x00-\x1f])",
    re.DOTALL,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_CONTINUATION = re.compile(rb"[\x80-\xbf]+")
_ARGUMENTS = ("arguments", "input")
_UNKNOWN = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """JSON after a second reading. `lacks_a_number` is True where arguments of a call hold a number JSON lacks.

    `head` and `tail` are halves of characters, as bytes, at the beginning and at the end of a text within.
    """

    value: Any  # JSON
    lacks_a_number: bool = False
    head: bytes = b""
    tail: bytes = b""


def read_again(data: bytes) -> Mended | None:
    """`data` once it was mended; None where it is no JSON even then, or too long."""
    if len(data) > MOST_BYTES:
        return None
    table = _Table(b"null")
    try:
        value = orjson.loads(_TOKENS.sub(table.mended_token, data))
    except orjson.JSONDecodeError:
        return None
    lacks = False
    if table.has_numbers:
        other = orjson.loads(_TOKENS.sub(_Table(b'"NaN"').mended_token, data))
        lacks = list(_arguments(value)) != list(_arguments(other))
    return Mended(value=value, lacks_a_number=lacks, head=table.head, tail=table.tail)


def mended_text(data: bytes) -> Any:
    """`data` as JSON, mended where that is needed. Raises orjson.JSONDecodeError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        mended = read_again(data)
        if mended is None:
            raise
        return mended.value


def mended_arguments(text: str) -> dict[str, Any] | None:
    """The object in the arguments of a call, mended where that is needed; an empty text is one without members.

    None for anything else, and where it holds a number that JSON lacks.
    """
    data, table = (text or "{}").encode("utf-8", "surrogatepass"), _Table(b"null")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            value = orjson.loads(_TOKENS.sub(table.mended_token, data[:MOST_BYTES]))
        except orjson.JSONDecodeError:
            return None
    return value if isinstance(value, dict) and not table.has_numbers else None


def with_whole_characters(data: bytes) -> bytes:
    """JSON in UTF-8 with U+FFFD in place of each half of a surrogate pair."""
    return _ODDITIES.sub(lambda odd: rb"\ufffd" if odd["half"] else odd[0], data)


class _Table:
    """The replacements, and what was found while they were made."""

    def __init__(self, number: bytes) -> None:
        self._number = number
        self.has_numbers = False
        self.head = b""
        self.tail = b""

    def mended_token(self, token: re.Match[bytes]) -> bytes:
        text = token[1]
        if text is None:
            self.has_numbers = True
            return self._number
        if text.isascii() and b"\\u" not in text and not _CONTROL.search(text):
            return token[0]
        is_name = token[2].endswith(b":")

        def replace_odd(odd: re.Match[bytes]) -> bytes:
            return self._replacement(
                odd, is_first=not is_name and odd.start() == 0, is_last=not is_name and odd.end() == len(text)
            )

        return b'"%b%b' % (_ODDITIES.sub(replace_odd, text), token[2])

    def _replacement(self, odd: re.Match[bytes], *, is_first: bool, is_last: bool) -> bytes:
        if odd["half"]:
            half = chr(int(odd["half"], 16)).encode("utf-8", "surrogatepass")
            self._keep(half if is_first else b"", half if is_last else b"")
            return rb"\ufffd"
        if odd["control"]:
            return b"\\u%04x" % odd[0][0]
        if not odd["beyond"]:
            return odd[0]
        begin = _CONTINUATION.match(odd[0])
        self._keep(begin[0] if begin and is_first else b"", _begin_of_character(odd[0]) if is_last else b"")
        return odd[0].decode("utf-8", "replace").encode()

    def _keep(self, head: bytes, tail: bytes) -> None:
        self.head, self.tail = self.head or head, tail or self.tail


def _begin_of_character(data: bytes) -> bytes:
    """The beginning of a character at the end of `data`; b"" where it ends with a whole one, or with no beginning."""
    for length in (1, 2, 3):
        try:
            data[-length:].decode()
        except UnicodeDecodeError as exc:
            if exc.start == 0 and exc.reason == "unexpected end of data":
                return data[-length:]
    return b""


def _arguments(value: object) -> Iterator[object]:
    """All arguments of calls that are objects; walks without recursion."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield from (node[name] for name in _ARGUMENTS if isinstance(node.get(name), Mapping))
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


_Spoken = Text | Thinking | Refusal | ToolCallPart


def _words_of(event: _Spoken) -> str:
    return event.arguments if isinstance(event, ToolCallPart) else event.text


def _with_words(event: _Spoken, words: str) -> _Spoken:
    return replace(event, arguments=words) if isinstance(event, ToolCallPart) else replace(event, text=words)


def _text_of(event: _Spoken) -> tuple[type, int]:
    """Which text a piece belongs to: one of each kind, and one of each call."""
    return event.__class__, event.index if isinstance(event, ToolCallPart) else 0


class Seam:
    """Puts together the halves of a character that came in two pieces of a text; a half left alone is U+FFFD."""

    def __init__(self) -> None:
        self.is_open = False  # half of a character waits for the next piece; no property, as every piece asks
        self._half = b""
        self._waiting: _Spoken | None = None  # a piece without words, of the text that the half belongs to

    def join(self, events: Sequence[ModelEvent], mended: Mended | None) -> list[ModelEvent]:
        """The events of one piece, whose `mended` data they were read from, None where it needed no mending."""
        whole: list[ModelEvent] = []
        for event in events:
            if isinstance(event, _Spoken):
                words = self._words(event, mended)
                names = isinstance(event, ToolCallPart) and (event.id or event.name)
                whole += [_with_words(event, words)] if words or names else []
            else:
                if isinstance(event, Finished) and self._waiting is not None:
                    whole.append(_with_words(self._waiting, _UNKNOWN))
                    self._waiting = None
                whole.append(event)
        self.is_open = self._waiting is not None
        return whole

    def _words(self, event: _Spoken, mended: Mended | None) -> str:
        words = _words_of(event)
        if self._waiting is not None and _text_of(self._waiting) == _text_of(event):
            words = self._words_behind_half(event, words, mended)
        if mended is not None and mended.tail and self._waiting is None and words.endswith(_UNKNOWN):
            self._half, self._waiting = mended.tail, _without_words(event)
            return words[:-1]
        return words

    def _words_behind_half(self, event: _Spoken, words: str, mended: Mended | None) -> str:
        """The words behind the half that waits; "" where the character still lacks a part, and nothing is new."""
        if not words:
            return ""
        head = mended.head if mended is not None else b""
        self._waiting = None
        shown = _signs_for(head)
        if not head or not words.startswith(shown):
            return _UNKNOWN + words
        whole = _character(self._half + head)
        if whole is not None:
            return whole + words[len(shown) :]
        if words == shown and _begin_of_character(self._half + head) == self._half + head:
            self._half, self._waiting = self._half + head, _without_words(event)
            return ""
        return _UNKNOWN + words


def _without_words(event: _Spoken) -> _Spoken:
    if isinstance(event, ToolCallPart):
        return ToolCallPart(index=event.index, custom=event.custom)
    return _with_words(event, "")


def _signs_for(head: bytes) -> str:
    """What a half at the beginning of a text became."""
    return _UNKNOWN if head[:1] == b"\xed" else _UNKNOWN * len(head)


def _character(data: bytes) -> str | None:
    """The one character that two halves make; None where they make none."""
    try:
        text = data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return None
    return text if len(text) == 1 else None
