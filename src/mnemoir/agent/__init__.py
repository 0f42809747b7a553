"""The public names of the agent: a model that reasons, calls tools and remembers. All other names may change."""

from mnemoir.agent.agent import DEFAULT_SYSTEM_PROMPT, Agent, AgentLimits
from mnemoir.agent.llm import (
    LLM,
    ChatModelLLM,
    ClusterManager,
    CompletionResponse,
    ModelChooser,
    StreamingLLM,
    ToolSpec,
)
from mnemoir.agent.loop import AgentEvent, Answered, ContextRecalled, ToolFinished, ToolStarted
from mnemoir.agent.memory import AgentMemory
from mnemoir.agent.retrieval import ScopedSearch
from mnemoir.agent.tools import Tool, ToolSource, tool
from mnemoir.core.events import Text, Usage

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "LLM",
    "Agent",
    "AgentEvent",
    "AgentLimits",
    "AgentMemory",
    "Answered",
    "ChatModelLLM",
    "ClusterManager",
    "CompletionResponse",
    "ContextRecalled",
    "ModelChooser",
    "ScopedSearch",
    "StreamingLLM",
    "Text",
    "Tool",
    "ToolFinished",
    "ToolSource",
    "ToolSpec",
    "ToolStarted",
    "Usage",
    "tool",
]
