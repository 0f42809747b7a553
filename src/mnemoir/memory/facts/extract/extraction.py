"""Extracts facts from a conversation, and makes all model calls of fact memory whose answers must be JSON.

Prompts are kept in separate files; requests also carry the schema of the answer. The constant text comes first in
every request, so that a provider can cache it. A project may replace the list of what to keep; the rules around it,
which guard against injected instructions, always stay.

Models behind compatible gateways wrap JSON in prose or break its quotes; both are repaired. For an answer beyond
repair the model is asked once more, then an error is raised: facts must never be lost silently. A truncated answer
is never repaired, because its missing part would go unnoticed.

A long conversation is read in windows. A truncated answer is requested once more with twice the token budget, then
for each half of the window; it is never treated as a complete one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import orjson
import structlog

from mnemoir.core.clock import to_local_text
from mnemoir.core.errors import ProviderInvalidOutput, ProviderTimeout
from mnemoir.core.events import Reply, Usage
from mnemoir.core.messages import JsonSchema, ModelRequest, Sampling, text_message
from mnemoir.core.sentences import is_title
from mnemoir.core.text import content_hash
from mnemoir.core.zones import in_zone_of_speaker, zone_by_name
from mnemoir.memory.facts.extract.answers import read_facts
from mnemoir.memory.facts.extract.conversation import digest, spells, windows
from mnemoir.memory.facts.extract.requests import MOST_CHARACTERS, MOST_FACTS, FactSettings, Statement, Turn
from mnemoir.memory.model_json import read_groups
from mnemoir.ports.llm import ChatModel
from mnemoir.privacy.secrets import holds_secret, repeats_secret, secrets_in

_log = structlog.get_logger(__name__)
T = TypeVar("T")

_TRIES = 2
_LONGEST_S = 60.0  # repeats after a refusal included
_BEFORE_DEGREES = {"a", "an", "the", "ein", "eine", "bin", "een", "un", "une", "una", "uno", "um", "uma"}


class CutOff(Exception):
    """Raised when the model reached its token budget before the answer was complete."""


class UnreadableAnswer(ProviderInvalidOutput):
    """Raised when two answers hold nothing of what was asked for. Unlike a broken connection, they were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A model request: `policy` is constant text, `document` the data it applies to."""

    policy: str
    document: Mapping[str, Any]
    output: JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaking:
    """When turns were said that tell no time of their own, None for now; and the name of the speaker's time zone.

    A time with an offset other than zero is read at that offset. Without a zone it is the server's.
    """

    said_at: datetime | None = None
    zone: str | None = None


class Exchange:
    """Makes the model calls of one add; `usage` is their total cost. `used` gets each answer, useful or not.

    `left_out` counts the facts that may not be stored, by their fault.
    """

    def __init__(self, model: ChatModel, used: Callable[[ModelRequest, Reply], None] = lambda request, reply: None):
        self._model = model
        self._used = used
        self.usage = Usage()
        self.left_out: Counter[str] = Counter()

    @property
    def is_offline(self) -> bool:
        """True when the model works by rules alone."""
        return self._model.provider == "offline"

    async def ask(self, question: Question, read: Callable[[Sequence[Any]], T | None], *, tokens: int) -> T | None:
        """Ask and return the answer as parsed by `read` from its values; None when the provider withheld it.

        Raises CutOff, or UnreadableAnswer when `read` finds nothing usable in two answers.
        """
        request = _request(question, tokens)
        for attempt in range(_TRIES):
            reply = await self._ask(request)
            self.usage = self.usage + reply.usage
            self._used(request, reply)
            if reply.reason == "length":
                raise CutOff
            if reply.reason == "content_filter" or reply.refusal:
                _log.info("answer withheld by the provider", asked=question.output.name)
                return None
            found = _read(reply, read)
            if found is not None:
                return found
            _log.warning("model answer unusable", asked=question.output.name, attempt=attempt + 1)
        raise UnreadableAnswer(
            f"Model {self._model.name!r} answered twice with something other than the JSON asked for "
            f"({question.output.name}). Nothing was stored; use a model that can follow a JSON schema."
        )

    async def _ask(self, request: ModelRequest) -> Reply:
        try:
            async with asyncio.timeout(_LONGEST_S):
                return await self._model.ask(request)
        except TimeoutError as exc:
            raise ProviderTimeout(
                f"Model {self._model.name!r} gave no whole answer in {_LONGEST_S:g} s. Nothing was stored; try again."
            ) from exc


def _request(question: Question, tokens: int) -> ModelRequest:
    document = orjson.dumps(question.document).decode()
    return ModelRequest(
        messages=(text_message("system", question.policy), text_message("user", document)),
        output=question.output,
        think=False,
        sampling=Sampling(max_tokens=tokens),
        added=("response_format", "max_tokens", "think"),
    )


def _read(reply: Reply, read: Callable[[Sequence[Any]], T | None]) -> T | None:
    """What `read` makes of the last values of the answer that say something, else of empty ones; None of none."""
    readings = [found for values in read_groups(reply.text) if (found := read(values)) is not None]
    return next(filter(None, readings), readings[0] if readings else None)


def default_extraction_prompt() -> str:
    """The default list of what to keep, for projects without their own."""
    return _prompt("extract.md")


def extraction_policy(project_prompt: str | None) -> str:
    """The instructions of extraction, with the project's list of what to keep or the default one."""
    kept = project_prompt if project_prompt and project_prompt.strip() else default_extraction_prompt()
    return f"{_prompt('extract_frame.md')}\n{kept.strip()}"


