"""What the memory routes answer, for the OpenAPI description; routes build the JSON themselves."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

State = Literal["current", "fading", "hidden", "expired", "deleted"]
Event = Literal["ADD", "UPDATE", "DELETE"]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MemoryRecord(_Answer):
    """A memory as every route gives it; what is not set of the optional members is left out."""

    id: str
    memory: str
    user_id: str
    created_at: str
    updated_at: str
    metadata: dict[str, Any] | None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    role: str | None = None
    name: str | None = None
    expiration_date: str | None = None
    valid_to: str | None = None
    replaced_by: str | None = None


class ListedMemory(MemoryRecord):
    """A memory with how it stands: `fading` is the last quarter before it decays at `decays_at`."""

    kind: Literal["fact", "message"]
    state: State
    decays_at: str | None


class MemoryPage(_Answer):
    """Newest first."""

    results: list[MemoryRecord]
    total: int


class ListedMemories(_Answer):
    """A page of a list; `next` is the cursor of the page behind it."""

    results: list[ListedMemory]
    total: int
    next: str | None


class Hit(MemoryRecord):
    """A memory with its score, 0 to 1; `signals` holds each stage's own figure when they were asked for."""

    score: float
    signals: dict[str, float] | None = None


class SearchAnswer(_Answer):
    """Best first. `stages` and `signals` come with `explain`."""

    results: list[Hit]
    degraded: list[str] | None = None
    stages: dict[str, Any] | None = None


class AppliedChange(_Answer):
    """A change that was made."""

    id: str
    memory: str
    event: Event
    previous_memory: str | None = None


class TokenUsage(_Answer):
    """What the model used."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int


class AddAnswer(_Answer):
    """What an add changed, in order; `status` and `event_id` with `async_mode`."""

    results: list[AppliedChange]
    message: str
    usage: TokenUsage | None = None
    status: Literal["PENDING"] | None = None
    event_id: str | None = None


class Turn(_Answer):
    """Words that a change came from."""

    role: str
    content: str
    name: str | None
    timestamp: str | None


class HistoryEvent(_Answer):
    """One change of a memory. `session` is the conversation its turns were said in."""

    id: str
    memory_id: str
    event: Event
    old_memory: str | None
    new_memory: str | None
    created_at: str
    reason: str
    model: str | None
    turns: list[Turn]
    session: str | None


class HistoryAnswer(_Answer):
    """Oldest first."""

    results: list[HistoryEvent]


class Source(Turn):
    """A turn that the memory came from. `message_id` is its place in the conversation, where that is still kept."""

    event_id: str
    session: str | None
    message_id: int | None


class MemoryDetails(_Answer):
    """One memory with all that is known of it."""

    memory: ListedMemory
    sources: list[Source]
    history: list[HistoryEvent]


class Deleted(_Answer):
    """One memory was deleted."""

    success: Literal[True]
    message: str
    id: str


class DeletedAll(_Answer):
    """All memories of a user were deleted."""

    success: Literal[True]
    message: str
    deleted: int


class DuplicateGroup(_Answer):
    """Facts that say nearly the same, the one to keep first; `likeness` (0 to 1) of each further one to it."""

    memories: list[MemoryRecord]
    likeness: list[float]


class Duplicates(_Answer):
    """Most alike first. `total` counts groups, `compared` the facts that were looked at."""

    results: list[DuplicateGroup]
    total: int
    compared: int


class MergeAnswer(_Answer):
    """The changes, and the memory that was kept as it is now."""

    results: list[AppliedChange]
    memory: MemoryRecord


class UserOfProject(_Answer):
    """A user who has memories."""

    user_id: str
    memories: int
    changed_at: str | None


class ProjectWithUsers(_Answer):
    """A project and its users, by name."""

    project: str
    memories: int
    changed_at: str | None
    users: list[UserOfProject]


class Projects(_Answer):
    """By name."""

    results: list[ProjectWithUsers]


class ImportAnswer(_Answer):
    """How many lines were added, and how many were there already."""

    success: Literal[True]
    message: str
    imported: int
    skipped: int


class ExportedMemory(MemoryRecord):
    """One line of an export."""

    history: list[HistoryEvent]


class PromptAnswer(_Answer):
    """What extraction keeps."""

    prompt: str
    isCustom: bool


class DefaultPrompt(_Answer):
    """The prompt that counts again."""

    prompt: str


class ProjectSettingsAnswer(_Answer):
    """A project's settings, the server's where it has none."""

    memoryEnabled: bool
    decayDays: float
    searchLimit: int


class Success(_Answer):
    """It was done."""

    success: Literal[True]


class JobEvent(_Answer):
    """How an add with `async_mode` went."""

    id: str
    event_type: Literal["ADD"]
    status: Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]
    results: list[AppliedChange]
    created_at: str
    updated_at: str
    error: str | None
