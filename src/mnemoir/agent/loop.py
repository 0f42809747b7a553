"""The loop of one run, with its events: call the model, run the tools it calls, return results, until it answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from mnemoir.agent.llm import LLM, Allowance, CompletionResponse, StreamingLLM, ToolSpec
from mnemoir.agent.memory import SessionMemory
from mnemoir.agent.toolbox import Toolbox
from mnemoir.core.conversations import Message, ToolCall
from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import Text, Usage

CompletionStream = AsyncGenerator[Text | CompletionResponse, None]
Ask = Callable[[LLM, list[Message], list[ToolSpec] | None], CompletionStream]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecalled:
    """The prompt contains `count` messages of past conversations before the question."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool call of the model, before it is run or refused."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """The result of a tool call, as the model gets it."""

    call: ToolCall
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The final answer, the last event of a run.

    `steps` counts model calls; `usage` sums all of them, estimated where a server did not count. `degraded` names the
    parts that failed: "history", "storing", "retrieval", "tools".
    """

    text: str
    finish_reason: str = "stop"
    steps: int = 1
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()


AgentEvent = Text | ContextRecalled | ToolStarted | ToolFinished | Answered


async def ask_whole(llm: LLM, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionStream:
    """The whole answer, as one item."""
    yield await llm.complete(messages=messages, tools=tools)


async def ask_streamed(llm: LLM, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionStream:
    """The answer in pieces when the model streams, else its text in one piece; then the whole answer."""
    if not isinstance(llm, StreamingLLM):
        response = await llm.complete(messages=messages, tools=tools)
        if response.content:
            yield Text(response.content)
        yield response
        return
    async with aclosing(llm.stream(messages=messages, tools=tools)) as said:
        async for each in said:
            yield each


@dataclass(slots=True, kw_only=True)
class Loop:
    """One run. It appends tool calls and results to `messages`; the final answer is stored but not appended."""

    llm: LLM
    ask: Ask
    messages: list[Message]
    toolbox: Toolbox
    memory: SessionMemory
    allowance: Allowance
    max_steps: int
    _steps: int = 0
    _said: list[str] = field(default_factory=list)  # pieces of the incomplete answer
    _response: CompletionResponse | None = None  # the latest complete answer

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """The events of the run; the last one is Answered. Exceptions of the model end the run.

        The model gets no tools at the last step, nor once the token budget does not cover an answer after one more
        round. When it calls tools nevertheless, one further call without tools gives the answer. When the caller
        stops the run, the part of the answer made so far is stored.
        """
        try:
            async with aclosing(self._turn()) as happening:
                async for event in happening:
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            if self._said:
                await self.memory.store(Message("assistant", "".join(self._said)))
            raise

    async def _turn(self) -> AsyncGenerator[AgentEvent, None]:
        is_last = False
        while not is_last:
            is_last = self._steps + 1 >= self.max_steps or not self.allowance.affords_tools(self.messages)
            async with aclosing(self._step(None if is_last else self.toolbox.specs or None)) as pieces:
                async for piece in pieces:
                    yield piece
            response = self._complete()
            if not response.tool_calls:
                yield await self._store_answer(response)
                return
            async with aclosing(self._act(response.content, list(response.tool_calls))) as events:
                async for event in events:
                    yield event
        async with aclosing(self._step(None)) as pieces:
            async for piece in pieces:
                yield piece
        yield await self._store_answer(self._complete())

    async def _step(self, tools: list[ToolSpec] | None) -> AsyncGenerator[Text, None]:
        """One call of the model, with a copy of the messages, because the run's list grows later."""
        self._response = None
        async with aclosing(self.ask(self.llm, list(self.messages), tools)) as said:
            async for each in said:
                if isinstance(each, Text):
                    self._said.append(each.text)
                    yield each
                else:
                    self._response = each
        self._said.clear()
        self._steps += 1
        self.allowance.spend(self.messages, self._complete())

    def _complete(self) -> CompletionResponse:
        if self._response is None:
            raise ProviderInvalidOutput("The model's stream ended before its answer was complete; try again.")
        return self._response

    async def _act(
        self, content: str | None, calls: list[ToolCall]
    ) -> AsyncGenerator[ToolStarted | ToolFinished, None]:
        """Run the calls one after the other, in the model's order."""
        self.messages.append(Message("assistant", content, tool_calls=calls))
        stored = [call for call in calls if self.toolbox.is_stored(call)]
        if content or stored:
            await self.memory.store(Message("assistant", content, tool_calls=stored or None))
        for call in calls:
            yield ToolStarted(call=call)
            outcome = await self.toolbox.outcome(call)
            result = Message("tool", outcome, tool_call_id=call.id, name=call.name)
            self.messages.append(result)
            if self.toolbox.is_stored(call):
                await self.memory.store(result)
            yield ToolFinished(call=call, outcome=outcome)

    async def _store_answer(self, response: CompletionResponse) -> Answered:
        """Store the answer and return the final event.

        An empty answer is not stored: providers refuse empty messages.
        """
        text = response.content or ""
        if text:
            await self.memory.store(Message("assistant", text))
        reason = getattr(response, "finish_reason", "stop")  # a foreign response class may lack it
        return Answered(
            text=text,
            finish_reason=reason,
            steps=self._steps,
            usage=self.allowance.usage,
            degraded=self.memory.degraded,
        )
