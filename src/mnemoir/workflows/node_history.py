"""The memory of a node in a run: the history its model is shown, and storing the node's answer.

Mode `conversation` shows the finished turns of the stored conversation; mode `node` shows the prompts and answers of
this node itself in the conversation. A failure of the memory never ends a run: it is noted in the trace, and the node
runs without history.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import structlog

from mnemoir.conversations.log.message_rows import from_model
from mnemoir.conversations.memory_config import MemoryMode
from mnemoir.conversations.turns.token_buffer import history_text, required_prefixes
from mnemoir.conversations.users import UserConversations
from mnemoir.conversations.windows.budget import UNKNOWN_CONTEXT_BUDGET, rest_tokens
from mnemoir.conversations.windows.fitting import fit
from mnemoir.core.conversations import Message as Remembered
from mnemoir.core.errors import MnemoirError, SettingsError
from mnemoir.core.events import Event, Finished, Text
from mnemoir.core.messages import ImagePart, Message, TextPart
from mnemoir.core.runs import NodeTrace, WorkflowTrace, WrittenMemory
from mnemoir.workflows.asking import answer
from mnemoir.workflows.config.memory import NodeMemory
from mnemoir.workflows.history_store import COUNTER, NodeContext, ReadHistory, keep_round, read_history
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.history import with_hidden_marks, with_history, with_query
from mnemoir.workflows.question import Question, accepted_images, question_of, target_of
from mnemoir.workflows.remembering import COMPLETE_REASONS
from mnemoir.workflows.run import MOST_KEPT_CHARACTERS, Override, Overrides, last_user_message
from mnemoir.workflows.step import Step

NO_CONVERSATION = (
    "memory is set, but this chat belongs to no stored conversation: no history is shown, and nothing is stored. "
    "Send a session id, or set memory.enabled."
)
_log = structlog.get_logger(__name__)


async def answer_with_memory(
    step: Step, properties: ModelProperties, memory: NodeMemory
) -> AsyncGenerator[Sequence[Event], None]:
    """The answer of a node with this memory, piece by piece if the step streams.

    A complete answer is stored before the node ends; one that breaks off is not. Raises as `answer` does, and
    SettingsError for a memory that cannot be shown to the endpoint.
    """
    question, asked = _question(step, properties, memory)
    history = _history(step, properties, memory)
    if history is None:
        question = _without_history(question)
    else:
        current = _current_turn(question.messages)
        images = accepted_images(step, properties, current)
        question = replace(question, messages=current, images=images, history=history)
    said = _AnswerText()
    async with aclosing(answer(step, question)) as batches:
        async for batch in batches:
            said.take(batch)
            yield batch
    if history is not None:
        await history.remember(asked, said)


@dataclass(slots=True)
class _AnswerText:
    """The text of an answer, collected from its events up to a length."""

    texts: list[str] = field(default_factory=list)
    characters: int = 0
    is_complete: bool = False

    def take(self, batch: Sequence[Event]) -> None:
        for event in batch:
            if isinstance(event, Text):
                self.characters += len(event.text)
                if not self.is_overlong:
                    self.texts.append(event.text)
            elif isinstance(event, Finished):
                self.is_complete = event.reason in COMPLETE_REASONS

    @property
    def is_overlong(self) -> bool:
        """True when the answer is longer than the collected text."""
        return self.characters > MOST_KEPT_CHARACTERS

    @property
    def text(self) -> str:
        """The answer; "" for an incomplete one."""
        return "".join(self.texts).strip() if self.is_complete else ""


class NodeHistory:
    """The history of one node in one run; see `question.History`."""

    def __init__(self, step: Step, memory: NodeMemory, conversations: UserConversations, place: NodeContext) -> None:
        self._step = step
        self._memory = memory
        self._conversations = conversations
        self._place = place
        self._read: ReadHistory | None = None

    async def fitting(
        self, beside: Sequence[Message], *, context_tokens: int | None, answer_tokens: int
    ) -> Sequence[Remembered]:
        """The newest whole turns that fit; a history that was cut is noted in the trace."""
        most_tokens = context_tokens or UNKNOWN_CONTEXT_BUDGET
        if self._read is None or self._read.most_tokens < most_tokens:
            self._read = await self._reading(most_tokens)
        messages = self._read.messages
        fitted = await asyncio.to_thread(_fitting_messages, messages, beside, context_tokens, answer_tokens)
        if len(fitted) < len(messages):
            self._step.note(
                f"The history was cut to its newest turns, {_turns(fitted)}: no more fit beside the rest of the "
                "prompt and the answer (maxContextTokenSize of the endpoint)."
            )
        return fitted

    def as_text(self, turns: Sequence[Remembered]) -> str:
        """Lines of `prefix: words`. Raises SettingsError without prefixes."""
        return history_text(turns, *_prefixes(self._step, self._memory))

    async def remember(self, asked: str, said: _AnswerText) -> None:
        """Store the node's prompt and answer, in mode `node` and for a complete answer only."""
        if self._memory.mode is not MemoryMode.NODE or not said.is_complete:
            return
        if said.is_overlong:
            self._step.note("The answer is too long for this node's memory.")
            return
        if not said.text:
            return
        parent = self._read.parent if self._read else None
        try:
            async with self._conversations.of(self._step.run.turn.caller.scope) as own:
                await asyncio.to_thread(keep_round, own, self._place, asked.strip(), said.text, parent)
        except MnemoirError as exc:
            self._note_failure("The answer is not in this node's memory", exc)
            return
        self._step.trace.written.append(WrittenMemory(kind="node_memory", id=self._place.node_id))

    async def _reading(self, most_tokens: int) -> ReadHistory:
        try:
            async with self._conversations.of(self._step.run.turn.caller.scope) as own:
                read = await asyncio.to_thread(read_history, own, self._place, most_tokens)
        except MnemoirError as exc:
            self._note_failure("No history is shown", exc)
            return ReadHistory()
        if read.note:
            self._step.note(read.note)
        return read

    def _note_failure(self, consequence: str, exc: MnemoirError) -> None:
        self._step.note(f"{consequence}: {exc.message}")
        _log.warning("node memory out of order", node=self._step.definition.title, code=exc.code)


