"""SlowButQualityRAG: processes a long text piece by piece, by one model or by several in parallel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from mnemoir.memory.discussions.parts import BETWEEN_SUMMARIES, CHUNK_BREAK, NO_SUMMARY, NONE_PRECEDING
from mnemoir.memory.discussions.reading import all_summaries, rolling_summary_text
from mnemoir.memory.spreading import Worker, spread
from mnemoir.workflows.asking import Question, ask
from mnemoir.workflows.config.memory import ListedEndpoint
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.memory_prompts import (
    ALL,
    CHUNK,
    RECENT,
    SUMMARY,
    marked_question,
    names_any,
    with_marks,
    without_later_system,
)
from mnemoir.workflows.node import ModelProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step

_RECENT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _DiscussionTexts:
    """The summaries of the discussion that the prompts name; empty for those they do not name."""

    summaries: Sequence[str] = ()
    summary: str | None = None


class Properties(ModelProperties):
    """Properties of a SlowButQualityRAG node."""

    target: Line = Field(alias="ragTarget", description="The text, with variables, cut at --ChunkBreak--.")
    rag_type: Line = Field("", alias="ragType", description="No effect.")
    endpoints: Sequence[ListedEndpoint] = Field(
        (), alias="multiModelList", description="Endpoints that share the pieces, in place of endpointName."
    )
    chunks_per_memory: object = Field(None, alias="chunksPerMemory", description="No effect.")


class SlowButQualityRag(ValueNode[Properties]):
    """Asks about each piece of a text and joins the answers.

    In the prompts, [TextChunk] is the piece; [Memory_file] and [Full_Memory_file] are the last three, and all, of the
    discussion's chunk summaries followed by the answers so far; [Chat_Summary] is its rolling summary. With prompts
    that name [Memory_file] or [Full_Memory_file] the pieces are processed one after the other, even with several
    endpoints.
    """

    kind = "SlowButQualityRAG"
    properties_type = Properties
    filled = ("systemPrompt", "prompt", "ragTarget")

    async def value(self, step: Step) -> str:
        """The joined answers; "" for prompts about a discussion's memory without a discussion."""
        said = self.properties
        raw = (step.raw_prompt("systemPrompt", said.system_prompt), step.raw_prompt("prompt", said.prompt))
        if step.discussion is None and names_any(raw, (RECENT, ALL, SUMMARY)):
            step.note("The prompts name a discussion's memory, but this conversation belongs to no discussion.")
            return ""
        pieces = [piece for piece in step.fill(said.target).split(CHUNK_BREAK) if piece.strip()]
        names = [listed.endpoint for listed in said.endpoints] or [said.endpoint]
        questions = [self._question(step, name) for name in names]
        kept = await self._discussion_texts(step, raw)
        if not names_any(raw, (RECENT, ALL)):
            return "".join(await spread(pieces, [_worker(step, question, kept, ()) for question in questions]))
        answers: list[str] = []
        for piece in pieces:  # each piece has all endpoints, so that the next one is asked when one fails
            answers += await spread([piece], [_worker(step, question, kept, answers) for question in questions])
        return "".join(answers)

    async def _discussion_texts(self, step: Step, prompts: Sequence[str]) -> _DiscussionTexts:
        memory, discussion = self.services.discussions, step.discussion
        if discussion is None:
            return _DiscussionTexts()
        reads_summaries, reads_summary = names_any(prompts, (RECENT, ALL)), names_any(prompts, (SUMMARY,))
        return _DiscussionTexts(
            summaries=await read_or(step, all_summaries(memory, discussion), []) if reads_summaries else (),
            summary=await read_or(step, rolling_summary_text(memory, discussion), None) if reads_summary else None,
        )

    def _question(self, step: Step, endpoint: str) -> Question:
        asked = self.properties.model_copy(update={"endpoint": endpoint, "adds_user_turn": True})
        return marked_question(replace(step, stamped=without_later_system(step.messages)), asked)


def _worker(step: Step, question: Question, kept: _DiscussionTexts, earlier: Sequence[str]) -> Worker[str, str]:
    async def ask_about_piece(index: int, piece: str) -> str:
        return await ask(step, with_marks(question, _values(piece, kept, earlier)))

    return ask_about_piece


def _values(piece: str, kept: _DiscussionTexts, earlier: Sequence[str]) -> Mapping[str, str]:
    known = [*kept.summaries, *(answer for answer in earlier if answer)]
    return {
        CHUNK: piece,
        RECENT: BETWEEN_SUMMARIES.join(known[-_RECENT:]) or NONE_PRECEDING,
        ALL: BETWEEN_SUMMARIES.join(known) or NONE_PRECEDING,
        SUMMARY: NO_SUMMARY if kept.summary is None else kept.summary,
    }
