"""Texts that existing configurations test for, and separators they split by: not a character of them may change."""

CHUNK_BREAK = "--ChunkBreak--"
BETWEEN_SUMMARIES = "\n--------------\n"  # 14 dashes: chunk summaries that stand in a prompt as what came before
BETWEEN_LATEST = "\n------------\n"  # 12 dashes: chunk summaries that go into the rolling summary
BETWEEN_RECORDS = "\n\n---\n\n"

NO_SUMMARY = "There is not yet a summary file"
NO_STATE_DOCUMENT = "No state document has been created yet"
NO_SUMMARY_FOUND = "No summary found"  # FullChatSummary with isManualConfig
NO_MEMORIES = "There are not yet any memories"
NONE_GENERATED = "No memories have been generated yet"  # RecentMemorySummarizerTool with a discussion
NONE_TO_GRAB = "There are no memories to grab yet"  # the same nodes without a discussion
NONE_PRECEDING = "No preceding memories to show"  # in the prompts that make chunk summaries
TOO_SHORT = "There are no memories. This conversation has not gone long enough for there to be memories."

NO_DISCUSSION = "Cannot perform VectorMemorySearch without a discussionId."
NO_RECORDS = "No relevant memories found in the vector database for the given keywords."
