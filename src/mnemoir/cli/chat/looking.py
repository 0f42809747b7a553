"""Read-only commands: they list conversations, messages and memories, and search."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from mnemoir.cli.chat.conversation import UnstoredConversation
from mnemoir.cli.chat.display import clipped
from mnemoir.cli.chat.session import Chat
from mnemoir.cli.conversation_routes import text_of, tools_called
from mnemoir.cli.output import counted
from mnemoir.core.clock import from_text, utc_now
from mnemoir.core.errors import InvalidRequest

_TITLE = 40  # characters
_TEXT = 200
_SHORT_ID = 8
_MOST_MEMORIES = 100
_MOST = 1000
_CLEARED = "--- the context was cleared here ---"


async def sessions(chat: Chat, argument: str) -> None:
    """List conversations, newest activity first."""
    found = await chat.server.newest(_count(argument, 10, "/sessions [n]"))
    if not found:
        chat.display.note("There are no conversations yet.")
        return
    now = utc_now()
    chat.display.rows([listed(one, now, is_current=one["id"] == chat.conversation.id) for one in found])


async def history(chat: Chat, argument: str) -> None:
    """Show the last messages of this conversation."""
    count = _count(argument, 20, "/history [n]")
    rows = await _stored_rows(chat, count) if chat.unstored is None else _unstored_rows(chat.unstored, count)
    chat.display.rows(rows) if rows else chat.display.note("This conversation has no messages yet.")


async def search(chat: Chat, argument: str) -> None:
    """Search messages of all conversations; show the best first."""
    if not argument:
        raise InvalidRequest("Usage: /search <words>")
    found = await chat.server.search(argument)
    if not found:
        chat.display.note("Nothing was found.")
        return
    chat.display.rows([f"{short(hit['conversation_id']):<{_SHORT_ID}}  {_row(hit['message'])}" for hit in found])


async def memories(chat: Chat, argument: str) -> None:
    """List the memories of the user."""
    found = await chat.server.memories(_MOST_MEMORIES)
    if not found:
        chat.display.note("Nothing is remembered yet.")
        return
    chat.display.rows([f"{str(one.get('created_at') or '')[:10]}  {clipped(one['memory'], _MOST)}" for one in found])


def listed(conversation: Mapping[str, Any], now: datetime, *, is_current: bool = False) -> str:
    """One line about a conversation."""
    title = clipped(conversation["title"] or conversation["preview"] or "(empty)", _TITLE)
    messages = counted(conversation["message_count"], "message")
    when = ago(from_text(conversation["updated_at"]) or now, now)
    begin = f"{'*' if is_current else ' '} {short(conversation['id']):<{_SHORT_ID}}"
    return f"{begin}  {title:<{_TITLE}}  {messages:>12}  {when}"


def short(id: str) -> str:
    """The id, shortened for lists."""
    return clipped(id[:_SHORT_ID], _SHORT_ID)


def ago(then: datetime, now: datetime) -> str:
    """The time since `then` in its largest unit, such as "2 days ago"; a date from 30 days on."""
    passed = now - then
    if passed >= timedelta(days=30):
        return then.date().isoformat()
    steps = ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute"))
    for step, name in steps:
        if passed >= step:
            return f"{counted(passed // step, name)} ago"
    return "just now"


async def _stored_rows(chat: Chat, count: int) -> list[str]:
    conversation = await chat.server.conversation(chat.stored_id)
    messages = await chat.server.last_messages(chat.stored_id, count)
    cleared = conversation["context_after"] or 0
    before = [_row(message) for message in messages if message["id"] <= cleared]
    after = [_row(message) for message in messages if message["id"] > cleared]
    return [*before, *([_CLEARED] if before else []), *after]


def _unstored_rows(conversation: UnstoredConversation, count: int) -> list[str]:
    return [f"{one['role']:<9}  {clipped(one['content'], _TEXT)}" for one in conversation.said[-count:]]


def _row(message: Mapping[str, Any]) -> str:
    """One line about a message: number, time, role, text; `!` marks a pinned message."""
    when = str(message["created_at"] or "")[:16].replace("T", " ")
    calls = [f"[calls {clipped(name, _TITLE)}]" for name in tools_called(message)]
    ending = ["[incomplete]"] if message["finish_reason"] == "incomplete" else []
    text = " ".join([clipped(text_of(message["content"]), _TEXT), *calls, *ending]).strip()
    pinned = "!" if message["pinned"] else " "
    return f"{pinned}#{message['id']:<5} {when:<16}  {message['role']:<9}  {text}"


def _count(argument: str, default: int, usage: str) -> int:
    """The number of rows asked for. Raises InvalidRequest for anything else."""
    if not argument:
        return default
    if not (argument.isascii() and argument.isdigit() and 0 < int(argument[:9]) <= _MOST):
        raise InvalidRequest(f"Usage: {usage}, with n from 1 to {_MOST}")
    return int(argument)
