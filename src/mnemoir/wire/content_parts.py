"""Content of an answer that is no text but a list of parts, as some servers send it, whole or in pieces."""

from collections.abc import Iterator, Mapping

from mnemoir.core.events import ModelEvent, Note, Refusal, Text, Thinking
from mnemoir.wire import upstream
from mnemoir.wire.answers.error_shapes import raise_words_in

_TEXTS = (None, "text", "output_text")
_OF_PARTS = frozenset({"type", "text", "value", "content", "annotations", "logprobs"})
_THINKING = ("thinking", "reasoning", "reasoning_text", "reasoning_content")
_THOUGHTS = ("thinking", "reasoning", "reasoning_content", "text", "summary", "content")
_DEEPEST = 4  # a list of parts within a part


def read_content(content: object) -> Iterator[ModelEvent]:
    """The events of content: of a text or null, of a part, or of a list of parts. A Note names an unknown part
    without words.

    Raises ProviderInvalidOutput for an unknown part with words, and for anything else.
    """
    if isinstance(content, str):
        if content:
            yield Text(content)
    elif isinstance(content, list):
        for part in content:
            yield from _part(part)
    elif isinstance(content, Mapping):
        yield from _part(content)
    elif content is not None:
        raise upstream.unusable("content that is not text")


def _part(part: object) -> Iterator[ModelEvent]:
    if part is None:
        return
    if isinstance(part, str):
        part = {"text": part}
    if not isinstance(part, Mapping):
        raise upstream.unusable("a part that is not an object")
    kind = part.get("type")
    if kind in _TEXTS:
        given = part.get("text") or part.get("value") or part.get("content")
        text = upstream.text_or_none(_value_of(given), "a part")
        if given is None and part.keys() - _OF_PARTS:
            raise upstream.unusable("a part without a text")
        yield from (Text(text),) if text else ()
    elif kind in _THINKING:
        thought = next((words for name in _THOUGHTS if (words := _thinking_of(part.get(name), _DEEPEST))), "")
        yield from (Thinking(thought),) if thought else ()
    elif kind == "refusal":
        refusal = upstream.text_or_none(part.get("refusal"), "a refusal")
        yield from (Refusal(refusal),) if refusal else ()
    else:
        raise_words_in(part, str(kind), "a part")
        yield Note(f"A part of the answer is of the type {str(kind)[:40]!r}, which is not known; it was left out.")


def _value_of(text: object) -> object:
    """A text, which some servers put into an object beside its annotations."""
    return text.get("value") if isinstance(text, Mapping) else text


def _thinking_of(value: object, depth: int) -> str:
    """The text of a thought: a text, or texts in a list of parts."""
    if isinstance(value, str) or not depth:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        return "".join(_thinking_of(part, depth - 1) for part in value)
    return _thinking_of(value.get("text"), depth - 1) if isinstance(value, Mapping) else ""
