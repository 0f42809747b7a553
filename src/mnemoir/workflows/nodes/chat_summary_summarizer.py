"""chatSummarySummarizer and WriteCurrentSummaryToFileAndReturnIt: writing the rolling summary."""

import sys

import structlog
from pydantic import Field

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import Conflict, ProviderError, StorageUnavailable
from mnemoir.core.runs import WrittenMemory
from mnemoir.memory.discussions.parts import NO_SUMMARY, Control, Written
from mnemoir.memory.discussions.reading import rolling_summary_text
from mnemoir.memory.discussions.rolling_summary import save_summary, update_rolling_summary
from mnemoir.workflows.asking import Question
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.memory_prompts import (
    LATEST,
    SUMMARY_SO_FAR,
    marked_question,
    names_any,
    with_marks,
    written_answer,
)
from mnemoir.workflows.node import Count, ModelProperties, NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)


class ChatSummarySummarizerProperties(ModelProperties):
    """Properties of a chatSummarySummarizer node."""

    loop_if_exceed: Count = Field(
        3, alias="loopIfMemoriesExceed", description="Sum up so many chunk summaries at a time while there are more."
    )
    least: Count = Field(
        3, alias="minMemoriesPerSummary", description="Leave the summary as it is while fewer than these are new."
    )


class ChatSummarySummarizer(ValueNode[ChatSummarySummarizerProperties]):
    """Adds new chunk summaries to the rolling summary, stores it and outputs it.

    In its prompts [CHAT_SUMMARY] is the summary so far and [LATEST_MEMORIES] the chunk summaries. Without these
    marks, the answer to the prompts is the new summary.
    """

    kind = "chatSummarySummarizer"
    properties_type = ChatSummarySummarizerProperties
    filled = ("systemPrompt", "prompt")
    is_timed = False

    async def value(self, step: Step) -> str:
        """The updated summary; the fixed sentence without a summary or a discussion.

        After a failure of a model or a file the summary has the updates so far, and the next run continues there.
        """
        discussion = step.discussion
        if discussion is None:
            return NO_SUMMARY
        try:
            return await self._update_summary(step, discussion)
        except (Conflict, ProviderError, StorageUnavailable) as exc:
            step.note(f"The summary was not updated: {exc.message}")
            _log.warning("rolling summary not updated", node=step.definition.title, code=exc.code)
        kept = await read_or(step, rolling_summary_text(self.services.discussions, discussion), None)
        return NO_SUMMARY if kept is None else kept

    async def _update_summary(self, step: Step, discussion: Discussion) -> str:
        said = self.properties
        raw = [step.raw_prompt("systemPrompt", said.system_prompt), step.raw_prompt("prompt", said.prompt)]
        most, least = sys.maxsize, 1  # prompts without marks: one call, if any summary is new
        if names_any(raw, (SUMMARY_SO_FAR, LATEST)):
            most = step.count(said.loop_if_exceed, 3, "loopIfMemoriesExceed")
            least = step.count(said.least, 3, "minMemoriesPerSummary")
        question: list[Question] = []  # created only if there is something to summarise
        made: list[Written] = []

        async def condense(summary: str, latest: str) -> Written:
            if not question:
                question.append(marked_question(step, said))
            asked = with_marks(question[0], {SUMMARY_SO_FAR: summary, LATEST: latest})
            written = await written_answer(step, asked)
            if written.text:
                made.append(written)
            else:
                step.note("The model's answer was empty, so the summary was not changed.")
            return written

        summary = await update_rolling_summary(
            self.services.discussions,
            discussion,
            condense,
            loop_if_exceed=most,
            least=least,
            control=Control(goes_on=lambda: not step.engine.is_stopping),
        )
        step.trace.written += [WrittenMemory(kind="rolling_summary")] if made else []
        return summary


class WriteCurrentSummaryProperties(NodeProperties):
    """Properties of a WriteCurrentSummaryToFileAndReturnIt node."""

    text: Line = Field(alias="input", description="The summary, with variables.")


class WriteCurrentSummaryToFileAndReturnIt(ValueNode[WriteCurrentSummaryProperties]):
    """Stores a text as the rolling summary up to the newest chunk summary, and outputs it."""

    kind = "WriteCurrentSummaryToFileAndReturnIt"
    properties_type = WriteCurrentSummaryProperties
    filled = ("input",)

    async def value(self, step: Step) -> str:
        """The text; a failure to store it is noted in the trace.

        Raises NotFound without any chunk summary, which would mark how far the text goes.
        """
        text = step.fill(self.properties.text)
        discussion = step.discussion
        if discussion is not None:
            written = Written(text=text, by=f"workflow {step.run.workflow.name}")
            try:
                await save_summary(self.services.discussions, discussion, written)
                step.trace.written.append(WrittenMemory(kind="rolling_summary"))
            except (Conflict, StorageUnavailable) as exc:
                step.note(f"The summary was not stored: {exc.message}")
                _log.warning("rolling summary not stored", node=step.definition.title, code=exc.code)
        return text
