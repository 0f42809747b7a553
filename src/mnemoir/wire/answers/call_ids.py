"""The ids and arguments of an answer's tool calls: text, and no id of two calls."""

import orjson

from mnemoir.core.ids import new_call_id
from mnemoir.wire import upstream
from mnemoir.wire.answers.exact_numbers import check_numbers


def read_call_id(value: object) -> str | None:
    """The id that a server gave a call, which may be a number; None for none. Raises ProviderInvalidOutput."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return upstream.text_or_none(value, "a call id") or None


MOST_CALLS = 1024  # of one answer


def read_arguments(value: object) -> str | None:
    """The arguments of a call as text; some servers send the object itself.

    Raises ProviderInvalidOutput, RoundedNumber for an object with a number that the decoder has changed.
    """
    if isinstance(value, dict):
        check_numbers(value)
        try:
            return orjson.dumps(value).decode()
        except TypeError as exc:
            raise upstream.too_deep("a tool call with arguments") from exc
    return upstream.text_or_none(value, "call arguments")


def is_json(arguments: str) -> bool:
    """True for arguments that are a whole JSON text."""
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True


class CallIds:
    """Gives each call of one answer its id."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, given: str | None) -> str:
        """The given id; where there is none, or a call of this answer has it already, one that no other call has.

        Raises ProviderInvalidOutput for a flood of calls.
        """
        if len(self._taken) >= MOST_CALLS:
            raise upstream.unusable(f"more than {MOST_CALLS} tool calls")
        call_id = given if given and given not in self._taken else new_call_id()
        self._taken.add(call_id)
        return call_id