def node_id(step: Step) -> str:
    """The key of the node's own memory: its `id`, else its workflow and title, with its number if two share these.

    A node with an `id` keeps its memory when it is renamed or moved.
    """
    definition, workflow = step.definition, step.run.workflow
    given = definition.raw.get("id")
    if isinstance(given, str | int) and str(given).strip():
        return str(given).strip()
    name = f"{workflow.folder}/{workflow.name}/{definition.title}"
    is_shared = sum(node.title == definition.title for node in workflow.nodes) > 1
    return f"{name}/{definition.number}" if is_shared else name


def _history(step: Step, properties: ModelProperties, memory: NodeMemory) -> NodeHistory | None:
    """The history of the node; None without a stored conversation, which is noted once in a run."""
    caller, conversations = step.run.turn.caller, step.services.conversations
    if caller.recorded is None or conversations is None:
        if caller.may_be_kept and not _is_noted(step.run.turn.trace.workflows):
            step.note(NO_CONVERSATION)
            _log.warning("no memory without a conversation", run=caller.run_id, node=step.definition.title)
        return None
    place = NodeContext(
        app_id=step.user.name,
        node_id=node_id(step),
        project=caller.scope.project,
        run_id=caller.run_id,
        recorded=caller.recorded,
        config=memory.config,
        sees_images=properties.accepts_images,
    )
    return NodeHistory(step, memory, conversations, place)


def _question(step: Step, properties: ModelProperties, memory: NodeMemory) -> tuple[Question, str]:
    """The node's question, with the marks for the history, and the text to store as its prompt, without marks."""
    overrides = Overrides(
        system_prompt=_override_with_hidden_marks(step.overrides.system_prompt),
        prompt=_override_with_hidden_marks(step.overrides.prompt),
    )
    texts = {
        "system_prompt": with_hidden_marks(properties.system_prompt),
        "prompt": with_hidden_marks(properties.prompt),
    }
    question = question_of(replace(step, overrides=overrides), properties.model_copy(update=texts))
    if target_of(step, question.endpoint).template is not None:
        _prefixes(step, memory)
    messages, query = _with_own_query(step, question, memory)
    prompt = None if question.prompt is None else with_query(question.prompt, query)
    asked = query if prompt is None else with_history(prompt, "")
    return replace(question, system=with_query(question.system, query), prompt=prompt, messages=messages), asked


def _with_own_query(step: Step, question: Question, memory: NodeMemory) -> tuple[Sequence[Message], str]:
    """The conversation with the node's own text in place of the user's last message, and that text."""
    messages = list(question.messages)
    place = last_user_message(messages)
    said = "" if place is None else messages[place].text
    if memory.query_prompt_template is None:
        return messages, said
    template = with_hidden_marks(memory.query_prompt_template)
    variables = step.variables(target_of(step, question.endpoint).template)
    query = with_history(with_query(step.fill(template, variables), said), "")
    if place is None:
        return [*messages, Message(role="user", parts=(TextPart(text=query),))], query
    images = [part for part in messages[place].parts if isinstance(part, ImagePart)]
    messages[place] = replace(messages[place], parts=(TextPart(text=query), *images))
    return messages, query


def _current_turn(messages: Sequence[Message]) -> Sequence[Message]:
    """The user's last message and the messages after it, such as results of a client's tools."""
    return messages[last_user_message(messages) or 0 :]


def _without_history(question: Question) -> Question:
    prompt = None if question.prompt is None else with_history(question.prompt, "")
    return replace(question, system=with_history(question.system, ""), prompt=prompt)


def _override_with_hidden_marks(given: Override | None) -> Override | None:
    """A parent's text with its marks hidden. One already filled stays as it is, since it may contain messages."""
    return given if given is None or given.variables is None else replace(given, text=with_hidden_marks(given.text))


def _prefixes(step: Step, memory: NodeMemory) -> tuple[str, str]:
    try:
        user, assistant = required_prefixes(memory.role_prefix)
    except SettingsError as exc:
        place = f"Node {step.definition.title!r} of workflow {step.run.workflow.name}"
        raise SettingsError(f"{place}: {exc.message}") from exc
    return step.fill(user), step.fill(assistant)


def _fitting_messages(
    messages: Sequence[Remembered], beside: Sequence[Message], context_tokens: int | None, answer_tokens: int
) -> list[Remembered]:
    taken = 0 if context_tokens is None else COUNTER.count([from_model(message) for message in beside])
    budget = rest_tokens(context_size=context_tokens, max_output_tokens=answer_tokens, prompt_tokens=taken)
    return fit(messages, budget, COUNTER)


def _turns(messages: Sequence[Remembered]) -> int:
    return sum(message.role == "user" for message in messages)


def _is_noted(workflows: Sequence[WorkflowTrace]) -> bool:
    return any(NO_CONVERSATION in node.notes for node in _nodes(workflows))


def _nodes(workflows: Sequence[WorkflowTrace]) -> Iterator[NodeTrace]:
    for workflow in workflows:
        for node in workflow.nodes:
            yield node
            yield from _nodes(node.children)
