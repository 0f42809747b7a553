"""Token counters, which measure how much of a model's context a list of messages takes.

`chars4` is the documented estimate of session memory. `heuristic` is more accurate: for English and program code it
is within a quarter of an encoder's count; settings, markup and joined emoji may cost two thirds more. `tiktoken`
counts with an encoding that is on this machine already, `model` calls the model. A file costs the tokens it declares,
else a fixed number; its bytes are never counted, because one screenshot would then push out a whole history.

tiktoken downloads an encoding when its file is missing or damaged. A memory server must not open connections by
itself, so tiktoken gets a name only after its file was found intact in tiktoken's cache.
"""

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar, cast

import structlog

from mnemoir.core import first_use
from mnemoir.core.conversations import MediaPart, Message, calls_of
from mnemoir.core.errors import SettingsError

_log = structlog.get_logger(__name__)

# name → the last part of the address that names tiktoken's cache file, and the SHA-256 that tiktoken requires
_FILES = {
    "r50k_base": ("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"),
    "p50k_base": ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"),
    "cl100k_base": ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    "o200k_harmony": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
Growth = Literal["additive", "monotone", "unknown"]
ModelGrowth = Literal["monotone", "unknown"]
CounterName = Literal["chars4", "heuristic", "tiktoken", "model"]
CountFunction = Callable[[Sequence[Message]], int]

_MEDIA_TOKENS = 85
_MESSAGE_TOKENS = 4
_PIECE_CHARACTERS = 8192
# Characters of about one token each: Hangul Jamo, CJK punctuation, kana, ideographs, Yi, Hangul syllables,
# compatibility forms, full width forms, pictographs.
_WIDE = first_use.pattern(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]+"
)

Countable = TypeVar("Countable", contravariant=True)


class Encoding(Protocol):
    """The methods of a tiktoken encoding that are used here."""

    def encode_ordinary(self, text: str, /) -> Sequence[int]: ...

    def decode(self, tokens: Sequence[int], /) -> str: ...


def local_encoding(name: str) -> Encoding | None:
    """The encoding; None without tiktoken, for an unknown name, or when its file is missing or damaged."""
    if not _is_at_hand(name, _cache_folder()):
        return None
    try:
        tiktoken = import_module("tiktoken")
    except ImportError:
        return None
    return cast(Encoding, tiktoken.get_encoding(name))


@cache  # the files have megabytes, and counters are created often
def _is_at_hand(name: str, folder: str) -> bool:
    if name not in _FILES or not folder:
        return False
    stem, digest = _FILES[name]
    try:
        found = Path(folder, hashlib.sha1(_ADDRESS.format(stem).encode()).hexdigest()).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(found).hexdigest() == digest


def _cache_folder() -> str:
    """tiktoken's cache folder, by its own two variables; "" when caching is off."""
    usual = str(Path(tempfile.gettempdir(), "data-gym-cache"))
    return os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", usual))


class Counter(Protocol[Countable]):
    """A token counter for messages of one kind; an empty list has 0 tokens.

    `growth` is the relation between counts: "additive" (a list costs the sum of its messages), "monotone" (a part
    never costs more than the whole), or "unknown".
    """

    @property
    def growth(self) -> Growth: ...

    def count(self, messages: Sequence[Countable]) -> int: ...

    def count_one(self, message: Countable) -> int: ...


class TokenCounter(Counter[Message], Protocol):
    """A token counter for stored messages."""


class CountsTokens(Protocol):
    """The method of a model that makes it a counter.

    It may also have an attribute `token_growth`; "monotone" declares that a part of a list never has a higher count
    than the whole. A window over 500 turns then takes about ten counts, otherwise one count per dropped turn.
    """

    def get_llm_num_tokens(self, messages: Sequence[Message], /) -> int: ...


class AdditiveCounter(Generic[Countable]):
    """A counter that sums the cost of each message; `cost` must not be negative."""

    growth: Growth = "additive"

    def __init__(self, cost: Callable[[Countable], int]) -> None:
        self._cost = cost

    def count(self, messages: Sequence[Countable]) -> int:
        return sum(map(self._cost, messages))

    def count_one(self, message: Countable) -> int:
        return self._cost(message)


