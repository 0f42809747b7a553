"""The agent: a model, its tools and the session's history, in a loop of reasoning and acting.

agent = Agent(ChatModelLLM(model), [send_mail], memory_manager=MemoryManager("memory.db"), session_id="work")
print(await agent.run("Tell Ann that I come at nine."))
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import structlog

from mnemoir.agent.llm import LLM, Allowance, ClusterManager, ModelChooser, choice_of
from mnemoir.agent.loop import AgentEvent, Answered, Ask, ContextRecalled, Loop, ask_streamed, ask_whole
from mnemoir.agent.memory import AgentMemory, SessionMemory
from mnemoir.agent.retrieval import RecalledMessage, RetrievalLimits, question_with_frame, recalled_for
from mnemoir.agent.toolbox import ConfirmCallback, Toolbox, tools_by_name
from mnemoir.agent.tools import Tool, ToolSource
from mnemoir.conversations.windows.counters import counter_named
from mnemoir.core.conversations import Message
from mnemoir.core.errors import SettingsError

DEFAULT_SYSTEM_PROMPT = "You are a helpful assistant. Use the tools you have where they help, then answer."

Lost = tuple[str, ...]  # names of the parts of a run that failed

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """Limits of one run.

    `max_tokens` limits all model calls together; None means no limit. Near the limit the model gets no tools, so that
    it answers; that answer may exceed the limit. Tool results are cut to `max_result_characters`, and recalled
    messages beyond `max_context_tokens` are left out.
    """

    max_tokens: int | None = None
    max_result_characters: int = 20_000
    max_context_tokens: int = 1024


class Agent:
    """A model that answers questions, with tools and with the memory of a session.

    Tools are `Tool`s or typed functions. `confirm_callback(name, description, arguments)` is called before a
    dangerous tool runs, unless `confirm_dangerous` is off; without a callback, dangerous tools are refused.
    `cluster_manager` picks the model of a run, `mcp_manager` adds tools to it. History is read and stored with a
    `memory_manager` and a `session_id`; `enable_rag` needs only the manager. Raises SettingsError for arguments that
    cannot work.

    One agent may run several questions concurrently, but those of one session only one after the other.
    """

    def __init__(
        self,
        llm: LLM,
        tools: Sequence[Tool | Callable[..., Any]],
        max_steps: int = 10,
        system_prompt: str = DEFAULT_SYSTEM_PROMPT,
        confirm_dangerous: bool = True,
        confirm_callback: ConfirmCallback | None = None,
        cluster_manager: ClusterManager | ModelChooser | None = None,
        memory_manager: AgentMemory | None = None,
        mcp_manager: ToolSource | None = None,
        session_id: str | None = None,
        enable_rag: bool = False,
        rag_top_k: int = 5,
        rag_min_similarity: float = 0.7,
        *,
        limits: AgentLimits | None = None,
    ) -> None:
        if max_steps < 1:
            raise SettingsError(f"An agent needs max_steps of at least 1, not {max_steps}.")
        choice_of(cluster_manager)  # raises for a manager that cannot pick a model
        self.llm = llm
        self.tools = tools_by_name(tools)
        self.max_steps = max_steps
        self.system_prompt = system_prompt
        self.confirm_dangerous = confirm_dangerous
        self.confirm_callback = confirm_callback
        self.cluster_manager = cluster_manager
        self.memory_manager = memory_manager
        self.mcp_manager = mcp_manager
        self.session_id = session_id
        self.enable_rag = enable_rag
        self.rag_top_k = rag_top_k
        self.rag_min_similarity = rag_min_similarity
        self.limits = limits or AgentLimits()

    async def run(self, user_message: str) -> str:
        """The final answer; "" when the model gives none.

        Raises what the model raises. A failing tool or an unreachable memory does not end the run.
        """
        answer = ""
        async with aclosing(self._events(user_message, ask_whole)) as events:
            async for event in events:
                if isinstance(event, Answered):
                    answer = event.text
        return answer

    async def events(self, user_message: str) -> AsyncGenerator[AgentEvent, None]:
        """The events of a run, with the reply in pieces if the model streams. Raises what `run` raises.

        Closing the generator (`contextlib.aclosing`) stops the run; the part of the answer made so far is stored.
        """
        async with aclosing(self._events(user_message, ask_streamed)) as events:
            async for event in events:
                yield event

    async def _events(self, user_message: str, ask: Ask) -> AsyncGenerator[AgentEvent, None]:
        memory = SessionMemory(self.memory_manager, self.session_id, self.system_prompt)
        history = await memory.history()
        recalled, unrecalled = await self._recalled_messages(user_message, memory, history)
        tools, unlisted = await self._tools_of_run()
        if recalled:
            yield ContextRecalled(count=len(recalled))
        await memory.store(Message("user", user_message))
        question = Message("user", question_with_frame(recalled, user_message))
        messages = [*await memory.instructions(), *history, question]
        llm = choice_of(self.cluster_manager)(user_message, messages) or self.llm
        loop = self._loop(llm, ask, messages, tools, memory)
        async with aclosing(loop.events()) as events:
            async for event in events:
                if isinstance(event, Answered):
                    yield replace(event, degraded=(*event.degraded, *unrecalled, *unlisted))
                else:
                    yield event

    def _loop(
        self, llm: LLM, ask: Ask, messages: list[Message], tools: Sequence[Tool], memory: SessionMemory
    ) -> Loop:
        toolbox = Toolbox(
            tools,
            confirms_dangerous=self.confirm_dangerous,
            confirm=self.confirm_callback,
            most_characters=self.limits.max_result_characters,
        )
        return Loop(
            llm=llm,
            ask=ask,
            messages=messages,
            toolbox=toolbox,
            memory=memory,
            allowance=Allowance(self.limits.max_tokens, counter_named("heuristic")),
            max_steps=self.max_steps,
        )

    async def _recalled_messages(
        self, question: str, memory: SessionMemory, window: Sequence[Message]
    ) -> tuple[list[RecalledMessage], Lost]:
        """The recalled messages for the prompt, and the parts that failed."""
        if not self.enable_rag or self.memory_manager is None:
            return [], ()
        limits = RetrievalLimits(
            top_k=self.rag_top_k,
            min_similarity=self.rag_min_similarity,
            max_tokens=self.limits.max_context_tokens,
        )
        try:
            reader = await memory.reader()
            return await recalled_for(question, self.memory_manager, reader, limits, window), ()
        except Exception as exc:  # noqa: BLE001  # from foreign embedders and stores; the run goes on without recall
            _log.warning("retrieval failed", error=type(exc).__name__)
            return [], ("retrieval",)

    async def _tools_of_run(self) -> tuple[list[Tool], Lost]:
        """The agent's tools and the manager's, and the parts that failed; of equal names the agent's tool wins."""
        if self.mcp_manager is None:
            return list(self.tools.values()), ()
        try:
            others = await self.mcp_manager.list_tools()
        except Exception as exc:  # noqa: BLE001  # from foreign servers; the agent's own tools remain
            _log.warning("tools could not be listed", error=type(exc).__name__)
            return list(self.tools.values()), ("tools",)
        return list(({each.name: each for each in others} | self.tools).values()), ()
