"""A config tree with a workflow that makes discussion memories, and conversations of a discussion."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import ChatRequest, Message, Role, text_message
from mnemoir.workflows.dispatch import Workflows
from tests.scripted_llm import Asked
from tests.workflows.workflow_kit import Desk, chat

ANSWER = {"title": "Answer", "type": "Standard", "endpointName": "Main", "systemPrompt": "ANSWER", "prompt": ""}
RESPONDER = {**ANSWER, "returnToUser": True}
SUMMARIES: Mapping[str, Any] = {
    "systemPrompt": "SUMMARISE [Memory_file]|[Full_Memory_file]|[Chat_Summary]",
    "prompt": "<[TextChunk]>",
    "endpointName": "Main",
    "chunkEstimatedTokenSize": 20,
    "maxMessagesBetweenChunks": 2,
    "lookbackStartTurn": 2,
}
RECORDS: Mapping[str, Any] = {
    "useVectorForQualityMemory": True,
    "endpointName": "Main",
    "vectorMemoryChunkEstimatedTokenSize": 20,
    "vectorMemoryMaxMessagesBetweenChunks": 2,
    "lookbackStartTurn": 2,
}


def memory_tree(
    desk: Desk,
    *nodes: Mapping[str, Any],
    memory: Mapping[str, Any] = SUMMARIES,
    files: Mapping[str, object] | None = None,
    **members: Any,
) -> Workflows:
    """Ann's tree with these nodes; `memory` is her settings file of discussion memory."""
    settings = {"discussionIdMemoryFileWorkflowSettings": "Memory", **members}
    return desk.tree(*nodes, files={"Workflows/Ann/Memory.json": memory, **(files or {})}, settings=settings)


def said(count: int, *, first: int = 1) -> list[Message]:
    """User and assistant in turn, numbered: `line 01 …`."""
    roles: tuple[Role, ...] = ("user", "assistant")
    return [
        text_message(roles[(number - 1) % 2], f"line {number:02} has words of its own")
        for number in range(first, first + count)
    ]


def of(discussion: str, *messages: Message, stream: bool = False) -> ChatRequest:
    """A request of the discussion, with its tag in the system prompt."""
    return chat(
        text_message("system", f"Be brief.[DiscussionId]{discussion}[/DiscussionId]"), *messages, stream=stream
    )


def place(desk: Desk, discussion: str) -> Discussion:
    return Discussion(root=desk.public / "DiscussionIds", id=discussion, legacy=desk.public)


def summarises(asked: Asked) -> bool:
    return "SUMMARISE" in asked.prompt


def chunk_of(asked: Asked) -> list[str]:
    """The messages of the chunk a model was asked about."""
    prompt: str = asked.body["messages"][-1]["content"]
    return prompt[prompt.index("<") + 1 : prompt.rindex(">")].splitlines()
