"""The tool calls of answers in OpenAI's chat protocol, whole and in pieces, made unambiguous.

Servers number and name calls in many ways: without an index, without an id, all on index 0, all with one id. Here
each call gets one index and one id of its own, and each piece belongs to one call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import orjson

from mnemoir.core.events import ToolCallPart
from mnemoir.core.messages import Extra, ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.answers.call_ids import MOST_CALLS, CallIds, is_json, read_arguments, read_call_id
from mnemoir.wire.openai_messages import extra_of_call


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A call, or a piece of one, as it came."""

    index: int | None
    call_id: str | None
    name: str | None
    arguments: str
    custom: bool
    extra: Extra | None

    @property
    def is_empty(self) -> bool:
        """True for neither a name nor arguments."""
        return self.name is None and not self.arguments


@dataclass(slots=True, eq=False)
class _Call:
    """A call that has begun; `given_id` is the id that the server gave it."""

    index: int
    order: int  # among the calls of the answer
    given_id: str | None = None
    name: str | None = None
    custom: bool = False
    has_told_id: bool = False
    arguments: list[str] = field(default_factory=list)  # none of them empty

    @property
    def is_whole(self) -> bool:
        """True when the arguments so far are an object."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False  # without reading all that came for each piece
        try:
            return isinstance(orjson.loads("".join(self.arguments)), dict)
        except orjson.JSONDecodeError:
            return False


class CallPieces:
    """Reads the calls of one answer; `has_calls` is True once one came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._ids = CallIds()
        self._taken: set[int] = set()  # indexes
        self._empty: dict[int | None, str | None] = {}  # ids of calls that have nothing else yet, by their indexes
        self._by_id: dict[str, _Call] = {}  # the newest call of each of the server's ids
        self._by_index: dict[int, _Call] = {}  # the newest call on each of the server's indexes

    @property
    def has_calls(self) -> bool:
        """True when the answer calls a tool."""
        return bool(self._calls)

    @property
    def are_whole(self) -> bool:
        """True unless a call has arguments that are not JSON, as those of a stream that broke off."""
        return all(call.custom or not call.arguments or is_json("".join(call.arguments)) for call in self._calls)

    def check(self) -> None:
        """Raise ProviderInvalidOutput for a call that names no function."""
        if any(call.name is None for call in self._calls) or (self._empty and not self._calls):
            raise _nameless()

    def read_all(self, parts: Sequence[object]) -> tuple[ToolCall, ...]:
        """The whole calls of an answer. Raises ProviderInvalidOutput for one that cannot be used.

        One with neither a name nor arguments, which some servers send beside others, is left out.
        """
        pieces = [_read_piece(part) for part in parts if part is not None]
        return tuple(map(self._read_whole, [piece for piece in pieces if not piece.is_empty] or pieces))

    def _read_whole(self, piece: _Piece) -> ToolCall:
        if piece.name is None:
            raise _nameless()
        self._begin(None)
        call_id = self._ids.take(piece.call_id)
        return ToolCall(
            id=call_id, name=piece.name, arguments=piece.arguments, custom=piece.custom, extra=piece.extra
        )

    def read_pieces(self, parts: Sequence[object]) -> Iterator[ToolCallPart]:
        """The pieces in one object of a stream. Raises ProviderInvalidOutput for a member of a wrong type."""
        before = len(self._calls)
        for piece in [_read_piece(part) for part in parts]:
            if piece.is_empty and self._candidate(piece) is None:
                if len(self._empty) < MOST_CALLS:
                    self._empty[piece.index] = piece.call_id
                continue
            if piece.call_id is None and piece.index in self._empty:
                piece = replace(piece, call_id=self._empty.pop(piece.index))
            yield self._read(piece, before)

    def _read(self, piece: _Piece, before: int) -> ToolCallPart:
        """One piece; `before` is the number of calls that had begun before the object it stands in."""
        call = self._candidate(piece)
        if call is not None and call.order < before and _repeats(call, piece):
            piece = replace(piece, arguments="")
        call = self._call(piece) or self._begin(piece.index)
        self._know(call, piece)
        name = self._new_name(call, piece)
        call.name = (call.name or "") + name or call.name
        call.custom = call.custom or piece.custom
        if piece.arguments:
            call.arguments.append(piece.arguments)
        told_id = None
        if not call.has_told_id and (call.given_id or call.name):
            told_id, call.has_told_id = self._ids.take(call.given_id), True
        return ToolCallPart(
            index=call.index,
            id=told_id,
            name=name or None,
            arguments=piece.arguments,
            custom=piece.custom,
            extra=piece.extra,
        )

    def _call(self, piece: _Piece) -> _Call | None:
        """The call that a piece goes on with; None where it begins one."""
        call = self._candidate(piece)
        if call is None or piece.name is None:
            return call
        if call.is_whole and call.name is not None:
            is_same = piece.call_id == call.given_id if piece.call_id is not None else piece.index is not None
            is_rest = piece.arguments.isspace() or (is_same and not piece.arguments)
            return call if is_rest and piece.name == call.name else None
        if piece.call_id is not None and piece.call_id == call.given_id:
            return call if piece.index is None or self._is_at(call, piece.index) or _goes_on(call, piece) else None
        if call.name is None:
            return call if piece.call_id is None or call.given_id is None else None
        if piece.call_id is not None:
            if call.arguments and piece.name == call.name and self._is_at(call, piece.index):
                return call  # of a server that makes an id for each piece; what is not whole goes on
            return None if call.given_id is not None or piece.index is None else call
        is_next = not call.arguments and piece.name != call.name and (piece.index is None or _begins(call, piece))
        return None if is_next else call

    def _is_at(self, call: _Call, index: int | None) -> bool:
        return index is not None and self._by_index.get(index) is call

    def _candidate(self, piece: _Piece) -> _Call | None:
        """The call that a piece would go on with if it had no name: by its index and id, one of them, or the last."""
        at_index = self._by_index.get(piece.index) if piece.index is not None else None
        if piece.call_id is not None and (at_index is None or at_index.given_id != piece.call_id):
            by_id = self._by_id.get(piece.call_id)
            if by_id is not None:
                return by_id
        if piece.index is not None:
            return at_index
        return self._calls[-1] if self._calls else None

    def _new_name(self, call: _Call, piece: _Piece) -> str:
        """The name in a piece, or what is new of it; "" where the call has it already, or is beyond its name."""
        if piece.name is None or call.name is None:
            return piece.name or ""
        if piece.name == call.name or call.arguments:
            return ""
        return piece.name.removeprefix(call.name)

    def _begin(self, index: int | None) -> _Call:
        free = index if index is not None and index not in self._taken else max(self._taken, default=-1) + 1
        self._taken.add(free)
        call = _Call(index=free, order=len(self._calls))
        self._calls.append(call)
        if len(self._calls) > MOST_CALLS:
            raise upstream.unusable(f"more than {MOST_CALLS} tool calls")
        return call

    def _know(self, call: _Call, piece: _Piece) -> None:
        if piece.index is not None:
            self._by_index[piece.index] = call
        else:
            self._by_index.setdefault(call.index, call)
        if piece.call_id is not None:
            self._by_id[piece.call_id] = call
            call.given_id = call.given_id or piece.call_id


