"""Settings of memory: the `memory` property of a node, and the file that tells how memories of discussions are made.

There are two kinds of memories: chunk summaries, and searchable records. Where endpoint, preset or lookback are not
given for records, those for summaries apply.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from mnemoir.conversations.memory_config import MemoryConfig, MemoryMode
from mnemoir.workflows.config.model import ConfigModel, Flag, Line

_CLOSED = ConfigDict(extra="forbid")  # a misspelled member would otherwise be noticed only in the answers
_NO_EFFECT = "No effect."


class NodeWindow(ConfigModel):
    """The number of finished turns shown; in mode `node`, of finished rounds of the node."""

    model_config = _CLOSED

    enabled: Flag = Field(True, description="Whether `size` counts.")
    size: int | None = Field(None, description="So many of the newest, if above 0; else as many as fit, at most 500.")


class NodeRolePrefix(ConfigModel):
    """The prefixes of both sides' messages, for endpoints that complete a text."""

    model_config = _CLOSED

    user: Line = Field(description="In front of the user's.")
    assistant: Line = Field(description="In front of the model's.")


class NodeMemory(ConfigModel):
    """The memory of a Standard node."""

    model_config = _CLOSED

    mode: MemoryMode = Field(
        MemoryMode.CONVERSATION,
        description="`conversation` shows the turns of the stored conversation, `node` what this node was asked and "
        "answered itself.",
    )
    window: NodeWindow | None = Field(None, description="How much is shown; else as much as fits.")
    role_prefix: NodeRolePrefix | None = Field(
        None, description="How both sides are called in a text; must be given for endpoints that complete a text."
    )
    query_prompt_template: Line | None = Field(
        None, description="Takes the place of the user's last message; #sys.query# in it stands for that message."
    )

    @property
    def config(self) -> MemoryConfig:
        """The same settings as the type of the node memories."""
        return MemoryConfig.model_validate(self.model_dump())


def _natural(number: int) -> int:
    """The number, or 0 for a negative one: files of other servers may hold one in place of 0."""
    return max(number, 0)


Natural = Annotated[int, AfterValidator(_natural)]


class ListedEndpoint(ConfigModel):
    """One of several endpoints that share the work."""

    endpoint: Line = Field(alias="endpointName", description="A file in Endpoints/.")


class DiscussionSettings(ConfigModel):
    """The file `Workflows/<user>/<name>.json`, named by the user's `discussionIdMemoryFileWorkflowSettings`."""

    uses_records: Flag = Field(
        False, alias="useVectorForQualityMemory", description="QualityMemory makes records, not chunk summaries."
    )
    summary_workflow: Line = Field(
        "", alias="fileMemoryWorkflowName", description="The workflow that summarises a chunk, {agent1Input}."
    )
    system_prompt: Line = Field(
        "", alias="systemPrompt", description="Without that workflow: the system prompt for a chunk."
    )
    prompt: Line = Field(
        "",
        description="The prompt, with [TextChunk], [Memory_file], [Full_Memory_file] and [Chat_Summary].",
    )
    endpoint: Line = Field("", alias="endpointName", description="The model that is asked; a file in Endpoints/.")
    endpoints: Sequence[ListedEndpoint] = Field(
        (), alias="multiModelList", description="Endpoints that share the chunks, in place of one."
    )
    preset: Line = Field("", description="A file in Presets/; empty sends no sampler settings.")
    max_tokens: int = Field(400, alias="maxResponseSizeInTokens", description="Most tokens of a summary.")
    chunk_tokens: Natural = Field(
        1000,
        alias="chunkEstimatedTokenSize",
        description="Estimated tokens at which chunks are made, and their size.",
    )
    most_messages_between_chunks: Natural = Field(
        5, alias="maxMessagesBetweenChunks", description="Chunks are also made of so many new messages."
    )
    lookback: Natural = Field(3, alias="lookbackStartTurn", description="The newest messages, which are left alone.")
    record_workflow: Line = Field(
        "", alias="vectorMemoryWorkflowName", description="The workflow that makes records of a chunk, {agent1Input}."
    )
    record_endpoint: Line = Field(
        "", alias="vectorMemoryEndpointName", description="The model asked for records; else the one for summaries."
    )
    record_preset: Line = Field("", alias="vectorMemoryPreset", description="Its preset; else the one for summaries.")
    record_max_tokens: int = Field(
        1024, alias="vectorMemoryMaxResponseSizeInTokens", description="Most tokens of its answer."
    )
    record_chunk_tokens: Natural = Field(
        1000, alias="vectorMemoryChunkEstimatedTokenSize", description="As for summaries: tokens, and size of chunks."
    )
    most_messages_between_record_chunks: Natural = Field(
        5, alias="vectorMemoryMaxMessagesBetweenChunks", description="Chunks are also made of so many new messages."
    )
    record_lookback: Natural | None = Field(
        None, alias="vectorMemoryLookBackTurns", description="The newest messages; else as for summaries."
    )
    description: object = Field(None, alias="Display_Only_Description", description="For people.")
    index_topics: object = Field(None, alias="vectorMemoryIndexTopics", description=_NO_EFFECT)
    embedding_endpoint: object = Field(None, alias="embeddingEndpointName", description=_NO_EFFECT)
    embedding_backfill: object = Field(None, alias="embeddingBackfillBatchSize", description=_NO_EFFECT)
    state_document: object = Field(None, alias="useStateDocument", description=_NO_EFFECT)
    state_workflow: object = Field(None, alias="stateDocumentWorkflowName", description=_NO_EFFECT)
    state_retention: object = Field(None, alias="stateDocumentMinRetentionRatio", description=_NO_EFFECT)
    condenses: object = Field(None, alias="condenseMemories", description=_NO_EFFECT)
    condense_after: object = Field(None, alias="memoriesBeforeCondensation", description=_NO_EFFECT)
    condense_buffer: object = Field(None, alias="memoryCondensationBuffer", description=_NO_EFFECT)
    condense_prompt: object = Field(None, alias="condenseMemoriesPrompt", description=_NO_EFFECT)
    condense_system: object = Field(None, alias="condenseMemoriesSystemPrompt", description=_NO_EFFECT)
    condense_endpoint: object = Field(None, alias="condenseMemoriesEndpointName", description=_NO_EFFECT)
    condense_preset: object = Field(None, alias="condenseMemoriesPreset", description=_NO_EFFECT)
    condense_tokens: object = Field(None, alias="condenseMemoriesMaxResponseSizeInTokens", description=_NO_EFFECT)
    condense_timeout: object = Field(None, alias="condensationLockTimeoutSeconds", description=_NO_EFFECT)
