"""Prompts about a discussion's memory, with marks in square brackets for a chunk and for summaries.

Variables are filled in first, then all marks in one pass. Only marks in the prompts themselves are replaced: text of
a person or a model is never read as a mark or a variable.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.messages import Message
from mnemoir.core.thinking import without_thinking
from mnemoir.memory.discussions.parts import Written
from mnemoir.workflows.asking import Question, ask_and_name, question_of
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.run import Override, Overrides
from mnemoir.workflows.step import Step

CHUNK = "[TextChunk]"
RECENT = "[Memory_file]"
ALL = "[Full_Memory_file]"
SUMMARY = "[Chat_Summary]"
SUMMARY_SO_FAR = "[CHAT_SUMMARY]"
LATEST = "[LATEST_MEMORIES]"

_SECRET = secrets.token_hex(16)  # replaces marks while variables are filled in; authors of texts cannot know it
_HIDDEN = {mark: f"<{_SECRET}:{mark[1:-1]}>" for mark in (CHUNK, RECENT, ALL, SUMMARY, SUMMARY_SO_FAR, LATEST)}
_SHOWN = {hidden: mark for mark, hidden in _HIDDEN.items()}
_ANY_MARK = re.compile("|".join(map(re.escape, _HIDDEN)))
_ANY_HIDDEN = re.compile("|".join(map(re.escape, _SHOWN)))


def names_any(texts: Sequence[str], marks: Sequence[str]) -> bool:
    """True when one of the texts contains one of the marks."""
    return any(mark in text for text in texts for mark in marks)


def marked_question(step: Step, properties: ModelProperties) -> Question:
    """A node's question with its variables filled in, and its marks still to be replaced by `with_marks`."""
    overrides = Overrides(
        system_prompt=_override(step.overrides.system_prompt), prompt=_override(step.overrides.prompt)
    )
    texts = {
        "system_prompt": _with_hidden_marks(properties.system_prompt),
        "prompt": _with_hidden_marks(properties.prompt),
    }
    return question_of(replace(step, overrides=overrides), properties.model_copy(update=texts))


def with_marks(question: Question, values: Mapping[str, str]) -> Question:
    """A `marked_question` with its marks replaced; marks without a value stay. Its prompt is then never None."""
    return replace(
        question, system=_with_values(question.system, values), prompt=_with_values(question.prompt or "", values)
    )


async def written_answer(step: Step, question: Question) -> Written:
    """The answer without thinking, and the model that gave it.

    Raises ProviderError as `ask` does, and for a withheld answer, since no memory is made of a partial answer.
    """
    reply, by = await ask_and_name(step, question)
    if reply.reason == "content_filter" or reply.refusal:
        raise ProviderRefused(f"{by} withheld its answer. Ask another model, or change the prompts.")
    return Written(text=without_thinking(reply.text), by=by)


def without_later_system(messages: Sequence[Message]) -> list[Message]:
    """The conversation for prompts about memory: without system messages, except those at its beginning."""
    begun = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return [message for index, message in enumerate(messages) if index < begun or message.role != "system"]


def _override(given: Override | None) -> Override | None:
    return None if given is None else replace(given, text=_with_hidden_marks(given.text))


def _with_hidden_marks(text: str) -> str:
    return _ANY_MARK.sub(lambda found: _HIDDEN[found[0]], text)


def _with_values(text: str, values: Mapping[str, str]) -> str:
    return _ANY_HIDDEN.sub(lambda found: values.get(mark := _SHOWN[found[0]], mark), text)