class FunctionCounter:
    """A counter that calls a function on whole lists. A count of 0 is accepted and exceptions are passed on."""

    def __init__(self, function: CountFunction, growth: Growth = "unknown") -> None:
        self._function = function
        self.growth = growth

    def count(self, messages: Sequence[Message]) -> int:
        return self._function(messages) if messages else 0

    def count_one(self, message: Message) -> int:
        return self._function([message])


class GuardedCounter:
    """A counter that uses another one until that fails, and from then on the estimate `heuristic`.

    A failure is an exception, or a count of a non-empty list that is not a positive whole number: with a count of 0
    every history would fit. Each kind of failure is logged once per process.
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
        except Exception as exc:  # noqa: BLE001  # foreign code; a failed count must not lose a history
            _tell_once(self._name, f"it raised {type(exc).__name__}")
            return None
        if isinstance(counted, Integral) and counted > 0:
            return int(counted)
        _tell_once(self._name, "it answered with no positive whole number")
        return None


def model_counter(model: CountsTokens, growth: ModelGrowth | None = None) -> TokenCounter:
    """A guarded counter that calls the model. `growth` defaults to the model's own `token_growth`.

    After a failure the counter does not call the model again, so create one per window.
    """
    return GuardedCounter(plain_model_counter(model, growth), type(model).__qualname__)


def plain_model_counter(model: CountsTokens, growth: ModelGrowth | None = None) -> TokenCounter:
    """An unguarded counter that calls the model: 0 is accepted and exceptions are passed on."""
    said = growth or getattr(model, "token_growth", "unknown")
    return FunctionCounter(model.get_llm_num_tokens, "monotone" if said in ("monotone", "additive") else "unknown")


def tiktoken_counter(encoding: str | Encoding = "o200k_base") -> TokenCounter:
    """A counter with a tiktoken encoding, given by name or as an object with `encode_ordinary`.

    A named encoding is used only if its file is on this machine: nothing is downloaded. Without the file or tiktoken
    the counter is `heuristic`, which is logged once.
    """
    found = local_encoding(encoding) if isinstance(encoding, str) else encoding
    if found is None:
        _tell_once(f"tiktoken {encoding}", "tiktoken is not installed, or the encoding's file is not in its cache")
        return HEURISTIC
    encode = found.encode_ordinary
    return AdditiveCounter(lambda message: _cost_by(message, lambda text: _encoded_length(text, encode)))


def counter_named(name: CounterName, model: CountsTokens | None = None) -> TokenCounter:
    """The built-in counter of that name. Raises SettingsError for an unknown name and for "model" without a model."""
    if name == "model":
        if model is None:
            raise SettingsError('The token counter "model" needs a model to ask; give one, or choose "heuristic".')
        return model_counter(model)
    if name not in _BY_NAME:
        allowed = ", ".join([*_BY_NAME, "model"])
        raise SettingsError(f"The token counter {name!r:.40} is not known; choose one of {allowed}.")
    return _BY_NAME[name]()


def estimate_tokens(message: Message | Sequence[Message]) -> int:
    """The documented estimate of session memory: one token per four characters, rounded down; 0 without text.

    The arguments of tool calls count as JSON text, files as the tokens they declare. Of several messages it is the
    sum.
    """
    return CHARS4.count(message) if isinstance(message, Sequence) else _by_four(message)


def _by_four(message: Message) -> int:
    characters = len(message.text)
    if message.tool_calls:  # checked first: few messages have any, and a window counts very many
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
    """One token per four characters, rounded up, plus one per wide character."""
    wide = 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))
    return wide + math.ceil((len(text) - wide) / 4)


def _encoded_length(text: str, encode: Callable[[str], Sequence[int]]) -> int:
    """The sum over pieces: an encoder's time grows with the square of a word's length, which may be megabytes."""
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
    """Log a failure once; the cache skips repeated calls."""
    _log.warning("token_counter_failed", counter=counter, reason=reason, instead="heuristic")


CHARS4: TokenCounter = AdditiveCounter(_by_four)
HEURISTIC: TokenCounter = AdditiveCounter(_heuristic)
_BY_NAME: dict[str, Callable[[], TokenCounter]] = {
    "chars4": lambda: CHARS4,
    "heuristic": lambda: HEURISTIC,
    "tiktoken": tiktoken_counter,
}
