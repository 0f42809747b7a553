"""The chat itself: a message is typed and answered, until there are no more.

What goes wrong with one message, or with one command, is told in a line, and the chat goes on.
"""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress

from mnemoir.cli.chat.commands import is_command, leaves, run_command
from mnemoir.cli.chat.replies import Answer
from mnemoir.cli.chat.session import Chat
from mnemoir.core.errors import MnemoirError

_ENDINGS = {
    "length": "The answer ends here: it reached the model's limit of tokens.",
    "content_filter": "The answer ends here: the model's server held the rest back.",
}


async def converse(chat: Chat) -> None:
    """Until the input ends or a command leaves."""
    while (text := await chat.input.read()) is not None:
        if not text.strip():
            continue
        if not is_command(text):
            await _guarded(chat, _turn(chat, text.strip()), stopped="Stopped; the answer stays incomplete.")
        elif leaves(text):
            return
        else:
            await _guarded(chat, run_command(chat, text), stopped="Stopped.")


async def _turn(chat: Chat, text: str) -> None:
    answer = Answer()
    try:
        with chat.display.answering(text) as show:
            async for piece in chat.server.answer(chat.conversation, text, answer):
                show(piece)
    finally:
        chat.conversation.answered(text, answer)
    chat.display.complete(answer, chat.conversation.id)
    if answer.reason in _ENDINGS:
        chat.display.note(_ENDINGS[answer.reason])
    if answer.tools:
        chat.display.note(f"The model asks for tools, which this chat has not: {', '.join(answer.tools)}.")


async def _guarded(chat: Chat, work: Coroutine[None, None, None], *, stopped: str) -> None:
    """Tell how it failed. An interrupt at a terminal stops it, and nothing else; `stopped` tells of that."""
    try:
        if not chat.can_be_interrupted:
            await work
        elif not await _uninterrupted(work):
            chat.display.note(stopped)
    except BrokenPipeError:  # nobody reads what is shown any more
        raise
    except MnemoirError as exc:
        chat.fail(exc.message)
    except Exception as exc:  # noqa: BLE001 - one message that fails must not end the chat
        chat.fail(f"{type(exc).__name__}: {exc}")


async def _uninterrupted(work: Coroutine[None, None, None]) -> bool:
    """Whether it came to its end; not, if the person at the terminal had it stopped. Raises what it raises."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work)
    before = signal.getsignal(signal.SIGINT)
    with suppress(NotImplementedError):  # where it is not there, an interrupt ends the chat
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
