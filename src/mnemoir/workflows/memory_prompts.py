"""Prompts about a discussion's memory: marks in square brackets stand for a chunk, for summaries, for the summary.

Variables are filled in first and the marks after them, all in one pass, so that nothing a person or a model wrote is
ever read as a mark or a variable.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnemoir.core.messages import Message
from mnemoir.workflows.asking import Question
from mnemoir.workflows.replies.thinking import ThinkingRule, remove_thinking

CHUNK = "[TextChunk]"
RECENT = "[Memory_file]"
ALL = "[Full_Memory_file]"
SUMMARY = "[Chat_Summary]"
SUMMARY_SO_FAR = "[CHAT_SUMMARY]"
LATEST = "[LATEST_MEMORIES]"

_MARKS = re.compile("|".join(re.escape(mark) for mark in (CHUNK, RECENT, ALL, SUMMARY, SUMMARY_SO_FAR, LATEST)))
_THINKING = ThinkingRule(start_tag="<think>", end_tag="</think>")
_REST_OF_THINKING = ThinkingRule(start_tag="<think>", end_tag="</think>", only_closing_tag=True)


def names_any(texts: Sequence[str], marks: Sequence[str]) -> bool:
    """Whether one of the texts holds one of the marks."""
    return any(mark in text for text in texts for mark in marks)


def with_marks(question: Question, values: Mapping[str, str]) -> Question:
    """The question with the marks of `values` replaced in both of its texts; its prompt is never None then."""
    return replace(
        question, system=_replaced(question.system, values), prompt=_replaced(question.prompt or "", values)
    )


def without_thinking(text: str) -> str:
    """What a model wrote, without the thinking in front of it, whether or not its endpoint is set to remove it."""
    answer = remove_thinking(text.lstrip(), _THINKING)
    if answer.lower().find("</think>") >= 0 and "<think>" not in answer.lower():
        answer = remove_thinking(answer, _REST_OF_THINKING)
    return answer.strip()


def without_later_system(messages: Sequence[Message]) -> list[Message]:
    """The conversation as prompts about memory read it: of system messages only those at its beginning."""
    begun = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return [message for index, message in enumerate(messages) if index < begun or message.role != "system"]


def _replaced(text: str, values: Mapping[str, str]) -> str:
    return _MARKS.sub(lambda found: values.get(found[0], found[0]), text)
