"""The pieces of tool calls in a stream of OpenAI's chat protocol, made unambiguous.

Servers number and name calls in many ways: without an index, without an id, all on index 0, the same id twice. Here
each call gets one index and one id, which its first named piece tells, and each piece belongs to one call.
"""

from dataclasses import dataclass, field
from typing import Any

import orjson

from mnemoir.core.events import ToolCallPart
from mnemoir.core.ids import new_call_id
from mnemoir.wire import upstream
from mnemoir.wire.openai_messages import extra_of_call


@dataclass(slots=True)
class _Call:
    """A call that has begun; `given_id` is the id that the server gave it."""

    index: int
    given_id: str | None = None
    name: str | None = None
    has_told_id: bool = False
    arguments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """True when the arguments so far are an object."""
        try:
            return isinstance(orjson.loads("".join(self.arguments)), dict)
        except orjson.JSONDecodeError:
            return False


class CallPieces:
    """Reads pieces; `has_calls` is True once one came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}  # the newest call on each of the server's indexes

    @property
    def has_calls(self) -> bool:
        """True when the answer calls a tool."""
        return bool(self._calls)

    def check(self) -> None:
        """Raise ProviderInvalidOutput for a call that names no function."""
        if any(call.name is None for call in self._calls):
            raise upstream.unusable("a tool call without a name")

    def read(self, part: object) -> ToolCallPart:
        """One piece. Raises ProviderInvalidOutput for a member of a wrong type."""
        custom = upstream.member(part, "type") == "custom" or upstream.member(part, "custom") is not None
        called = upstream.member(part, "custom" if custom else "function")
        call_id = upstream.text_or_none(upstream.member(part, "id"), "a call id") or None
        name = upstream.text_or_none(upstream.member(called, "name"), "a function name") or None
        arguments = upstream.member(called, "input" if custom else "arguments")
        if isinstance(arguments, dict):
            arguments = orjson.dumps(arguments).decode()
        text = upstream.text_or_none(arguments, "call arguments") or ""
        index = _index(upstream.member(part, "index"))
        call = self._call(index, call_id, name) or self._begin(index)
        self._know(call, index, call_id)
        call.arguments.append(text)
        is_first_name = name is not None and call.name is None
        call.name = call.name or name
        told_id = None
        if not call.has_told_id and (call.given_id or call.name):
            told_id, call.has_told_id = call.given_id or new_call_id(), True
        return ToolCallPart(
            index=call.index,
            id=told_id,
            name=name if is_first_name else None,
            arguments=text,
            custom=custom,
            extra=extra_of_call(part) if isinstance(part, dict) else None,
        )

    def _call(self, index: int | None, call_id: str | None, name: str | None) -> _Call | None:
        """The call that a piece goes on with; None where it begins one."""
        if call_id in self._by_id:
            return self._by_id[call_id]
        call = self._by_index.get(index) if index is not None else self._calls[-1] if self._calls else None
        if call is None or name is None:
            return call
        if call_id is not None:
            return None if call.given_id is not None or (index is None and call.name is not None) else call
        # a named piece without an id: a new call only where the one before is complete
        is_next = call.is_whole and (index is None or name != call.name)
        return None if is_next else call

    def _begin(self, index: int | None) -> _Call:
        taken = {call.index for call in self._calls}
        free = index if index is not None and index not in taken else max(taken, default=-1) + 1
        call = _Call(index=free)
        self._calls.append(call)
        return call

    def _know(self, call: _Call, index: int | None, call_id: str | None) -> None:
        if index is not None:
            self._by_index[index] = call
        else:
            self._by_index.setdefault(call.index, call)
        if call_id is not None:
            self._by_id.setdefault(call_id, call)
            call.given_id = call.given_id or call_id


def _index(value: Any) -> int | None:
    """The index that a server gave, also as text; None where it is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
