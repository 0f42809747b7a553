"""SlowButQualityRAG: a long text worked through piece by piece, by one model or by several at a time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from mnemoir.core.messages import Message
from mnemoir.workflows.asking import Question, ask, question_of
from mnemoir.workflows.config.model import ConfigModel, Line
from mnemoir.workflows.node import ModelProperties, ValueNode
from mnemoir.workflows.spreading import Worker, spread
from mnemoir.workflows.step import Step

_BREAK = "--ChunkBreak--"
_BETWEEN_MEMORIES = "\n--------------\n"
_RECENT = 3
_NO_MEMORIES = "No preceding memories to show"
_NO_SUMMARY = "There is not yet a summary file"
_PLACES = re.compile(r"\[(?:Memory_file|Full_Memory_file|Chat_Summary|TextChunk)\]")
_OF_EARLIER_PIECES = ("[Memory_file]", "[Full_Memory_file]")
_OF_DISCUSSIONS = (*_OF_EARLIER_PIECES, "[Chat_Summary]")


class Listed(ConfigModel):
    """One of several endpoints."""

    endpoint: Line = Field(alias="endpointName", description="A file in Endpoints/.")


class Properties(ModelProperties):
    """What a SlowButQualityRAG node may say."""

    target: Line = Field(alias="ragTarget", description="The text, with variables, cut at --ChunkBreak--.")
    rag_type: Line = Field("", alias="ragType", description="No effect.")
    endpoints: Sequence[Listed] = Field(
        (), alias="multiModelList", description="Endpoints that share the pieces, in place of endpointName."
    )
    chunks_per_memory: object = Field(None, alias="chunksPerMemory", description="No effect.")


class SlowButQualityRag(ValueNode[Properties]):
    """Asks about each piece of a text and joins the answers.

    In the prompts, [TextChunk] is the piece, [Memory_file] and [Full_Memory_file] are the last three and all answers
    so far. Prompts that name these two take the pieces one after the other, even with several endpoints.
    """

    kind = "SlowButQualityRAG"
    properties_type = Properties
    filled = ("systemPrompt", "prompt", "ragTarget")

    async def value(self, step: Step) -> str:
        """The joined answers; "" for prompts about a discussion's memory where there is no discussion."""
        said = self.properties
        raw = step.raw_prompt("systemPrompt", said.system_prompt) + step.raw_prompt("prompt", said.prompt)
        if step.run.turn.discussion is None and _names(raw, _OF_DISCUSSIONS):
            step.note("The prompts speak of a discussion's memory, and this conversation belongs to no discussion.")
            return ""
        pieces = [piece for piece in step.fill(said.target).split(_BREAK) if piece.strip()]
        names = [listed.endpoint for listed in said.endpoints] or [said.endpoint]
        questions = [self._question(step, name) for name in names]
        if not _names(raw, _OF_EARLIER_PIECES):
            return "".join(await spread(pieces, [_worker(step, question, ()) for question in questions]))
        answers: list[str] = []
        for piece in pieces:  # each is open to all endpoints, so that the next takes over where one fails
            answers += await spread([piece], [_worker(step, question, answers) for question in questions])
        return "".join(answers)

    def _question(self, step: Step, endpoint: str) -> Question:
        asked = self.properties.model_copy(update={"endpoint": endpoint, "adds_user_turn": True})
        question = question_of(replace(step, stamped=_without_later_system(step)), asked)
        return replace(question, prompt=question.prompt or "")


def _worker(step: Step, question: Question, earlier: Sequence[str]) -> Worker[str]:
    async def work(index: int, piece: str) -> str:
        places = _places(piece, [answer for answer in earlier if answer])
        return await ask(
            step, replace(question, system=_put(question.system, places), prompt=_put(question.prompt or "", places))
        )

    return work


def _places(piece: str, earlier: Sequence[str]) -> Mapping[str, str]:
    return {
        "[TextChunk]": piece,
        "[Memory_file]": _BETWEEN_MEMORIES.join(earlier[-_RECENT:]) or _NO_MEMORIES,
        "[Full_Memory_file]": _BETWEEN_MEMORIES.join(earlier) or _NO_MEMORIES,
        "[Chat_Summary]": _NO_SUMMARY,
    }


def _put(text: str, places: Mapping[str, str]) -> str:
    """All in one pass: what is put in is not read again."""
    return _PLACES.sub(lambda found: places[found[0]], text)


def _names(text: str, places: Sequence[str]) -> bool:
    return any(place in text for place in places)


def _without_later_system(step: Step) -> list[Message]:
    """The conversation as prompts about pieces read it: of system messages only those at the beginning."""
    begun = next((index for index, message in enumerate(step.messages) if message.role != "system"), None)
    return [
        message
        for index, message in enumerate(step.messages)
        if begun is None or index < begun or message.role != "system"
    ]
