"""Discussion settings: the models, prompts and chunk sizes for making memories of discussions.

There are two kinds of memories: chunk summaries, and searchable records. Where endpoint, preset or lookback are not
given for records, those for summaries apply.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from mnemoir.workflows.config.model import ConfigModel, Flag, Line

_NO_EFFECT = "No effect."


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
