"""`search` and `fetch`, the two tools that connectors of hosted chats look for, in the shape that these want.

They find and give memories as documents with an address. Both only read.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from mnemoir.mcp.arguments import MemoryId, Query
from mnemoir.mcp.owner import LIST, SEARCH, Owner
from mnemoir.mcp.plain_server import READS, PlainServer
from mnemoir.mcp.results import Memory, memory_of, one_memory

_MOST_FOUND = 10
_LONGEST_TITLE = 80  # characters


@dataclass(frozen=True, kw_only=True)
class Found:
    """A document that bears on a question."""

    id: str
    title: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Results:
    """Documents that bear on a question, best first."""

    results: list[Found]


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document, whole. `metadata` has the time at which the memory was made, and whose words it is."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def offer_connectors(tools: PlainServer) -> None:
    """Offer both tools."""

    @tools.offer(SEARCH, READS)
    async def search(query: Query) -> Results:
        """Find memories of the person that bear on a question, best first, as documents for `fetch`."""
        owner = tools.owner
        found = [memory_of(one) for one in (await owner.search(query, limit=_MOST_FOUND))["results"]]
        return Results(results=[Found(id=one.id, title=_title(one), url=_url(owner, one)) for one in found])

    @tools.offer(LIST, READS)
    async def fetch(id: MemoryId) -> Document:  # the name that connectors send
        """Give one document that `search` found, whole."""
        owner = tools.owner
        found = await one_memory(owner, id)
        metadata = {"created_at": found.created_at, "origin": found.origin or "user"}
        return Document(
            id=found.id, title=_title(found), text=found.memory, url=_url(owner, found), metadata=metadata
        )


def _title(memory: Memory) -> str:
    text = memory.text_with_origin
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1].rstrip()}…"


def _url(owner: Owner, memory: Memory) -> str:
    """The address of the memory on the server's own pages."""
    if not owner.page:
        return f"mnemoir://memories/{memory.id}"
    project = {"project": owner.project} if owner.project else {}
    return f"{owner.page}/memories?{urlencode({'id': memory.id, 'user': owner.user, **project})}"
