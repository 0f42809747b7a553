"""The offline model: a rule-based chat model, so that Mnemoir works on a machine without a language model.

It extracts and reconciles facts by rule, summarises by extraction, and answers a chat by quoting recalled
memories. The same request always gets the same answer.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import Finished, FinishReason, ModelEvent, Reply, Text, Usage
from mnemoir.core.messages import JsonSchema, Message, ModelRequest
from mnemoir.core.sentences import sentences_of
from mnemoir.core.text import RecalledLine, estimate_tokens, fenced_lines, take_down
from mnemoir.memory.facts.decide.resemblance import overlap, words_of
from mnemoir.ports.llm import ChatModel, LastCalls
from mnemoir.providers.llm.offline.decide import decide

HINT = (
    "No language model is connected, so I can only quote what I remember. To get real answers, connect one in the "
    "web UI: Connect, Language model. Or set OPENAI_API_KEY, or start Ollama, and start Mnemoir again."
)
_QUESTION = re.compile(
    r"[?？]|^\W*(?:who|what|when|where|which|why|how|do|does|did|is|are|am|was|can|could|tell|remind)\b",
    re.IGNORECASE,
)
_FEW = 8  # up to this number all recalled memories are quoted, because the search chose them for this message
_PIECE = re.compile(r"(?:\S+\s*){1,8}|\s+")
_SUMMARY_WANTED = re.compile(r"\bsummar(?:y|ise|ize|ies)\b", re.IGNORECASE)
_SUMMARY_SENTENCES = 3


class OfflineModel:
    """The rule-based chat model. Raises ProviderRefused for structured output it has no rules for."""

    def __init__(self) -> None:
        self.last_calls = LastCalls()

    @property
    def name(self) -> str:
        return "offline"

    @property
    def provider(self) -> str:
        return "offline"

    def address(self, *, stream: bool) -> None:
        """None: no request leaves this process."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        reply = await self.ask(request)
        for piece in _PIECE.findall(reply.text):
            yield [Text(piece)]
        yield [reply.usage, Finished(reason=reply.reason)]

    async def ask(self, request: ModelRequest) -> Reply:
        with self.last_calls.noting():
            return await asyncio.to_thread(_reply, request)  # the rules need some 20 ms for a long conversation

    async def aclose(self) -> None:
        """Does nothing: the model holds no resources."""


def _reply(request: ModelRequest) -> Reply:
    text, reason = _structured_output(request, request.output) if request.output else _chat(request)
    prompt = sum(estimate_tokens(message.text) for message in request.messages)
    return Reply(text=text, reason=reason, usage=Usage(input_tokens=prompt, output_tokens=estimate_tokens(text)))


def _structured_output(request: ModelRequest, output: JsonSchema) -> tuple[str, FinishReason]:
    rules = _BY_SCHEMA.get(output.name)
    if rules is None:
        raise ProviderRefused(
            f"The offline model has no rules for structured output named {output.name[:64]!r}. {HINT}",
            code="llm_bad_request",
        )
    return orjson.dumps(rules(_document(request))).decode(), "stop"


def _document(request: ModelRequest) -> Mapping[str, Any]:
    """The JSON object in the last user message. Raises ProviderRefused when the message is not one."""
    try:
        value = orjson.loads(_last_user_text(request))
    except orjson.JSONDecodeError as exc:
        raise ProviderRefused("The offline model was asked for structured output over something not JSON.") from exc
    if not isinstance(value, Mapping):
        raise ProviderRefused("The offline model was asked for structured output over JSON that is no object.")
    return value


def _chat(request: ModelRequest) -> tuple[str, FinishReason]:
    asked = " ".join(message.text for message in request.messages if message.role in ("system", "developer"))
    if _SUMMARY_WANTED.search(asked):
        text = summarise(_last_user_text(request), _SUMMARY_SENTENCES)
    else:
        text = answer(request.messages)
    return _within(text, request.sampling.max_tokens)


def answer(messages: Sequence[Message]) -> str:
    """The reply to the last user message: the memories recalled for it, then the hint."""
    last = next((message.text for message in reversed(messages) if message.role == "user"), "")
    said = take_down(last)
    lines = bearing_on(said, fenced_lines(last))
    if not lines:
        return f"I remember nothing about that.\n\n{HINT}" if _QUESTION.search(said) else HINT
    bullets = "\n".join(f"- {line.text}" + (f" ({line.day})" if line.day else "") for line in lines)
    return f"This is what I remember that may bear on it:\n\n{bullets}\n\n{HINT}"


def bearing_on(question: str, lines: Sequence[RecalledLine]) -> list[RecalledLine]:
    """The lines to quote, in recalled order: all up to `_FEW`, else those that share most words with the question."""
    if len(lines) <= _FEW:
        return list(lines)
    nearest = sorted(range(len(lines)), key=lambda at: (-overlap(question, lines[at].text), at))[:_FEW]
    return [lines[at] for at in sorted(nearest)]


def _within(text: str, most_tokens: int | None) -> tuple[str, FinishReason]:
    """The text, cut after the last word within the caller's token limit, and the finish reason."""
    if most_tokens is None or estimate_tokens(text) <= most_tokens:
        return text, "stop"
    kept = ""
    for piece in re.findall(r"\S+\s*", text):
        if estimate_tokens(kept + piece) > most_tokens:
            break
        kept += piece
    return kept, "length"


def _last_user_text(request: ModelRequest) -> str:
    return next((message.text for message in reversed(request.messages) if message.role == "user"), "")


def _summary(document: Mapping[str, Any]) -> dict[str, str]:
    """`{"text", "sentences"?}` to `{"summary"}`; three sentences by default."""
    sentences = document.get("sentences")
    wanted = sentences if isinstance(sentences, int) and sentences > 0 else _SUMMARY_SENTENCES
    return {"summary": summarise(str(document.get("text", "")), wanted)}


def _facts(document: Mapping[str, Any]) -> Mapping[str, Any]:
    from mnemoir.providers.llm.offline.extract import extract  # compiling its rules takes 50 ms

    return extract(document)


_BY_SCHEMA: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "memory_facts": _facts,
    "memory_changes": decide,
    "summary": _summary,
}

_: type[ChatModel] = OfflineModel  # checked, never run


def summarise(text: str, sentences: int = 3) -> str:
    """The `sentences` most central sentences of `text`; the whole text when it has no more, "" for an empty text.

    The weight of a sentence is the average frequency of its words; the first sentence weighs a little more, because
    people name their subject first.
    """
    found = list(sentences_of(text))
    if len(found) <= sentences:
        return " ".join(found)
    occurring = Counter(stem for sentence in found for stem in set(words_of(sentence).stems))
    best = sorted(range(len(found)), key=lambda at: (-_weight(found[at], occurring) - 0.5 * (at == 0), at))
    return " ".join(found[at] for at in sorted(best[: max(0, sentences)]))


def _weight(sentence: str, occurring: Counter[str]) -> float:
    stems = set(words_of(sentence).stems)
    return sum(occurring[stem] for stem in stems) / (len(stems) + 2)