def _repeats(call: _Call, piece: _Piece) -> bool:
    """True for a piece that holds all of its call once more, as some servers send it behind the pieces."""
    if not piece.arguments.startswith("{") or piece.arguments != "".join(call.arguments) or not call.is_whole:
        return False
    is_named = piece.name is not None
    return not is_named or (piece.name == call.name and piece.call_id is not None and piece.call_id == call.given_id)


def _goes_on(call: _Call, piece: _Piece) -> bool:
    """True for a piece that repeats the name of a call whose arguments have begun, and does not begin them anew."""
    return piece.name == call.name and bool(call.arguments) and not piece.arguments.lstrip().startswith("{")


def _begins(call: _Call, piece: _Piece) -> bool:
    """True for a piece that has arguments at once, where neither it nor the call before has an id."""
    return call.given_id is None and bool(piece.arguments)


def _read_piece(part: object) -> _Piece:
    if not isinstance(part, dict):
        raise upstream.unusable("a tool call that is not an object")
    custom = part.get("type") == "custom" or part.get("custom") is not None
    called = part.get("custom" if custom else "function")
    name = upstream.text_or_none(upstream.member(called, "name"), "a function name") or None
    return _Piece(
        index=upstream.index_or_none(part.get("index")),
        call_id=read_call_id(part.get("id")),
        name=name,
        arguments=read_arguments(upstream.member(called, "input" if custom else "arguments")) or "",
        custom=custom,
        extra=extra_of_call(part),
    )


def _nameless() -> Exception:
    return upstream.unusable("a tool call without a name")
