"""What the routes of conversations answer, as OpenAPI describes it. Nothing is checked against these at run time."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mnemoir.conversations.messages import Role
from mnemoir.conversations.strategies.strategy import StrategyName
from mnemoir.conversations.window_parts import PartState


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConversationAnswer(_Answer):
    """A conversation. `head` is the message its thread ends with; windows begin behind `context_after`."""

    id: str
    title: str | None
    user_id: str
    tags: list[str]
    custom: dict[str, Any]
    system_prompt: str
    created_at: str
    updated_at: str
    head: int | None
    context_after: int | None
    message_count: int
    preview: str


class ConversationPage(_Answer):
    """Conversations, newest activity first; `next` is the cursor of the following page."""

    results: list[ConversationAnswer]
    next: str | None


class TextPartAnswer(_Answer):
    """A text in a list of parts."""

    type: Literal["text"]
    text: str


class MediaUrl(_Answer):
    """Where a picture, sound or film is: on the web, or `mnemoir:attachments/{conversation}/{name}`."""

    url: str
    detail: str | None = None


class ImagePartAnswer(_Answer):
    """A picture."""

    type: Literal["image_url"]
    image_url: MediaUrl


class AudioPartAnswer(_Answer):
    """A sound."""

    type: Literal["audio_url"]
    audio_url: MediaUrl


class VideoPartAnswer(_Answer):
    """A film."""

    type: Literal["video_url"]
    video_url: MediaUrl


class FileData(_Answer):
    """A document."""

    filename: str
    file_data: str


class FilePartAnswer(_Answer):
    """A document as a part of a message."""

    type: Literal["file"]
    file: FileData


PartAnswer = Annotated[
    TextPartAnswer | ImagePartAnswer | AudioPartAnswer | VideoPartAnswer | FilePartAnswer,
    Field(discriminator="type"),
]
ContentAnswer = str | list[PartAnswer] | None


class FunctionAnswer(_Answer):
    """The name of a tool, and what it is called with: JSON, or whatever the model wrote."""

    name: str
    arguments: str


class ToolCallAnswer(_Answer):
    """A call of a tool that a model asked for."""

    id: str
    type: Literal["function"]
    function: FunctionAnswer


class MessageAnswer(_Answer):
    """A stored message. `parent_id` is null at the beginning; `on_thread` tells whether it leads to the head.

    `siblings` are the ids of all that stands behind its parent, itself among it.
    """

    id: int
    parent_id: int | None
    role: Role
    content: ContentAnswer
    tool_calls: list[ToolCallAnswer] | None
    tool_call_id: str | None
    name: str | None
    created_at: str | None
    turn_id: str | None
    run_id: str | None
    finish_reason: str | None
    pinned: bool
    importance: float | None
    on_thread: bool
    siblings: list[int]


class MessagePage(_Answer):
    """Messages, oldest first; `next` is the cursor of the following page.

    Of a thread that page is in front of this one, and `newer` is the cursor of the page behind it. `offset` tells how
    many messages of the thread stand in front of these; null where they begin off the thread.
    """

    results: list[MessageAnswer]
    next: str | None
    newer: str | None
    offset: int | None


class BranchAnswer(_Answer):
    """Messages one behind the other, from where a branch begins to the next choice or its end.

    `of` tells how many begin at the same place, `place` which of them this is, from 1. `text` are the first words.
    """

    first_id: int
    last_id: int
    messages: int
    depth: int
    of: int
    place: int
    on_thread: bool
    ends_on_thread: bool
    role: Role
    text: str


class BranchPage(_Answer):
    """The tree in short, each branch behind the one that it hangs on; `next` is the cursor of the following page."""

    results: list[BranchAnswer]
    total: int
    next: str | None


class AddedMessages(_Answer):
    """The messages that were added, oldest first."""

    results: list[MessageAnswer]


class FoundMessage(_Answer):
    """A message that was found, and the title of its conversation."""

    conversation_id: str
    title: str | None
    message: MessageAnswer
    score: float


class FoundMessages(_Answer):
    """Hits, best first."""

    results: list[FoundMessage]


class SentMessage(BaseModel):
    """A message as a model is sent it; members that are null are left out."""

    role: Role
    content: ContentAnswer
    tool_calls: list[ToolCallAnswer] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class WindowPartAnswer(_Answer):
    """A message that the window holds, or a stretch of the thread that it does not hold.

    `kept`: of the recent part. `retained`: older, and held because it is important or pinned. `summary`, `note`:
    stands for no message, and has a text. `summarised`: in the summary alone. `dropped`: in nothing. `cleared`: in
    front of where the context was begun anew. A stretch is told by its first and last message; its `tokens`
    are an estimate. With `hybrid` a `summarised` and a `dropped` part may tell of the same one: those dropped are its
    system messages, those pinned, and those with an importance of 0.6 or more.
    """

    state: PartState
    tokens: int
    messages: int
    first_id: int | None
    last_id: int | None
    role: Role | None
    text: str | None


class WindowSummary(_Answer):
    """The stored summary that the window shows, shortened where it had to be."""

    text: str
    upto_message_id: int
    tokens: int
    model: str
    created_at: str | None


class RecalledAnswer(_Answer):
    """What would be recalled for a question: the line that a model is shown, best first."""

    role: Role
    text: str
    tokens: int


class WindowAnswer(_Answer):
    """What a model would be shown, and what became of the thread, from its oldest message to the newest.

    `recalls` tells whether chats recall anything at all, as the settings say; `recalled` is null without a question.
    """

    strategy: StrategyName
    max_tokens: int
    tokens: int
    messages: list[SentMessage]
    parts: list[WindowPartAnswer]
    summary: WindowSummary | None
    recalled: list[RecalledAnswer] | None
    recalls: bool


class FlushAnswer(_Answer):
    """All vectors and summaries are made."""

    id: str
    messages: int


class ForgottenAnswer(_Answer):
    """A conversation that was forgotten, and how much there was."""

    success: bool
    message: str
    messages: int
    memories: int
    node_memories: int


class AllForgottenAnswer(ForgottenAnswer):
    """All conversations of a user that were forgotten."""

    conversations: int


class PrunedAnswer(_Answer):
    """The conversations that were removed, or would be."""

    success: bool
    message: str
    ids: list[str]


class CleanupAnswer(_Answer):
    """The node memories that were removed, or would be: objects, and their bytes."""

    success: bool
    message: str
    deleted: int
    kept: int
    failed: int
    bytes: int


class NodeRecordAnswer(_Answer):
    """A message that the node sent or got in a turn; `turn` is the id of its run."""

    turn: str
    role: str
    content: str
    created_at: str
    files: int
    tool_calls: int


NodeProblem = Literal["damaged", "newer"]


class NodeMemoryAnswer(_Answer):
    """The memory of a node. `workflow` and `node` are what it is called by; null for an id too long to be kept.

    A `problem` says that its bytes cannot be read, or that a later version wrote them.
    """

    id: Annotated[str, Field(description="names it in the routes below")]
    application: str | None
    workflow: str | None
    node: str | None
    turns: int
    messages: int
    tokens: int
    size_bytes: int
    updated_at: str
    problem: NodeProblem | None
    damaged_copies: int
    last: list[NodeRecordAnswer]


class NodeMemories(_Answer):
    """The node memories of a conversation, last written first."""

    results: list[NodeMemoryAnswer]


class NodeRecords(_Answer):
    """What a node remembers, oldest first."""

    results: list[NodeRecordAnswer]
    problem: NodeProblem | None


class ClearedAnswer(_Answer):
    """How many objects of node memory were removed."""

    success: bool
    message: str
    deleted: int
