"""The public names of the agent and the modules they come from; `__init__.py` imports by this list."""

from mnemoir.agent.agent import DEFAULT_SYSTEM_PROMPT as DEFAULT_SYSTEM_PROMPT
from mnemoir.agent.agent import Agent as Agent
from mnemoir.agent.agent import AgentLimits as AgentLimits
from mnemoir.agent.llm import LLM as LLM
from mnemoir.agent.llm import ChatModelLLM as ChatModelLLM
from mnemoir.agent.llm import ClusterManager as ClusterManager
from mnemoir.agent.llm import CompletionResponse as CompletionResponse
from mnemoir.agent.llm import ModelChooser as ModelChooser
from mnemoir.agent.llm import StreamingLLM as StreamingLLM
from mnemoir.agent.llm import ToolSpec as ToolSpec
from mnemoir.agent.loop import AgentEvent as AgentEvent
from mnemoir.agent.loop import Answered as Answered
from mnemoir.agent.loop import ContextRecalled as ContextRecalled
from mnemoir.agent.loop import ToolFinished as ToolFinished
from mnemoir.agent.loop import ToolStarted as ToolStarted
from mnemoir.agent.memory import AgentMemory as AgentMemory
from mnemoir.agent.retrieval import ScopedSearch as ScopedSearch
from mnemoir.agent.tools import Tool as Tool
from mnemoir.agent.tools import ToolSource as ToolSource
from mnemoir.agent.tools import tool as tool
from mnemoir.core.events import Text as Text
from mnemoir.core.events import Usage as Usage
