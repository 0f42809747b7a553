"""Side tasks of coding agents: titles, compaction, probes, and what a sub-agent is told.

They come with the session id of the person's chat, so a sub-agent is told by headers and by its instructions.
"""

import re
from collections.abc import Callable, Sequence

from mnemoir.core.messages import Message, ModelRequest
from mnemoir.wire.task_templates import Shape, TaskTemplate

SUBAGENT = "subagent"
CODEX_AGENT, CODEX_SESSION_HEADER = "codex", "session-id"  # the header names a session for this client alone
_SUBAGENT_HEADERS = (
    b"x-openai-subagent",
    b"x-codex-parent-thread-id",
    b"x-claude-code-agent-id",
    b"x-claude-code-parent-agent-id",
    b"x-parent-session-id",
)
_IDENTITY = re.compile(  # what stands in front of an agent's instructions
    r"(?:x-anthropic-billing-header:[^\n]*\n+)?(?:You are (?:Claude Code|a Claude agent)[^\n]*\n+)?"
)
_MARKED = re.compile(r"x-anthropic-billing-header:[^\n]*\bcc_is_subagent=true")
_INSTRUCTIONS_OF_SUBAGENTS = (
    "You are an agent for Claude Code",
    "You are a file search specialist",
    "You are a software architect and planning specialist",
    "You are the Claude guide agent",
    "You are a general-purpose agent",
    "You are a general-purpose research and code analysis agent",
    "You are a general-purpose subagent",
    "You are a subagent",
    "You are a sub-agent",
)


def agent_task(request: ModelRequest, header: Callable[[bytes], str | None]) -> str | None:
    """The side task of an agent: of a sub-agent, or a probe for a single token; None for another request."""
    if any((value := header(name)) and value.strip().lower() not in ("false", "0") for name in _SUBAGENT_HEADERS):
        return SUBAGENT
    if request.sampling is not None and request.sampling.max_tokens == 1:
        return "probe"
    return SUBAGENT if _is_of_subagent(request.messages) else None


def own_instructions(system: str) -> str:
    """The text of a system message without the lines that say which agent it is."""
    return system[_IDENTITY.match(system).end() :]  # type: ignore[union-attr]  # it fits every text


def _is_of_subagent(messages: Sequence[Message]) -> bool:
    told = messages[0].text if messages and messages[0].role in ("system", "developer") else ""
    return bool(_MARKED.match(told)) or own_instructions(told).startswith(_INSTRUCTIONS_OF_SUBAGENTS)


def _task_by_system(task: str, head: str, *marks: str) -> TaskTemplate:
    return TaskTemplate(task=task, system=Shape(head=head, marks=marks), is_alone=False)


def _task_by_prompt(task: str, head: str, *marks: str) -> TaskTemplate:
    return TaskTemplate(task=task, prompt=Shape(head=head, marks=marks), is_alone=False)


AGENT_TASKS = (
    # titles
    _task_by_system("title_generation", "You are a title generator."),
    _task_by_system("title_generation", "You will generate a short title based on the first message"),
    _task_by_system("title_generation", "Generate a concise, sentence-case title"),
    _task_by_system("title_generation", "Analyze if this message indicates a new conversation topic"),
    _task_by_system("title_generation", "Summarize this coding conversation in under"),
    _task_by_prompt("title_generation", "Please write a 5-10 word title for the following conversation"),
    _task_by_prompt("title_generation", "Generate a title for this conversation:"),
    # compaction
    _task_by_prompt("context_compaction", "You are performing a CONTEXT CHECKPOINT COMPACTION"),
    _task_by_prompt("context_compaction", "Your task is to create a detailed summary of the conversation so far"),
    _task_by_prompt("context_compaction", "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", "summary"),
    _task_by_prompt("context_compaction", "Provide a detailed prompt for continuing our conversation above"),
    _task_by_prompt("context_compaction", "Provide a detailed but concise summary of our conversation above"),
    _task_by_prompt("context_compaction", "First, reason in your scratchpad. Then, generate the <state_snapshot>"),
    _task_by_prompt("context_compaction", '<explicit_instructions type="condense">'),
    _task_by_prompt("context_compaction", '<explicit_instructions type="summarize_task">'),
    _task_by_system("context_compaction", "You are a helpful AI assistant tasked with summarizing conversations"),
    _task_by_system("context_compaction", "You are an anchored context summarization assistant"),
    _task_by_system("context_compaction", "You are the component that summarizes internal chat history"),
    _task_by_system("context_compaction", "You are a context summarization assistant"),
    # checks of the agent's own
    _task_by_prompt(
        "next_speaker", "Analyze *only* the content and structure of your immediately preceding response"
    ),
    _task_by_prompt("suggestion", "[SUGGESTION MODE:"),
)
