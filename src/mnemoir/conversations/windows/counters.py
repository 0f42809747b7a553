"""Token counters: how much of a model's context a list of messages takes.

`chars4` is the documented estimate of session memory. `heuristic` is a fairer one: English and program code within a
quarter of an encoder; settings, markup and joined emoji may cost two thirds more than it says. `tiktoken` counts with
an encoding that is on this machine already, `model` asks the model. What a file costs is what it declares, else one
fixed price: never the length of its bytes, or one screenshot would push out a whole history.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from numbers import Integral
from typing import Generic, Literal, Protocol, TypeVar

import structlog

from mnemoir.conversations.windows.local_encodings import Encoding, local_encoding
from mnemoir.core.conversation_messages import MediaPart, Message, calls_of
from mnemoir.core.errors import SettingsError

Growth = Literal["additive", "monotone", "unknown"]
ModelGrowth = Literal["monotone", "unknown"]
CounterName = Literal["chars4", "heuristic", "tiktoken", "model"]
CountFunction = Callable[[Sequence[Message]], int]

_log = structlog.get_logger(__name__)

_MEDIA_TOKENS = 85
_MESSAGE_TOKENS = 4
_PIECE_CHARACTERS = 8192
# Where a character is about a token: Hangul Jamo, CJK punctuation, kana, ideographs, Yi, Hangul syllables,
# compatibility forms, full width forms, pictographs.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]+"
)


Countable = TypeVar("Countable", contravariant=True)


class Counter(Protocol[Countable]):
    """Counts the tokens of messages of some kind; an empty list is 0.

    `growth` says what may be taken from one count to another: "additive" (a list costs the sum of its messages),
    "monotone" (a part never costs more than the whole), "unknown".
    """

    @property
    def growth(self) -> Growth: ...

    def count(self, messages: Sequence[Countable]) -> int: ...

    def count_one(self, message: Countable) -> int: ...


class TokenCounter(Counter[Message], Protocol):
    """Counts the tokens of stored messages."""


class CountsTokens(Protocol):
    """What a model has to offer to be a counter.

    It may have a `token_growth` besides, "monotone" for one that never counts a part of a list as more than the
    whole. A window over 500 turns then takes about ten counts; else one for each turn that is dropped, since nothing
    can be taken from one count to the next.
    """

    def get_llm_num_tokens(self, messages: Sequence[Message], /) -> int: ...


class AdditiveCounter(Generic[Countable]):
    """A counter that adds up what each message costs; `cost` must not be negative."""

    growth: Growth = "additive"

    def __init__(self, cost: Callable[[Countable], int]) -> None:
        self._cost = cost

    def count(self, messages: Sequence[Countable]) -> int:
        return sum(map(self._cost, messages))

    def count_one(self, message: Countable) -> int:
        return self._cost(message)


class FunctionCounter:
    """Counts whole lists with a function, and believes it: 0 is 0, and what it raises is passed on."""

    def __init__(self, function: CountFunction, growth: Growth = "unknown") -> None:
        self._function = function
        self.growth = growth

    def count(self, messages: Sequence[Message]) -> int:
        return self._function(messages) if messages else 0

    def count_one(self, message: Message) -> int:
        return self._function([message])


class GuardedCounter:
    """Counts with another counter until that fails, and from then on with the estimate `heuristic`.

    Raising is a failure, and so is any answer for a non-empty list that is not a positive whole number: a counter
    that always says 0 would let every history through. A failure is logged, once in the process for each kind.
    """

    def __init__(self, counter: TokenCounter, name: str) -> None:
        self._counter = counter
        self._name = name

    @property
    def growth(self) -> Growth:
        return self._counter.growth

    def count(self, messages: Sequence[Message]) -> int:
        if not messages:
            return 0
        if self._counter is not HEURISTIC:
            counted = self._ask(messages)
            if counted is not None:
                return counted
            self._counter = HEURISTIC
        return HEURISTIC.count(messages)

    def count_one(self, message: Message) -> int:
        return self.count([message])

    def _ask(self, messages: Sequence[Message]) -> int | None:
        try:
            counted = self._counter.count(messages)
        except Exception as exc:  # noqa: BLE001  # foreign code; a history must not be lost over a count
            _tell_once(self._name, f"it raised {type(exc).__name__}")
            return None
        if isinstance(counted, Integral) and counted > 0:
            return int(counted)
        _tell_once(self._name, "it answered with no positive whole number")
        return None


def model_counter(model: CountsTokens, growth: ModelGrowth | None = None) -> TokenCounter:
    """What the model says, guarded. Without a `growth` it is the one that the model has itself.

    A model that failed is not asked again by this counter, so make one for each window.
    """
    return GuardedCounter(plain_model_counter(model, growth), type(model).__qualname__)


def plain_model_counter(model: CountsTokens, growth: ModelGrowth | None = None) -> TokenCounter:
    """The same without a guard: 0 is believed, and what the model raises is passed on."""
    said = growth or getattr(model, "token_growth", "unknown")
    return FunctionCounter(model.get_llm_num_tokens, "monotone" if said in ("monotone", "additive") else "unknown")


def tiktoken_counter(encoding: str | Encoding = "o200k_base") -> TokenCounter:
    """Tokens of a tiktoken encoding, given by name or as an object with `encode_ordinary`.

    A named one is used only if its file is on this machine: nothing is downloaded. Without it, or without tiktoken,
    this is `heuristic`, which is logged once.
    """
    found = local_encoding(encoding) if isinstance(encoding, str) else encoding
    if found is None:
        _tell_once(f"tiktoken {encoding}", "tiktoken is not installed, or the encoding's file is not in its cache")
        return HEURISTIC
    encode = found.encode_ordinary
    return AdditiveCounter(lambda message: _cost_by(message, lambda text: _encoded_length(text, encode)))


def counter_named(name: CounterName, model: CountsTokens | None = None) -> TokenCounter:
    """A built-in counter by its name. Raises SettingsError for an unknown name, and for "model" without a model."""
    if name == "model":
        if model is None:
            raise SettingsError('The token counter "model" needs a model to ask; give one, or choose "heuristic".')
        return model_counter(model)
    if name not in _BY_NAME:
        allowed = ", ".join([*_BY_NAME, "model"])
        raise SettingsError(f"The token counter {name!r:.40} is not known; choose one of {allowed}.")
    return _BY_NAME[name]()


def estimate_tokens(message: Message) -> int:
    """The documented estimate of session memory: a token for four characters, rounded down; 0 for no text.

    The arguments of tool calls count as JSON, files as what they declare.
    """
    characters = len(message.text)
    if message.tool_calls:  # of few messages, and every window counts very many
        characters += sum(len(json.dumps(dict(call.arguments), default=str)) for call in message.tool_calls)
    return characters // 4 + _media_tokens(message)


def estimate_total_tokens(messages: Sequence[Message]) -> int:
    """The sum of the estimates; 0 for no messages."""
    return CHARS4.count(messages)


def _heuristic(message: Message) -> int:
    return _cost_by(message, _estimate)


def _cost_by(message: Message, cost: Callable[[str], int]) -> int:
    return _MESSAGE_TOKENS + cost("".join(_texts(message))) + _media_tokens(message)


def _texts(message: Message) -> Iterator[str]:
    yield message.text
    for call in calls_of(message):
        yield call.name
        yield json.dumps(dict(call.arguments), default=str, ensure_ascii=False)


def _estimate(text: str) -> int:
    """A token for four characters, rounded up, and one for each that is wide."""
    wide = 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))
    return wide + math.ceil((len(text) - wide) / 4)


def _encoded_length(text: str, encode: Callable[[str], Sequence[int]]) -> int:
    """In pieces: an encoder's time grows with the square of a word's length, and a word may have megabytes."""
    return sum(len(encode(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterable[str]:
    return (text[at : at + _PIECE_CHARACTERS] for at in range(0, len(text), _PIECE_CHARACTERS))


def _media_tokens(message: Message) -> int:
    if not isinstance(message.content, list):
        return 0
    media = (part for part in message.content if isinstance(part, MediaPart))
    return sum(_MEDIA_TOKENS if part.tokens is None else max(0, part.tokens) for part in media)


@cache
def _tell_once(counter: str, reason: str) -> None:
    """A line in the log the first time only: the cache answers later calls."""
    _log.warning("token_counter_failed", counter=counter, reason=reason, instead="heuristic")


CHARS4: TokenCounter = AdditiveCounter(estimate_tokens)
HEURISTIC: TokenCounter = AdditiveCounter(_heuristic)
_BY_NAME: dict[str, Callable[[], TokenCounter]] = {
    "chars4": lambda: CHARS4,
    "heuristic": lambda: HEURISTIC,
    "tiktoken": tiktoken_counter,
}
