"""Chat answers without a language model: quoted memories, and a hint how to connect a model."""

import re
from collections.abc import Sequence

from mnemoir.core.fence import RecalledLine, fenced_lines, take_down
from mnemoir.core.messages import Message
from mnemoir.memory.facts.resemblance import overlap

HINT = (
    "No language model is connected, so I can only quote what I remember. To get real answers, set OPENAI_API_KEY, "
    "start Ollama, or name a model under `llm:` in mnemoir.yaml, and start Mnemoir again."
)
_QUESTION = re.compile(
    r"[?？]|^\W*(?:who|what|when|where|which|why|how|do|does|did|is|are|am|was|can|could|tell|remind)\b",
    re.IGNORECASE,
)
_FEW = 8  # up to this number all recalled memories are quoted, because the search chose them for this message


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
