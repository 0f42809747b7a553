"""The table of the commands of a chat, which begin with a slash."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from mnemoir.cli.chat import changing, files, looking
from mnemoir.cli.chat.session import Chat
from mnemoir.core.errors import InvalidRequest, NotFound

Run = Callable[[Chat, str], Awaitable[None]]

_LEAVING = ("/exit", "/quit", "/q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command. /help shows `about`; a command that `needs_memory` works on stored conversations only."""

    usage: str
    about: str
    run: Run
    needs_memory: bool = False


async def help(chat: Chat, argument: str) -> None:
    """List the commands."""
    told = [(command.usage, command.about) for command in COMMANDS.values()]
    chat.display.rows([f"{usage:<18} {about}" for usage, about in [*told, (", ".join(_LEAVING), "leave")]])


COMMANDS: Mapping[str, Command] = {
    "/sessions": Command(usage="/sessions [n]", about="list conversations, newest first (10)", run=looking.sessions),
    "/load": Command(
        usage="/load <session>",
        about="continue another one: its id, or the beginning of it",
        run=changing.load,
        needs_memory=True,
    ),
    "/save": Command(
        usage="/save", about="finish what is still to be made of it", run=changing.save, needs_memory=True
    ),
    "/history": Command(usage="/history [n]", about="show its last messages (20)", run=looking.history),
    "/clear": Command(
        usage="/clear", about="show the model nothing of before; nothing is deleted", run=changing.clear
    ),
    "/forget": Command(usage="/forget", about="delete this conversation for good", run=changing.forget),
    "/search": Command(usage="/search <words>", about="search messages of all conversations", run=looking.search),
    "/memories": Command(usage="/memories", about="list the facts that are remembered", run=looking.memories),
    "/export": Command(
        usage="/export [file]",
        about="write it to a file: .jsonl, .json, .md or .txt",
        run=files.export,
        needs_memory=True,
    ),
    "/import": Command(
        usage="/import <file>", about="store the conversations of a file", run=files.take_in, needs_memory=True
    ),
    "/pin": Command(
        usage="/pin [id] [off]",
        about="show the model a message always, the last one without an id",
        run=changing.pin,
        needs_memory=True,
    ),
    "/help": Command(usage="/help", about="list the commands", run=help),
}
NAMES = (*COMMANDS, *_LEAVING)


def is_command(text: str) -> bool:
    """True when the text begins with a slash; a leading blank makes it a message."""
    return text.startswith("/")


def leaves(text: str) -> bool:
    """True when the command ends the chat."""
    return _parts(text)[0] in _LEAVING


async def run_command(chat: Chat, text: str) -> None:
    """Run a command. Raises MnemoirError with a message for the user."""
    name, argument = _parts(text)
    command = COMMANDS.get(name)
    if command is None:
        raise InvalidRequest(f"There is no command {name[:80]!r}. /help lists them.")
    if command.needs_memory and chat.unstored is not None:
        raise InvalidRequest(
            f"{name} needs a stored conversation. To store conversations, start `mnemoir chat` without --no-memory."
        )
    try:
        await command.run(chat, argument)
    except NotFound as exc:
        if exc.code != "conversation_not_found":
            raise
        chat.display.note("This conversation has no messages yet.")  # the first message creates it


def _parts(text: str) -> tuple[str, str]:
    """The name in lower case, and the argument after it."""
    name, _, argument = text.strip().partition(" ")
    return name.lower(), argument.strip()
