"""Parsing of conversations whose messages hold their answers within them, as deep as a chat is long.

Such a tree is taken apart before it is parsed: each message is parsed by itself, within the limits of every value,
and is put back in its place. So a chat of thousands of messages costs no deep parsing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mnemoir.conversations.transfer.bounded_json import (
    BRANCHES,
    TOKENS,
    is_branch_list,
    is_deep,
    read_value,
    refuse_swollen_branches,
)

_LIST = "messages"


def read_conversation(raw: bytes, place: str) -> Any:
    """The JSON value in `raw`, of which the messages may be nested in each other. Raises InvalidImport."""
    if not is_deep(raw):
        return read_value(raw, place)
    refuse_swollen_branches(raw, place)
    return _Tree(raw, place).value()


@dataclass(slots=True)
class _Holder:
    """The conversation or a message: its bytes without the messages in it, and those, by the member they are in."""

    begins: int
    member: str
    pieces: list[bytes] = field(default_factory=list)
    inner: list[Any] = field(default_factory=list)

    def parse(self, raw: bytes, end: int, place: str) -> Any:
        """Its value. In its list of messages an empty object stands for each message that was taken out."""
        value = read_value(b"".join([*self.pieces, raw[self.begins : end]]), place)
        told = value.get(self.member) if isinstance(value, dict) else None
        if isinstance(told, list) and self.inner:
            inner: Iterator[Any] = iter(self.inner)
            value[self.member] = [next(inner) if isinstance(one, dict) else one for one in told]
        return value


class _Tree:
    """A conversation that is taken apart."""

    def __init__(self, raw: bytes, place: str) -> None:
        self._raw = raw
        self._place = place
        self._open: list[_Holder] = []
        self._levels: list[int] = []  # of each list of messages that is open, its level
        self._level = 0

    def value(self) -> Any:
        """Its value. Raises InvalidImport."""
        raw = self._raw
        for token in TOKENS.finditer(raw):
            byte = raw[token.start() : token.start() + 1]
            if byte in b"[{":
                self._begin(token.start(), byte)
            elif byte in b"]}" and self._level:
                done = self._end(token.end(), byte)
                if done is not None and not raw[token.end() :].strip():
                    return done
        return read_value(raw, self._place)  # it is cut off or goes on, which this tells

    def _begin(self, at: int, byte: bytes) -> None:
        self._level += 1
        if byte == b"{" and (self._level == 1 or self._is_in_list()):
            if self._open:
                holder = self._open[-1]
                holder.pieces.append(self._raw[holder.begins : at] + b"{}")
            self._open.append(_Holder(at, BRANCHES if self._open else _LIST))
        elif byte == b"[" and self._is_list(at):
            self._levels.append(self._level)

    def _end(self, end: int, byte: bytes) -> Any:
        """The value of the conversation where it ends; else None."""
        done = None
        if byte == b"]" and self._levels and self._levels[-1] == self._level:
            self._levels.pop()
        elif byte == b"}" and self._open and (self._level == 1 or self._is_in_list()):
            value = self._open.pop().parse(self._raw, end, self._place)
            if self._open:
                self._open[-1].inner.append(value)
                self._open[-1].begins = end
            else:
                done = value
        self._level -= 1
        return done

    def _is_in_list(self) -> bool:
        """Whether what is open on this level stands in a list of messages."""
        return bool(self._levels) and self._levels[-1] == self._level - 1

    def _is_list(self, at: int) -> bool:
        """Whether the list that begins there holds the messages of what is open innermost."""
        is_member = bool(self._open) and self._level == 2 * len(self._open)
        return is_member and is_branch_list(self._raw, at, self._open[-1].member)
