"""The loop of a chat and its commands: reads messages and commands and answers them until the input ends.

A failure of one message or command is shown in one line, and the chat goes on.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass

from mnemoir.cli.chat import changing, learning, steering
from mnemoir.cli.chat.conversation import Answer
from mnemoir.cli.chat.session import Chat
from mnemoir.cli.conversation_routes import text_of
from mnemoir.core.errors import InvalidRequest, MnemoirError, NotFound

Run = Callable[[Chat, str], Awaitable[None]]

_LOOKED_AT = 50  # messages from the end, among which the last one of the user is
_LEAVING = ("/exit", "/quit", "/q")
_ENDINGS = {
    "length": "The answer ends here: it reached the model's limit of tokens.",
    "content_filter": "The answer ends here: the model's server held the rest back.",
}


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


async def retry(chat: Chat, argument: str) -> None:
    """Have the last message of the user answered again; both answers stay, on branches of their own."""
    if chat.unstored_conversation is not None:
        asked = chat.unstored_conversation.taken_back()
        if asked is None:
            raise NotFound("This conversation has no messages yet.")
        await _turn(chat, asked)
        return
    messages = await chat.server.last_messages(chat.stored_id, _LOOKED_AT)
    last = next((one for one in reversed(messages) if one["role"] == "user"), None)
    text = "" if last is None else text_of(last["content"])
    if last is None or not text:
        raise NotFound("There is no message with a text to answer again.")
    await _turn(chat, text, parent_id=last["parent_id"] or 0)


COMMANDS: Mapping[str, Command] = {
    "/sessions": Command(usage="/sessions [n]", about="list conversations, newest first (10)", run=changing.sessions),
    "/load": Command(
        usage="/load <session>",
        about="continue another one: its id, or the beginning of it",
        run=changing.load,
        needs_memory=True,
    ),
    "/save": Command(
        usage="/save", about="finish what is still to be made of it", run=changing.save, needs_memory=True
    ),
    "/history": Command(usage="/history [n]", about="show its last messages (20)", run=changing.history),
    "/clear": Command(
        usage="/clear", about="show the model nothing of before; nothing is deleted", run=changing.clear
    ),
    "/forget": Command(usage="/forget", about="delete this conversation for good", run=changing.forget),
    "/search": Command(usage="/search <words>", about="search messages of all conversations", run=changing.search),
    "/memories": Command(usage="/memories", about="list the facts that are remembered", run=changing.memories),
    "/undo": Command(usage="/undo", about="take back what was learned last", run=learning.undo, needs_memory=True),
    "/export": Command(
        usage="/export [file]",
        about="write it to a file: .jsonl, .json, .md or .txt",
        run=changing.export,
        needs_memory=True,
    ),
    "/import": Command(
        usage="/import <file>", about="store the conversations of a file", run=changing.take_in, needs_memory=True
    ),
    "/pin": Command(
        usage="/pin [id] [off]",
        about="show the model a message always, the last one without an id",
        run=changing.pin,
        needs_memory=True,
    ),
    "/model": Command(
        usage="/model [name]", about="choose the model that answers; without a name list them", run=steering.model
    ),
    "/system": Command(
        usage="/system [text]",
        about="set the system prompt; off removes it, without a text show it",
        run=steering.system,
    ),
    "/memory": Command(
        usage="/memory [on|off]", about="recall and learn, or not", run=steering.memory, needs_memory=True
    ),
    "/retry": Command(usage="/retry", about="have the last message answered again", run=retry),
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
    if command.needs_memory and chat.unstored_conversation is not None:
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


async def converse(chat: Chat) -> None:
    """Run the chat until the input ends or a command leaves it."""
    try:
        await _converse(chat)
    finally:
        for task in chat.following:
            task.cancel()
        await asyncio.gather(*chat.following, return_exceptions=True)


async def _converse(chat: Chat) -> None:
    while (text := await chat.input.read()) is not None:
        if not text.strip():
            continue
        if not is_command(text):
            await _run_and_show_failure(
                chat, _turn(chat, text.strip()), stopped="Stopped; the answer stays incomplete."
            )
        elif leaves(text):
            return
        else:
            await _run_and_show_failure(chat, run_command(chat, text), stopped="Stopped.")


async def _turn(chat: Chat, text: str, *, parent_id: int | None = None) -> None:
    answer = Answer()
    try:
        with chat.display.answering(text) as show:
            async for piece in chat.server.answer(chat.conversation, text, answer, parent_id):
                show(piece)
    finally:
        chat.conversation.record_turn(text, answer)
    chat.display.complete(answer, chat.conversation.id)
    if answer.reason in _ENDINGS:
        chat.display.note(_ENDINGS[answer.reason])
    if chat.can_be_interrupted and chat.conversation.id is not None:
        task = asyncio.create_task(learning.follow(chat, chat.conversation.id), name="what was learned")
        chat.following.add(task)
        task.add_done_callback(chat.following.discard)
    if answer.tools:
        chat.display.note(f"The model calls tools, which this chat does not have: {', '.join(answer.tools)}.")


async def _run_and_show_failure(chat: Chat, work: Coroutine[None, None, None], *, stopped: str) -> None:
    """Run `work` and show its failure. An interrupt at a terminal stops only `work`, and `stopped` is shown."""
    try:
        if not chat.can_be_interrupted:
            await work
        elif not await _run_interruptibly(work):
            chat.display.note(stopped)
    except BrokenPipeError:  # the reader of our output has ended
        raise
    except MnemoirError as exc:
        chat.fail(exc.message)
    except Exception as exc:  # noqa: BLE001 - a failing message must not end the chat
        chat.fail(f"{type(exc).__name__}: {exc}")


async def _run_interruptibly(work: Coroutine[None, None, None]) -> bool:
    """True when `work` has ended, False when an interrupt stopped it. Raises what `work` raises."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work)
    before = signal.getsignal(signal.SIGINT)
    with suppress(NotImplementedError):  # on such systems an interrupt ends the chat
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        await asyncio.wait([task])
    finally:
        task.cancel()
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
    if task.cancelled():
        return False
    task.result()
    return True
