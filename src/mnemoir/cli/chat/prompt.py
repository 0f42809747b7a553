"""The input of a chat at a terminal, with line editing, history and completion by Tab.

Enter sends the message, Alt-Enter starts a new line. The history is a file that only its owner can read.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from mnemoir.cli.chat.display import clipped_line, inert
from mnemoir.cli.chat.piped import Input, is_yes
from mnemoir.core.errors import MnemoirError, StorageUnavailable

HISTORY_FILE = "chat-history"
_MARK = "> "

Listing = Callable[[], AsyncIterator[Mapping[str, Any]]]  # the conversations, newest first


class TypedLines(FileHistory):
    """The typed lines of earlier chats, newest first. The constructor raises OSError for a file it cannot write."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = folder / HISTORY_FILE
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        os.close(descriptor)
        self._file.chmod(0o600)
        super().__init__(self._file)

    def store_string(self, string: str) -> None:
        """Store a line that is not blank. Write errors are ignored: a full disk must not end a chat."""
        if string.strip():
            with suppress(OSError):
                super().store_string(string)

    def forget(self, texts: Collection[str]) -> None:
        """Delete the lines equal to one of these texts, and all searches, which may contain words of them.

        Raises OSError on failure; the old file then stays unchanged.
        """
        said = {text.strip() for text in texts}
        lines = [line for line in self.load_history_strings() if line.strip() not in said]
        kept = [line for line in lines if not line.lower().startswith("/search")]
        rewritten = self._file.with_name(f"{HISTORY_FILE}.partial")
        rewritten.unlink(missing_ok=True)
        os.close(os.open(rewritten, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self.filename = rewritten
        try:
            for line in reversed(kept):
                super().store_string(line)
            rewritten.replace(self._file)
        finally:
            self.filename = self._file
            rewritten.unlink(missing_ok=True)
        self._loaded_strings = kept


class TerminalInput:
    """Input at a terminal. `kept` stores typed lines for later chats; with None they end with the process."""

    def __init__(self, kept: TypedLines | None, completer: Completer) -> None:
        self._kept = kept
        self._lines: PromptSession[str] = PromptSession(
            history=kept or InMemoryHistory(),
            completer=completer,
            complete_while_typing=False,
            key_bindings=_keys(),
            multiline=True,
            prompt_continuation=" " * len(_MARK),
            enable_suspend=True,
        )
        self._answers: PromptSession[str] = PromptSession(history=InMemoryHistory())
        self._told: list[str] = []

    def tell(self, line: str) -> None:
        """See Input. The line is a part of the prompt, which it stays above when what is typed is sent."""
        self._told.append(inert(line))
        if self._lines.app.is_running:
            self._lines.app.invalidate()

    async def read(self) -> str | None:
        """See Input. An interrupt asks whether to leave and keeps the typed text."""
        unsent = ""
        while True:
            try:
                with patch_stdout(raw=True):  # log lines appear above the prompt
                    typed = await self._lines.prompt_async(self._prompt, default=unsent)
                self._told.clear()
                return typed
            except EOFError:
                return None
            except KeyboardInterrupt:
                unsent = self._lines.default_buffer.text
            if await self._ask("Leave the chat?", interrupted=True):
                return None

    async def confirm(self, question: str) -> bool:
        """See Input."""
        return await self._ask(question, interrupted=False)

    def forget(self, texts: Collection[str]) -> None:
        """See Input."""
        if self._kept is None:
            return
        try:
            self._kept.forget(texts)
        except OSError as exc:
            raise StorageUnavailable(
                f"What was typed is still in {HISTORY_FILE}, which cannot be written: {exc.strerror or exc}."
            ) from exc

    def _prompt(self) -> StyleAndTextTuples:
        return [*(("ansibrightblack", f"{line}\n") for line in self._told), ("", _MARK)]

    async def _ask(self, question: str, *, interrupted: bool) -> bool:
        """Ask yes or no; an interrupt or the end of the input gives `interrupted`."""
        try:
            return is_yes(await self._answers.prompt_async(f"{question} [y/N] "))
        except (KeyboardInterrupt, EOFError):
            return interrupted


class CommandCompleter(Completer):
    """Completion of command names, and of conversation ids or file names as their arguments."""

    def __init__(self, commands: Sequence[str], listing: Listing) -> None:
        self._commands = commands
        self._listing = listing
        self._files = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions of commands and of file names."""
        typed = document.text_before_cursor
        name, behind, argument = typed.partition(" ")
        if not behind:
            yield from (
                Completion(one, -len(typed)) for one in self._commands if typed and one.startswith(typed.lower())
            )
        elif name.lower() in ("/export", "/import"):
            yield from self._files.get_completions(Document(argument), complete_event)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Completions of commands, file names and conversation ids."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        name, behind, argument = document.text_before_cursor.partition(" ")
        if behind and name.lower() == "/load":
            async with aclosing(self._conversations(argument)) as found:
                async for completion in found:
                    yield completion

    async def _conversations(self, beginning: str) -> AsyncGenerator[Completion, None]:
        try:
            async for one in self._listing():
                if one["id"].startswith(beginning):
                    told = clipped_line(one["title"] or one["preview"] or "", 40)
                    yield Completion(
                        one["id"], -len(beginning), display=clipped_line(one["id"], 36), display_meta=told
                    )
        except MnemoirError:
            return  # no completions; the command itself will report the error


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


_: type[Input] = TerminalInput  # checked, never run
