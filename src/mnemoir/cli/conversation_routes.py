"""Calls of the routes of conversations, shared by the commands and the terminal chat."""

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from mnemoir.cli.session import Session, named_in_path
from mnemoir.core.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from mnemoir.cli.connection import Connection

CONVERSATIONS = "/api/conversations"
_PAGE = 200
_ROUTES = ("search", "export", "import", "prune")  # a conversation may have such an id


def conversation_path(id: str, below: str = "") -> str:
    """The route of a conversation. Raises InvalidRequest for an id that a URL cannot contain: "", "." and ".."."""
    named = f"%{ord(id[0]):02X}{id[1:]}" if id in _ROUTES else named_in_path(id, "id of a conversation")
    return f"{CONVERSATIONS}/{named}/{below}" if below else f"{CONVERSATIONS}/{named}"


async def all_conversations(
    connection: "Connection", session: Session, user: str | None
) -> AsyncIterator[Mapping[str, Any]]:
    """All conversations of a user, newest activity first, read page by page."""
    cursor = None
    while True:
        query = {"user_id": user, "limit": _PAGE, "cursor": cursor}
        page = await connection.ask("GET", session.target(CONVERSATIONS, query))
        for conversation in page["results"]:
            yield conversation
        cursor = page["next"]
        if cursor is None:
            return


async def conversations_by_id(
    connection: "Connection", session: Session, user: str | None, name: str, *, shortest: int = 1
) -> list[Mapping[str, Any]]:
    """The conversation with the id `name`, else all whose ids begin with it, if it has `shortest` characters."""
    try:
        return [await connection.ask("GET", session.target(conversation_path(name), {"user_id": user}))]
    except (NotFound, InvalidRequest):
        if len(name) < shortest:
            return []
    return [one async for one in all_conversations(connection, session, user) if one["id"].startswith(name)]


def text_of(content: object) -> str:
    """The text of a message's `content`, which is a text, a list of parts, or None."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def tool_names(message: Mapping[str, Any]) -> list[str]:
    """The names of the tools that a message calls."""
    return [str(call.get("function", {}).get("name", "")) for call in message.get("tool_calls") or []]
