"""The tool calls of a stream of the Responses API: names, pieces of arguments and whole arguments, in any order.

Pieces that come before the name of their call are held back until it is known. Whole arguments fill in what the
pieces lack at the end; where they say something else, the call cannot be used.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from mnemoir.core.events import ToolCallPart
from mnemoir.wire import upstream
from mnemoir.wire.answers.call_ids import MOST_CALLS, CallIds
from mnemoir.wire.answers.openai_responses_output import Called
from mnemoir.wire.answers.told_texts import contradiction

Spot = tuple[int | None, str | None]
"""The index of an item in the output, and its id; None for what the server does not tell."""
_UNKNOWN = "\ufffd"


@dataclass(slots=True, eq=False)
class _Call:
    """A call of the stream; `index` is None until its name is known and it was told."""

    spot: Spot
    name: str = ""
    custom: bool = False
    given_id: str | None = None
    index: int | None = None
    pieces: list[str] = field(default_factory=list)
    came_whole: bool = False  # none of its arguments came in pieces

    @property
    def arguments(self) -> str:
        """The arguments so far."""
        return "".join(self.pieces)

    def take(self, piece: str) -> Iterator[ToolCallPart]:
        """Add a piece, and tell it if the call was told."""
        if piece:
            self.pieces.append(piece)
            if self.index is not None:
                yield ToolCallPart(index=self.index, arguments=piece, custom=self.custom)

    def rest(self, whole: str) -> str:
        """What the pieces lack of the whole arguments; "" for none. Raises where these say something else."""
        rest = _rest(self.arguments, whole) if whole.strip() or not self.pieces else ""
        if rest is None:
            raise contradiction("tool call")
        return rest


class ItemCalls:
    """Reads the calls of one streamed answer."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []  # those that were told
        self._nameless: list[_Call] = []
        self._by_item: dict[object, _Call] = {}
        self._ids = CallIds()

    @property
    def has_calls(self) -> bool:
        """True when the answer calls a tool."""
        return bool(self._calls)

    @property
    def arguments(self) -> list[str]:
        """The arguments of all functions that were called, which are to be JSON."""
        return [call.arguments for call in self._calls if not call.custom]

    def begin(self, spot: Spot, called: Called) -> Iterator[ToolCallPart]:
        """Read the beginning of a call, whose arguments are still to come."""
        call = self._at(spot)
        if call is None or call.index is not None:
            call = self._add(spot)
        yield from self._name(call, called)

    def read_arguments(self, spot: Spot, piece: str, whole: str | None) -> Iterator[ToolCallPart]:
        """Read a piece of arguments, or all of them."""
        call = self._at(spot) or self._add(spot)
        yield from call.take(piece if whole is None else call.rest(whole))

    def read_item(self, spot: Spot, called: Called) -> Iterator[ToolCallPart]:
        """Read a whole call, and tell what is new of it."""
        yield from self._read_whole(self._find(spot, called.given_id), spot, called)

    def read_end(self, whole: Sequence[Called]) -> Iterator[ToolCallPart]:
        """Read all calls at the end of the response, which may be fewer. Raises for one that never got a name.

        One that was told is known by its id, or without an id by its name.
        """
        told = list(self._calls)
        for called in whole:
            call = next((one for one in told if one.given_id and one.given_id == called.given_id), None)
            if call is None:
                unnamed = (one for one in told if None in (one.given_id, called.given_id))
                call = next((one for one in unnamed if called.name in ("", one.name)), None)
            if call is None:
                called.check()
            else:
                told.remove(call)
            yield from self._read_whole(call, (None, called.item_id), called)
        self._check()

    def _check(self) -> None:
        """Raise for arguments of no call; a call that came whole, at another place, may hold them."""
        others = [call for call in self._calls if call.came_whole]
        for held in (one for one in self._nameless if one.index is None):
            call = next((one for one in others if _rest(held.arguments, one.arguments) is not None), None)
            if call is None:
                raise upstream.unusable("a function call without a name")
            others.remove(call)

    def _read_whole(self, call: _Call | None, spot: Spot, called: Called) -> Iterator[ToolCallPart]:
        if call is None:
            call = self._add(spot)
        call.came_whole = call.came_whole or not call.pieces
        rest = call.rest(called.arguments)  # before anything of a call is told that cannot be used
        if call.index is None:
            yield from self._name(call, called)
        yield from call.take(rest)

    def _name(self, call: _Call, called: Called) -> Iterator[ToolCallPart]:
        """Tell a call and what was held back of it; without a name it is still held back."""
        call.given_id = call.given_id or called.given_id
        if called.item_id:
            self._by_item[called.item_id] = call
            call.spot = call.spot[0], called.item_id
        if not called.name:
            return
        call.name, call.custom, call.index = called.name, called.custom, len(self._calls)
        self._calls.append(call)
        yield ToolCallPart(index=call.index, id=self._ids.take(call.given_id), name=call.name, custom=call.custom)
        if call.pieces:
            yield ToolCallPart(index=call.index, arguments=call.arguments, custom=call.custom)

    def _add(self, spot: Spot) -> _Call:
        call = _Call(spot=spot)
        self._nameless = [one for one in self._nameless if one.index is None]
        if len(self._nameless) >= MOST_CALLS:
            raise upstream.unusable("arguments of calls without a name")
        self._nameless.append(call)
        names: list[object] = [name for name in spot if name is not None]
        self._by_item |= dict.fromkeys(names or [None], call)
        return call

    def _at(self, spot: Spot) -> _Call | None:
        """The newest call at a place; an id that servers give to several items counts less than their indexes."""
        index, item_id = spot
        call = self._by_item.get(item_id) if item_id is not None or index is None else None
        if call is not None and (index is None or call.spot[0] in (None, index)):
            return call
        return self._by_item.get(index) if index is not None else None

    def _find(self, spot: Spot, given_id: str | None) -> _Call | None:
        """The call of an item; where items have no places, or several have one, that of the id."""
        has_place = spot != (None, None)
        call = self._at(spot) if has_place else None
        if call is not None and (given_id is None or call.given_id in (None, given_id)):
            return call
        by_id = (one for one in self._calls if given_id is not None and one.given_id == given_id)
        return next(by_id, None) if not has_place or call is not None else None


def _rest(told: str, whole: str) -> str | None:
    """What is new of whole arguments; None where they do not go on from those that were told."""
    if whole.startswith(told):
        return whole[len(told) :]
    is_unclear = _UNKNOWN in told or _UNKNOWN in whole  # which may be half of a character
    return "" if is_unclear or told.strip() == whole.strip() or _same_json(told, whole) else None


def _same_json(one: str, other: str) -> bool:
    """True for two texts of one JSON value. Numbers are compared exactly, so that `1` is `1.0` and not `true`."""
    try:
        first, second = (
            json.loads(text, strict=False, parse_int=_number, parse_float=_number) for text in (one, other)
        )
        return bool(first == second)
    except (ValueError, RecursionError, ArithmeticError):
        return False


def _number(text: str) -> tuple[str, Decimal]:
    return "number", Decimal(text)
