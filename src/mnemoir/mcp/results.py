"""What the tools answer, made of the answers of the routes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mnemoir.core.errors import NotFound
from mnemoir.core.text import RecalledLine, estimate_tokens, one_line, without_unseen
from mnemoir.mcp.owner import Owner


@dataclass(frozen=True, kw_only=True)  # without slots: the library would take one for a default value
class Memory:
    """One memory; `created_at` is ISO 8601. `origin` is whose words they are where it is not the person's."""

    id: str
    memory: str
    created_at: str
    origin: Literal["tool", "document", "assistant"] | None = None

    @property
    def text_with_origin(self) -> str:
        """The memory on one line, behind where it comes from unless the person said it."""
        return one_line(RecalledLine(text=self.memory, origin=self.origin or "").text_with_origin)

    @property
    def line(self) -> str:
        """The memory on one line, with its day and its id."""
        return f"- {self.text_with_origin} ({self.created_at[:10]}, {self.id})"


@dataclass(frozen=True, kw_only=True)  # without slots: the library would take one for a default value
class Change:
    """What became of a memory: ADD, UPDATE or DELETE. One that `waits` is made only when the person approves it."""

    id: str
    memory: str
    event: str
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageText:
    """A message of an earlier conversation."""

    conversation_id: str
    role: str
    text: str
    created_at: str


def memory_of(found: Mapping[str, Any]) -> Memory:
    """A memory as a route answers it."""
    origin = found.get("origin")
    return Memory(
        id=found["id"],
        memory=without_unseen(found["memory"]),
        created_at=found["created_at"] or "",
        origin=origin if origin in ("tool", "document", "assistant") else None,
    )


def change_of(told: Mapping[str, Any], *, waits: bool = False) -> Change:
    """A change as a route answers it."""
    return Change(id=told["id"], memory=told["memory"], event=told["event"], waits=waits)


def message_of(hit: Mapping[str, Any]) -> MessageText:
    """A message as the search of conversations answers it."""
    message = hit["message"]
    return MessageText(
        conversation_id=hit["conversation_id"],
        role=message["role"],
        text=without_unseen(message["content"] or ""),
        created_at=message["created_at"],
    )


def lines_within(memories: Iterable[Memory], max_tokens: int) -> list[str]:
    """The lines that have at most so many tokens together, by estimate; what does not fit is passed over."""
    lines: list[str] = []
    left = max_tokens
    for memory in memories:
        line = memory.line
        if (cost := estimate_tokens(line)) <= left:
            lines.append(line)
            left -= cost
    return lines


async def one_memory(owner: Owner, memory_id: str) -> Memory:
    """One memory, decayed or not. Raises NotFound."""
    found = (await owner.memories_page(id=memory_id, hidden="with"))["results"]
    if not found:
        raise NotFound(f"There is no memory {memory_id[:128]!r} here. List the memories to see their ids.")
    return memory_of(found[0])
