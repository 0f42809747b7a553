"""What every import into the conversations of one person goes by: one at a time, as the project's policy has it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from mnemoir.core.conversations import Message
from mnemoir.core.scope import Scope
from mnemoir.privacy.handling import PersonalData

IMPORTS = "\0import"  # in place of a conversation's id, which holds no NUL


async def policy_change(
    personal_data: PersonalData, scope: Scope, *, is_kept: bool
) -> Callable[[str, Message], Message] | None:
    """Gives an imported message as it may be stored, and blocks; None where the policy changes none."""
    loop = asyncio.get_running_loop()
    if (await personal_data.enter(scope)).messages in ("off", "tag"):
        return None

    def change(id: str, message: Message) -> Message:
        within = replace(scope, conversation=id)
        changing = personal_data.messages(within, [message], is_kept=is_kept)
        return asyncio.run_coroutine_threadsafe(changing, loop).result()[0]

    return change