def outside_policy(project_prompt: str | None) -> str:
    """The instructions of extraction from what a tool or a document says."""
    kept = project_prompt if project_prompt and project_prompt.strip() else default_extraction_prompt()
    return f"{_prompt('extract_outside.md')}\n{kept.strip()}"


def suspect_policy() -> str:
    """The instructions for finding instructions among facts."""
    return _prompt("suspect.md")


def reconciliation_policy() -> str:
    """The instructions of reconciliation."""
    return _prompt("reconcile.md")


@cache
def _prompt(name: str) -> str:
    return (files(__package__) / "prompts" / name).read_text(encoding="utf-8").strip()


def _object(**properties: Any) -> dict[str, Any]:  # a JSON Schema is open by nature
    """A schema of an object in the strict dialect: all members required, no others allowed."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


FACTS = JsonSchema(
    name="memory_facts", schema=_object(facts={"type": "array", "items": {"type": "string"}}), strict=True
)
SUSPECTS = JsonSchema(
    name="memory_suspects", schema=_object(suspected={"type": "array", "items": {"type": "integer"}}), strict=True
)
CHANGES = JsonSchema(
    name="memory_changes",
    schema=_object(
        memory={
            "type": "array",
            "items": _object(
                id={"type": "string"},
                text={"type": "string"},
                event={"type": "string", "enum": ["ADD", "UPDATE", "DELETE", "NONE"]},
                old_memory={"type": ["string", "null"]},
            ),
        }
    ),
    strict=True,
)


async def extract(
    exchange: Exchange,
    policy: str,
    turns: Sequence[Turn],
    *,
    now: datetime,
    settings: FactSettings,
    when: Speaking | None = None,
) -> list[Statement]:
    """The facts of a conversation, each once, without secrets, at most MOST_FACTS; [] when there are none.

    What was said on different days is read apart, oldest first. The model is shown times in the zone of the speaker.
    Raises ProviderError.
    """
    found: list[Statement] = []
    when = when or Speaking()
    for spell in spells(turns, when.said_at, now):
        # in a thread: cutting a pasted book takes a fifth of a second
        for window in await asyncio.to_thread(windows, spell, settings.window_tokens):
            reading = _Reading(exchange, policy, now, zone_by_name(when.zone or ""))
            facts = await reading.facts(window, settings.answer_tokens)
            found += [Statement(fact, window[-1].said_at) for fact in facts]
    told = await asyncio.to_thread(secrets_in, [turn.text for turn in turns])
    kept, faults = admissible(found, conversation=digest(turns), secrets=told)
    exchange.left_out.update(faults)
    return kept


class _Reading:
    """Reads one window."""

    def __init__(self, exchange: Exchange, policy: str, now: datetime, zone: tzinfo | None) -> None:
        self._exchange = exchange
        self._policy = policy
        self._now = now
        self._zone = zone

    async def facts(self, window: Sequence[Turn], tokens: int) -> list[str]:
        try:
            return await self._ask(window, tokens)
        except CutOff:
            return await self._ask_or_halve(window, tokens * 2)

    async def _ask_or_halve(self, window: Sequence[Turn], tokens: int) -> list[str]:
        try:
            return await self._ask(window, tokens)
        except CutOff as exc:
            if len(window) == 1:
                raise ProviderInvalidOutput(
                    f"The facts of a single turn did not fit into {tokens} tokens. Nothing was stored; "
                    "the model may be running in circles, try another one."
                ) from exc
        half = len(window) // 2
        return [*await self._ask_or_halve(window[:half], tokens), *await self._ask_or_halve(window[half:], tokens)]

    async def _ask(self, window: Sequence[Turn], tokens: int) -> list[str]:
        question = Question(policy=self._policy, document=self._document(window), output=FACTS)
        return await self._exchange.ask(question, read_facts, tokens=tokens) or []

    def _document(self, window: Sequence[Turn]) -> Mapping[str, Any]:
        said_at = next((turn.said_at for turn in reversed(window) if turn.said_at), self._now)
        said_at = in_zone_of_speaker(said_at, self._zone)
        return {"conversation_date": to_local_text(said_at), "turns": [_turn_document(turn) for turn in window]}


def admissible(
    found: Sequence[Statement], *, conversation: str, secrets: Collection[str] = ()
) -> tuple[list[Statement], Mapping[str, int]]:
    """The facts that may be stored: not empty, not too long, no secret, each once as said last, not too many.

    `secrets` are those of the conversation, which a model may repeat in words that announce none. Dropped facts are
    counted by their fault, in the log with the digest of their conversation and without their text.
    """
    kept: dict[bytes, Statement] = {}
    dropped: Counter[str] = Counter()
    for fact in found:
        text = " ".join(fact.text.split()) if len(fact.text) <= 2 * MOST_CHARACTERS else fact.text
        fault = _fault(text) or ("secret" if repeats_secret(text, secrets) else None)
        key = b"" if fault else content_hash(text)
        if not fault and key not in kept and len(kept) >= MOST_FACTS:
            fault = "too_many"
        if fault:
            dropped[fault] += 1
        else:
            kept[key] = Statement(kept[key].text if key in kept else text, fact.said_at)
    if dropped:
        _log.warning("facts dropped", conversation=conversation, **dropped)
    return list(kept.values()), dropped


def _fault(text: str) -> str | None:
    if not any(char.isalnum() for char in text):
        return "empty"
    if len(text) > MOST_CHARACTERS:
        return "too_long"
    if _is_cut_off(text):
        return "cut_off"
    return "secret" if holds_secret(text) else None


def _is_cut_off(text: str) -> bool:
    """True for a fact that ends in a title whose name is missing: "Lives in St", but not "Lives on Elm St"."""
    before, _, last = text.rpartition(" ")
    previous = before.rpartition(" ")[2]
    names_nobody = previous[:1].isalpha() and previous.islower() and previous not in _BEFORE_DEGREES
    return names_nobody and last[:1].isupper() and is_title(last)


def _turn_document(turn: Turn) -> Mapping[str, str]:
    name = {"name": turn.speaker} if turn.speaker else {}
    return {"role": turn.role, **name, "text": turn.text}
