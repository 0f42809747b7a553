"""Messages typed at a terminal: lines can be edited, found again, and completed by Tab.

Enter sends, Alt-Enter begins a new line.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from mnemoir.cli.chat.inert import clipped
from mnemoir.cli.chat.piped import Input, is_yes
from mnemoir.cli.chat.typed_lines import HISTORY_FILE, TypedLines
from mnemoir.core.errors import MnemoirError, StorageUnavailable

_MARK = "> "

Listing = Callable[[], AsyncIterator[Mapping[str, Any]]]  # the conversations, newest first


class Typed:
    """Implements Input at a terminal. Without `kept` nothing that is typed outlives the process."""

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

    async def read(self) -> str | None:
        """See Input. An interrupt asks whether to leave; what was typed is not lost by it."""
        unsent = ""
        while True:
            try:
                with patch_stdout(raw=True):  # what is logged meanwhile stands above the line that is typed
                    return await self._lines.prompt_async(_MARK, default=unsent)
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

    async def _ask(self, question: str, *, interrupted: bool) -> bool:
        """`interrupted` is what an interrupt, or the end of the input, stands for."""
        try:
            return is_yes(await self._answers.prompt_async(f"{question} [y/N] "))
        except (KeyboardInterrupt, EOFError):
            return interrupted


class CommandCompleter(Completer):
    """Commands by name; behind those that take one, conversations by id or files by name."""

    def __init__(self, commands: Sequence[str], listing: Listing) -> None:
        self._commands = commands
        self._listing = listing
        self._files = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands that begin as the text does, and the files."""
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
        """The same, and conversations."""
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
                    told = clipped(one["title"] or one["preview"] or "", 40)
                    yield Completion(one["id"], -len(beginning), display=clipped(one["id"], 36), display_meta=told)
        except MnemoirError:
            return  # what cannot be listed cannot be completed; the command itself will tell why


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


_: type[Input] = Typed  # checked, never run
