"""Making memories of a discussion by model calls, one for each chunk, as its settings file says."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import Message
from mnemoir.core.runs import WrittenKind, WrittenMemory
from mnemoir.core.thinking import without_thinking
from mnemoir.memory.discussions.chunk_summaries import (
    Summarise,
    SummaryInputs,
    make_chunk_summaries,
    plan_chunk_summaries,
)
from mnemoir.memory.discussions.parts import NONE_PRECEDING, ChunkPolicy, Control, Made, Plan, Written
from mnemoir.memory.discussions.records import (
    EXTRACTION_PROMPT,
    EXTRACTION_SYSTEM_PROMPT,
    Extract,
    chunk_for_prompt,
    make_records,
    plan_records,
)
from mnemoir.workflows.asking import Question
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.memory_prompts import (
    ALL,
    CHUNK,
    RECENT,
    SUMMARY,
    marked_question,
    names_any,
    with_marks,
    without_later_system,
    written_answer,
)
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.run import NO_OVERRIDES
from mnemoir.workflows.step import Step
from mnemoir.workflows.tracing import output_text

_log = structlog.get_logger(__name__)

FEWEST_MESSAGES = 3  # no memories are made of a conversation with fewer


def without_system_messages(messages: Sequence[Message]) -> list[Message]:
    """The messages that memories are made of: all but system messages."""
    return [message for message in messages if message.role != "system"]


class MemoryMaker:
    """Makes memories of one discussion as its settings file says. `step` is the step of the node that runs it."""

    def __init__(self, step: Step, discussion: Discussion, settings: DiscussionSettings) -> None:
        self._step = replace(step, overrides=NO_OVERRIDES, stamped=without_later_system(step.run.turn.messages))
        self._memory = step.services.discussions
        self._discussion = discussion
        self._settings = settings

    async def summaries(self, control: Control, policy: ChunkPolicy | None = None) -> Made:
        """Make chunk summaries, if there are enough new messages. `policy` None means that of the settings."""
        return await make_chunk_summaries(
            self._memory,
            self._discussion,
            without_system_messages(self._step.run.turn.messages),
            policy or self.policy(records=False),
            self._summarising(),
            reads_earlier=self._reads(RECENT, ALL),
            reads_summary=self._reads(SUMMARY),
            control=control,
        )

    async def records(self, control: Control, policy: ChunkPolicy | None = None) -> Made:
        """Make records, as `summaries` makes chunk summaries."""
        return await make_records(
            self._memory,
            self._discussion,
            without_system_messages(self._step.run.turn.messages),
            policy or self.policy(records=True),
            self._extracting(),
            control=control,
        )

    async def plan(self, policy: ChunkPolicy | None = None) -> Plan:
        """The work that making memories would do now, for the kind that the settings name."""
        plan = plan_records if self._settings.uses_records else plan_chunk_summaries
        said = without_system_messages(self._step.run.turn.messages)
        return await plan(
            self._memory, self._discussion, said, policy or self.policy(records=self._settings.uses_records)
        )

    def policy(self, *, records: bool) -> ChunkPolicy:
        """The rule for when chunks are made and how large, from the settings for chunk summaries or records."""
        said = self._settings
        if records:
            return ChunkPolicy(
                target_tokens=said.record_chunk_tokens,
                most_messages=said.most_messages_between_record_chunks,
                lookback=said.lookback if said.record_lookback is None else said.record_lookback,
            )
        return ChunkPolicy(
            target_tokens=said.chunk_tokens,
            most_messages=said.most_messages_between_chunks,
            lookback=said.lookback,
        )

    def _reads(self, *marks: str) -> bool:
        said = self._settings
        return bool(said.summary_workflow) or names_any((said.system_prompt, said.prompt), marks)

    def _summarising(self) -> Sequence[Summarise]:
        said = self._settings
        if said.summary_workflow:
            return [self._summarise_by_workflow]
        names = [listed.endpoint for listed in said.endpoints] or [said.endpoint]
        return [self._summarise_by_endpoint(name) for name in names]

    async def _summarise_by_workflow(self, given: SummaryInputs) -> Written:
        inputs = (
            given.chunk,
            given.recent.strip() or NONE_PRECEDING,
            given.all.strip() or NONE_PRECEDING,
            given.summary,
        )
        return await self._output_of(self._settings.summary_workflow, inputs)

    def _summarise_by_endpoint(self, endpoint: str) -> Summarise:
        said = self._settings
        question: list[Question] = []  # created for the first chunk, because most runs have none

        async def summarise(given: SummaryInputs) -> Written:
            if not question:
                question.append(
                    self._question(endpoint, said.preset, said.system_prompt, said.prompt, said.max_tokens)
                )
            values = {
                CHUNK: given.chunk,
                RECENT: given.recent or NONE_PRECEDING,
                ALL: given.all or NONE_PRECEDING,
                SUMMARY: given.summary,
            }
            return await written_answer(self._step, with_marks(question[0], values))

        return summarise

    def _extracting(self) -> Sequence[Extract]:
        said = self._settings
        if said.record_workflow:
            return [self._extract_by_workflow]
        names = [listed.endpoint for listed in said.endpoints] or [said.record_endpoint or said.endpoint]
        return [self._extract_by_endpoint(name) for name in names]

    async def _extract_by_workflow(self, chunk: str, complaint: str) -> Written:
        return await self._output_of(self._settings.record_workflow, [_with_complaint(chunk, complaint)])

    def _extract_by_endpoint(self, endpoint: str) -> Extract:
        said = self._settings

        async def extract(chunk: str, complaint: str) -> Written:
            preset = said.record_preset or said.preset
            question = self._question(
                endpoint, preset, EXTRACTION_SYSTEM_PROMPT, EXTRACTION_PROMPT, said.record_max_tokens
            )
            asked = with_marks(question, {CHUNK: chunk_for_prompt(chunk)})
            asked = replace(asked, prompt=_with_complaint(asked.prompt or "", complaint))
            return await written_answer(self._step, asked)

        return extract

    async def _output_of(self, workflow: str, inputs: Sequence[str]) -> Written:
        """The output of a workflow with these inputs, not sent to the client."""
        output = await self._step.engine.run_child(self._step, workflow, inputs=inputs)
        return Written(text=without_thinking(output_text(output)), by=f"workflow {workflow}")

    def _question(self, endpoint: str, preset: str, system: str, prompt: str, max_tokens: int | str) -> Question:
        if not endpoint:
            raise SettingsError(
                "The settings of discussion memory name no endpoint: give endpointName, or a workflow, "
                "in the file that discussionIdMemoryFileWorkflowSettings names."
            )
        asked = ModelProperties.model_validate(
            {
                "endpointName": endpoint,
                "preset": preset,
                "systemPrompt": system,
                "prompt": prompt,
                "maxResponseSizeInTokens": max_tokens,
                "addUserTurnTemplate": True,
            }
        )
        return marked_question(self._step, asked)


def _with_complaint(text: str, complaint: str) -> str:
    return f"{text}\n\n{complaint}" if complaint else text


async def make_memories(step: Step, *, summaries_only: bool = False) -> Made:
    """Make the memories that are due, and note them in the trace.

    Makes none for a conversation without a discussion or with fewer than three messages, and none while memory cannot
    be read or written. Raises SettingsError.
    """
    discussion = step.discussion
    if discussion is None or len(step.run.turn.messages) < FEWEST_MESSAGES:
        return Made()
    settings = step.user.discussion_settings()
    maker = MemoryMaker(step, discussion, settings)
    control = Control(goes_on=lambda: not step.engine.is_stopping)
    making = maker.records if settings.uses_records and not summaries_only else maker.summaries
    made = await read_or(step, making(control), Made())
    note_made(step, made)
    if made.chunks:
        kind: WrittenKind = "chunk_records" if making == maker.records else "chunk_summary"
        step.trace.written.append(WrittenMemory(kind=kind, count=made.chunks))
    return made


def note_made(step: Step, made: Made) -> None:
    """Note in the trace which memories were made."""
    if made.is_busy:
        step.note("Another run is making memories of this discussion, so this one made none.")
    counts = {
        "chunks were remembered": made.chunks,
        "chunks are left for the next time": made.left,
        "memories are of text that is gone and were marked stale": made.stale,
        "memories are of text that came back and count again": made.revived,
    }
    for what, count in counts.items():
        if count:
            step.note(f"{count} {what}.")
    for text in made.notes:
        step.note(text)
    if made.left and made.notes:
        _log.warning("memories left for the next time", node=step.definition.title, left=made.left)
