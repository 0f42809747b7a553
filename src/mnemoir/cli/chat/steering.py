"""Commands of a chat that say who answers and how: the model, the system prompt, memory."""

from dataclasses import replace

from mnemoir.cli.chat.conversation import StoredConversation
from mnemoir.cli.chat.display import clipped_line
from mnemoir.cli.chat.session import Chat
from mnemoir.core.errors import InvalidRequest, NotFound

_MOST = 1000  # characters of a prompt that is shown
_NO_CONVERSATION = "conversation_not_found"


async def model(chat: Chat, argument: str) -> None:
    """Choose the model that answers from here on; without a name list them."""
    names = await chat.server.models()
    if not argument:
        chosen = chat.server.model
        chat.display.rows([f"{'*' if name == chosen else ' '} {clipped_line(name, _MOST)}" for name in names])
        if chosen is None:
            chat.display.note("The server chooses.")
        return
    if argument not in names:
        raise NotFound(f"The server has no model {argument[:80]!r}. /model lists them.")
    chat.server.model = argument
    chat.display.note(f"{clipped_line(argument, _MOST)} answers from here on.")


async def system(chat: Chat, argument: str) -> None:
    """Set the system prompt of this conversation; `off` removes it, without a text it is shown."""
    if not argument:
        prompt = await _prompt(chat)
        chat.display.rows([clipped_line(prompt, _MOST)]) if prompt else chat.display.note(
            "There is no system prompt."
        )
        return
    prompt = "" if argument.lower() == "off" else argument
    if chat.unstored_conversation is not None:
        chat.conversation = replace(chat.unstored_conversation, system_prompt=prompt)
    else:
        await _store_prompt(chat, prompt)
    chat.display.note("The system prompt is set." if prompt else "There is no system prompt any longer.")


async def memory(chat: Chat, argument: str) -> None:
    """Switch remembering and recalling on or off, for this chat."""
    if not isinstance(chat.conversation, StoredConversation) or argument.lower() not in ("", "on", "off"):
        raise InvalidRequest("Usage: /memory [on|off]")
    if argument:
        chat.conversation = replace(chat.conversation, has_memory=argument.lower() == "on")
    state = "on" if chat.conversation.has_memory else "off: nothing is recalled, and no fact is learned"
    chat.display.note(f"Memory is {state}.")


async def _prompt(chat: Chat) -> str:
    if chat.unstored_conversation is not None:
        return chat.unstored_conversation.system_prompt
    try:
        return str((await chat.server.conversation(chat.stored_id))["system_prompt"])
    except NotFound as exc:
        if exc.code != _NO_CONVERSATION:
            raise
        return ""


async def _store_prompt(chat: Chat, prompt: str) -> None:
    try:
        await chat.server.change(chat.stored_id, system_prompt=prompt)
    except NotFound as exc:
        if exc.code != _NO_CONVERSATION:
            raise
        await chat.server.begin(chat.stored_id, system_prompt=prompt)  # else the first message does
