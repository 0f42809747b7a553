"""VectorMemorySearch: searches the records of the discussion by keywords."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mnemoir.core.runs import RecalledMemory
from mnemoir.memory.discussions.parts import BETWEEN_RECORDS, NO_DISCUSSION, NO_RECORDS
from mnemoir.memory.discussions.reading import Mode, RecordSearch, find_records, text_for_prompt
from mnemoir.workflows.config.model import Flag, Line
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step

_COLUMNS = 5
_LIMIT = 5
_MOST_TRACED = 50  # records in a trace
_LONGEST_TRACED = 2000  # characters of one record in a trace
_MOST_RECORDS = 10_000  # upper bound of the node's limit, which may come from a text


class VectorMemorySearchProperties(NodeProperties):
    """Properties of a VectorMemorySearch node."""

    keywords: Line = Field("", alias="input", description="Words and phrases to find, with semicolons between them.")
    limit: Count = Field(_LIMIT, description="How many records at most.")
    mode: Literal["keyword", "hybrid"] | None = Field(
        None, description="Find words only, or by meaning too; wins over searchMode. Ours."
    )
    search_mode: Line = Field(
        "keyword", alias="searchMode", description="keyword, hybrid, or semantic, which is hybrid here."
    )
    question: Line = Field(
        "", alias="semanticQuery", description="What hybrid search compares by meaning, in place of the keywords."
    )
    weights: Sequence[float] = Field(
        (),
        alias="bm25Weights",
        description="Five: of title, summary, entities, key phrases, and of the summary once more.",
    )
    prefers_recent: Flag = Field(False, alias="useRecencyScoring", description="Let newer records come first.")
    is_dated: Flag = Field(False, alias="includeDates", description="Put the day in front, like [2026-11-20].")
    expands_entities: object = Field(None, alias="useEntityExpansion", description="No effect.")
    embedding_endpoint: object = Field(None, alias="embeddingEndpointName", description="No effect.")

    @property
    def how(self) -> Mode:
        """The mode of search: `keyword` unless one of the two properties says `hybrid`."""
        return self.mode or ("hybrid" if self.search_mode.strip().lower() in ("hybrid", "semantic") else "keyword")


class VectorMemorySearch(ValueNode[VectorMemorySearchProperties]):
    """Searches the records of the discussion. It makes no records and asks no model."""

    kind = "VectorMemorySearch"
    properties_type = VectorMemorySearchProperties
    filled = ("input", "semanticQuery")

    async def value(self, step: Step) -> str:
        """The summaries of the records, best first, or the format's fixed sentence without any."""
        said, discussion = self.properties, step.discussion
        if discussion is None:
            return NO_DISCUSSION
        variables = step.variables()
        how = RecordSearch(
            mode=said.how,
            question=step.fill(said.question, variables),
            weights=self._weights(step),
            prefers_recent=said.prefers_recent,
        )
        keywords = step.fill(said.keywords, variables)
        limit = min(max(step.count(said.limit, _LIMIT, "limit"), 0), _MOST_RECORDS)
        searching = find_records(self.services.discussions, discussion, keywords, limit=limit, how=how)
        records = await read_or(step, searching, [])
        step.trace.memories = [RecalledMemory(text=one.text[:_LONGEST_TRACED]) for one in records[:_MOST_TRACED]]
        return (
            BETWEEN_RECORDS.join(text_for_prompt(record, is_dated=said.is_dated) for record in records) or NO_RECORDS
        )

    def _weights(self, step: Step) -> Sequence[float]:
        weights = self.properties.weights
        if weights and len(weights) != _COLUMNS:
            step.note(f"bm25Weights has {len(weights)} numbers in place of {_COLUMNS}; all columns count alike.")
            return ()
        return weights
