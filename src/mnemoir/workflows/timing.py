"""Times of messages in a run: reading and storing them, and showing them to nodes."""

from collections.abc import Mapping
from datetime import datetime

import structlog

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.workflows import conversation
from mnemoir.workflows.compiled import CompiledWorkflow
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.conversation import as_sent_back
from mnemoir.workflows.run import Run, Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step
from mnemoir.workflows.tracing import output_text

_log = structlog.get_logger(__name__)


def is_group_answer(step: Step) -> bool:
    """True when the step answers in a group chat: the answer then has a speaker, and its time is stored at once."""
    raw = step.definition.raw
    is_marked = is_set(raw, "useGroupChatTimestampLogic") and is_set(raw, "addDiscussionIdTimestampsForLLM")
    return is_marked and step.answers_client and step.run.turn.discussion is not None


class Times:
    """The times of messages, for workflows and nodes that use them.

    Does nothing in a conversation without a discussion id. Nodes of a silent workflow are shown no times. A failure
    of the file of times never fails an answer: the node then reads its messages without times.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def begin(self, run: Run, compiled: CompiledWorkflow) -> None:
        """Before a workflow that shows times: assign missing ones, and compute the time context."""
        stamps = compiled.stamps and not run.is_silent
        if run.turn.discussion is None or not (stamps or compiled.names_time_context):
            return
        known = await self._known_times(run.turn, fills=stamps)
        run.turn.times = known
        run.turn.time_context = conversation.time_context(known, now=self._now())

    async def before(self, step: Step) -> None:
        """Before a node: give it the conversation with times, and store the time at which its answer begins."""
        turn = step.run.turn
        if turn.discussion is None or step.run.is_silent:
            return
        step.stamped = conversation.with_times(
            turn.messages,
            turn.times,
            relative=is_set(step.definition.raw, "useRelativeTimestamps"),
            now=self._now(),
        )
        if step.answers_client:
            await self._note_reply_time(turn, None)

    async def after(self, step: Step) -> None:
        """After a node: in a group chat store the time of its answer, since the text is final."""
        turn = step.run.turn
        if is_group_answer(step) and turn.user is not None:
            await self._note_reply_time(turn, as_sent_back(output_text(step.output), turn.chat, turn.user.settings))

    async def _known_times(self, turn: Turn, *, fills: bool) -> Mapping[str, str]:
        """The times of the messages; with `fills`, messages without a time get one first.

        Empty when they cannot be read.
        """
        store, discussion = self._services.timestamps, self._discussion(turn)
        try:
            if fills:
                return await conversation.backfill(store, discussion, turn.messages, now=self._now())
            return await store.load(discussion)
        except KeyUnavailable:  # as for all memory of the discussion
            raise
        except StorageUnavailable as exc:
            _log.warning("times of messages cannot be read", error=exc.message)
            return {}

    async def _note_reply_time(self, turn: Turn, reply: str | None) -> None:
        store, discussion = self._services.timestamps, self._discussion(turn)
        try:
            if reply is None:
                await conversation.mark_reply(store, discussion, now=self._now())
            else:
                await conversation.commit_reply(store, discussion, reply, now=self._now())
        except StorageUnavailable as exc:
            _log.warning("the time of an answer cannot be written", error=exc.message)

    def _discussion(self, turn: Turn) -> Discussion:
        assert turn.discussion is not None
        return turn.discussion

    def _now(self) -> datetime:
        return self._services.clock().astimezone()
