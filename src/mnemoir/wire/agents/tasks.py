"""Side tasks of coding agents: titles, compaction, probes, and what a sub-agent is told.

They come with the session id of the person's chat, so a sub-agent is told by headers and by its instructions: by
those of known agents, and by what the instructions of others say of themselves (`subagents.toml`).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.core.messages import Message, ModelRequest, role_at, text_at
from mnemoir.core.text import has_any
from mnemoir.wire.task_templates import Shape, TaskTemplate

SUBAGENT = "subagent"
CODEX_AGENT, CODEX_SESSION_HEADER = "codex", "session-id"  # the header names a session for this client alone
_IDENTITY = re.compile(  # what stands in front of an agent's instructions
    r"(?:x-anthropic-billing-header:[^\n]*\n+)?(?:You are (?:Claude Code|a Claude agent)[^\n]*\n+)?"
)
_MARKED = re.compile(r"x-anthropic-billing-header:[^\n]*\bcc_is_subagent=true")
_MOST_OF_INSTRUCTIONS = 1500  # characters in which instructions say whose they are


def agent_task(request: ModelRequest, headers: Mapping[bytes, bytes]) -> str | None:
    """The side task of an agent: of a sub-agent, or a probe for a single token; None for another request.

    `headers` have lower case names.
    """
    told = [headers[name].strip().lower() for name in _headers().intersection(headers)]
    if any(value not in (b"", b"false", b"0") for value in told):
        return SUBAGENT
    if request.sampling is not None and request.sampling.max_tokens == 1:
        return "probe"
    return SUBAGENT if _is_of_subagent(request.messages) else None


def own_instructions(system: str) -> str:
    """The text of a system message without the lines that say which agent it is."""
    return system[_IDENTITY.match(system).end() :]  # type: ignore[union-attr]  # it fits every text


def _is_of_subagent(messages: Sequence[Message]) -> bool:
    told = text_at(messages, 0) if messages and role_at(messages, 0) in ("system", "developer") else ""
    if _MARKED.match(told):
        return True
    own = own_instructions(told)
    if own.startswith(_beginnings()):
        return True
    beginning = own[:_MOST_OF_INSTRUCTIONS].lower()
    return has_any(beginning, _cues()) and _signs().search(beginning) is not None


@cache
def _headers() -> frozenset[bytes]:
    return frozenset(name.encode() for name in _table()["headers"].split())


@cache
def _beginnings() -> tuple[str, ...]:
    return tuple(_table()["beginnings"])


@cache
def _cues() -> Sequence[str]:
    return tuple(_table()["cues"])


@cache
def _signs() -> re.Pattern[str]:
    words = str(_table()["signs"]).replace("{parent}", str(_table()["parent"])).replace("\n", "")
    return re.compile(words, re.IGNORECASE | re.MULTILINE)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "subagents.toml").read_text(encoding="utf-8"))


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
