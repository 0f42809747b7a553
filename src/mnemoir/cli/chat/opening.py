"""The start of a chat: connects to a server, chooses the conversation, and a terminal or a pipe."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mnemoir.cli.chat.asking import Server
from mnemoir.cli.chat.conversation import Conversation, StoredConversation, UnstoredConversation
from mnemoir.cli.chat.display import JsonLines, Plain, clipped_line
from mnemoir.cli.chat.loop import NAMES, converse
from mnemoir.cli.chat.piped import PipedInput
from mnemoir.cli.chat.session import Chat
from mnemoir.cli.connection import connect
from mnemoir.cli.conversation_routes import conversation_path
from mnemoir.cli.output import count_with_noun, note
from mnemoir.cli.session import Session
from mnemoir.core.errors import Conflict, MnemoirError
from mnemoir.settings import load_settings

if TYPE_CHECKING:
    from mnemoir.cli.chat.prompt import TypedLines

_MOST_TOLD = 5
_TITLE = 60  # characters
_LONGEST_GREETING = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The options of a chat. `conversation` is an id, the beginning of one, or None for a new conversation."""

    asked: Session
    conversation: str | None
    model: str | None
    user: str
    no_memory: bool
    as_json: bool

    async def run(self) -> bool:
        """Run the chat to its end; False when a message failed outside a terminal. Raises MnemoirError."""
        settings = load_settings(self.asked.config, {"storage.data_dir": self.asked.data_dir})
        url = self.asked.url.rstrip("/") if self.asked.url else None
        async with connect(settings, url=url, in_process=self.asked.data_dir is not None, chats=True) as connection:
            server = Server(connection, self.asked, user=self.user, model=self.model)
            await _choose_model(server)
            conversation = await self._open_conversation(server)
            if not self._is_at_terminal():
                display = JsonLines() if self.as_json else Plain()
                chat = Chat(server=server, input=PipedInput(), display=display, conversation=conversation)
            else:
                folder = settings.storage.data_dir
                is_plain = settings.encryption.mode == "off"
                note(await self._greeting(server))
                if not is_plain:
                    _remove_typed_lines(folder)
                chat = _at_terminal(server, conversation, folder if is_plain and not self.no_memory else None)
            await converse(chat)
            return chat.can_be_interrupted or not chat.failures

    async def _open_conversation(self, server: Server) -> Conversation:
        if self.no_memory:
            note("This chat is not stored.")
            return UnstoredConversation()
        if self.conversation is None:
            return StoredConversation()
        found = await server.find_conversations(self.conversation)
        if len(found) > 1:
            ids = ", ".join(one["id"] for one in found[:_MOST_TOLD])
            raise Conflict(f"{len(found)} conversations begin with {self.conversation!r}: {ids}. Name one of them.")
        if not found:
            conversation_path(self.conversation)
            note(f"There is no conversation {self.conversation!r} yet; it begins now.")
            return StoredConversation(id=self.conversation)
        title = found[0]["title"] or found[0]["preview"] or found[0]["id"]
        note(f"Going on with {clipped_line(title, _TITLE)}: {count_with_noun(found[0]['message_count'], 'message')}.")
        return StoredConversation(id=found[0]["id"])

    async def _greeting(self, server: Server) -> str:
        """Who talks to whom, and whether that is remembered."""
        try:
            model = await server.answering_model()
            is_on = not self.no_memory and await server.remembers()
        except MnemoirError as exc:
            return f"{server.place} · user {self.user} · {exc.message}"
        memory = "on" if is_on else "off" if self.no_memory else "off in this project"
        named = f"model {model}" if model else "the server chooses the model"
        return clipped_line(
            f"Mnemoir at {server.place} · {named} · user {self.user} · memory {memory}", _LONGEST_GREETING
        )

    def _is_at_terminal(self) -> bool:
        if self.as_json or os.environ.get("TERM") == "dumb":
            return False
        return sys.stdin.isatty() and sys.stdout.isatty()


async def _choose_model(server: Server) -> None:
    """Have a server of several tree users answer with its first model, unless one was named."""
    with suppress(MnemoirError):  # the first message tells it
        if await server.choose_model():
            note(
                f"{clipped_line(server.model or '', _TITLE)} answers; --model names another one, and so does /model."
            )


def _at_terminal(server: Server, conversation: Conversation, folder: Path | None) -> Chat:
    """A chat at a terminal. `folder` stores typed lines for later chats; None stores none.

    The imports are local, because pipes do not need them.
    """
    from mnemoir.cli.chat.prompt import CommandCompleter, TerminalInput
    from mnemoir.cli.chat.terminal import Terminal

    note("/help lists the commands.")
    completer = CommandCompleter(NAMES, server.conversations)
    typed = TerminalInput(None if folder is None else _typed_lines(folder), completer)
    return Chat(server=server, input=typed, display=Terminal(), conversation=conversation, can_be_interrupted=True)


def _remove_typed_lines(folder: Path) -> None:
    """Remove the lines of chats of before the encryption of what is stored, which would stay plain."""
    from mnemoir.cli.chat.prompt import HISTORY_FILE

    file = folder / HISTORY_FILE
    try:
        file.unlink(missing_ok=True)
    except OSError as exc:
        note(f"{file} holds what was typed in plain, and cannot be removed: {exc.strerror or exc}.")


def _typed_lines(folder: Path) -> "TypedLines | None":
    from mnemoir.cli.chat.prompt import TypedLines

    try:
        return TypedLines(folder)
    except OSError as exc:
        note(f"Typed lines are not stored for later chats: {exc.filename} cannot be written: {exc.strerror or exc}.")
        return None
