"""Extracts facts from a conversation: the model proposes them, plain rules filter them.

A long conversation is read in windows. A truncated answer is requested once more with twice the token budget, then
for each half of the window; it is never treated as a complete one.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog

from mnemoir.core.clock import to_text
from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.conversation import digest, windows
from mnemoir.memory.facts.exchange import FACTS, CutOff, Exchange, Question, strings
from mnemoir.memory.facts.requests import MOST_CHARACTERS, MOST_FACTS, FactSettings, Turn
from mnemoir.memory.facts.secrets import holds_secret

_log = structlog.get_logger(__name__)


async def extract(
    exchange: Exchange, policy: str, turns: Sequence[Turn], *, now: datetime, settings: FactSettings
) -> list[str]:
    """The facts of a conversation, each once, without secrets, at most MOST_FACTS; [] when there are none.

    `now` is the conversation's date where a turn does not tell its own. Raises ProviderError.
    """
    found: list[str] = []
    # in a thread: cutting a pasted book takes a fifth of a second
    for window in await asyncio.to_thread(windows, turns, settings.window_tokens):
        reading = _Reading(exchange, policy, now)
        found += await reading.facts(window, settings.answer_tokens)
    return admissible(found, conversation=digest(turns))


class _Reading:
    """Reads one window."""

    def __init__(self, exchange: Exchange, policy: str, now: datetime) -> None:
        self._exchange = exchange
        self._policy = policy
        self._now = now

    async def facts(self, window: Sequence[Turn], tokens: int) -> list[str]:
        try:
            return await self._ask(window, tokens)
        except CutOff:
            return await self._halved(window, tokens * 2)

    async def _halved(self, window: Sequence[Turn], tokens: int) -> list[str]:
        try:
            return await self._ask(window, tokens)
        except CutOff as exc:
            if len(window) == 1:
                raise ProviderInvalidOutput(
                    f"The facts of a single turn did not fit into {tokens} tokens. Nothing was stored; "
                    "the model may be running in circles, try another one."
                ) from exc
        half = len(window) // 2
        return [*await self._halved(window[:half], tokens), *await self._halved(window[half:], tokens)]

    async def _ask(self, window: Sequence[Turn], tokens: int) -> list[str]:
        question = Question(policy=self._policy, document=self._document(window), output=FACTS)
        return await self._exchange.ask(question, read_facts, tokens=tokens) or []

    def _document(self, window: Sequence[Turn]) -> Mapping[str, Any]:
        said_at = next((turn.said_at for turn in reversed(window) if turn.said_at), self._now)
        return {"conversation_date": to_text(said_at), "turns": [_shown(turn) for turn in window]}


def read_facts(value: Any) -> list[str] | None:
    """The facts of an answer `{"facts": [...]}`; None for any other shape."""
    facts = value.get("facts") if isinstance(value, Mapping) else None
    return strings(facts) if isinstance(facts, list) else None


def admissible(found: Sequence[str], *, conversation: str) -> list[str]:
    """The facts that may be stored: not empty, not too long, no secret, each once, not too many.

    Dropped facts are counted in the log with the digest of their conversation and without their text.
    """
    kept: dict[bytes, str] = {}
    dropped = {"empty": 0, "too_long": 0, "secret": 0, "too_many": 0}
    for fact in found:
        text = " ".join(fact.split()) if len(fact) <= 2 * MOST_CHARACTERS else fact
        fault = _fault(text)
        key = b"" if fault else content_hash(text)
        if not fault and key not in kept and len(kept) >= MOST_FACTS:
            fault = "too_many"
        if fault:
            dropped[fault] += 1
        else:
            kept.setdefault(key, text)
    if any(dropped.values()):
        _log.warning("facts dropped", conversation=conversation, **{k: n for k, n in dropped.items() if n})
    return list(kept.values())


def _fault(text: str) -> str | None:
    if not any(char.isalnum() for char in text):
        return "empty"
    if len(text) > MOST_CHARACTERS:
        return "too_long"
    return "secret" if holds_secret(text) else None


def _shown(turn: Turn) -> Mapping[str, str]:
    name = {"name": turn.speaker} if turn.speaker else {}
    return {"role": turn.role, **name, "text": turn.text}
