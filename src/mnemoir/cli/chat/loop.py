"""The loop of a chat: reads messages and commands and answers them until the input ends.

A failure of one message or command is shown in one line, and the chat goes on.
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
    """Run the chat until the input ends or a command leaves it."""
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
        chat.display.note(f"The model calls tools, which this chat does not have: {', '.join(answer.tools)}.")


async def _guarded(chat: Chat, work: Coroutine[None, None, None], *, stopped: str) -> None:
    """Run `work` and show its failure. An interrupt at a terminal stops only `work`, and `stopped` is shown."""
    try:
        if not chat.can_be_interrupted:
            await work
        elif not await _uninterrupted(work):
            chat.display.note(stopped)
    except BrokenPipeError:  # the reader of our output has ended
        raise
    except MnemoirError as exc:
        chat.fail(exc.message)
    except Exception as exc:  # noqa: BLE001 - a failing message must not end the chat
        chat.fail(f"{type(exc).__name__}: {exc}")


async def _uninterrupted(work: Coroutine[None, None, None]) -> bool:
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
