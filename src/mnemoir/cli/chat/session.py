"""The state of one chat: its server, input, output and current conversation."""

import asyncio
from dataclasses import dataclass, field

from mnemoir.cli.chat.asking import Server
from mnemoir.cli.chat.conversation import Conversation, StoredConversation, UnstoredConversation
from mnemoir.cli.chat.display import Display
from mnemoir.cli.chat.piped import Input
from mnemoir.core.errors import InvalidRequest


@dataclass(slots=True, kw_only=True)
class Chat:
    """One chat. Loading another conversation replaces `conversation`; `failures` counts shown errors.

    With `can_be_interrupted` an interrupt stops the current answer or command, but not the chat. `following` waits
    for what is learned from its turns.
    """

    server: Server
    input: Input
    display: Display
    conversation: Conversation = field(default_factory=StoredConversation)
    can_be_interrupted: bool = False
    failures: int = 0
    following: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def stored_id(self) -> str:
        """The id of the stored conversation. Raises InvalidRequest when it is not stored."""
        if self.conversation.id is None:
            raise InvalidRequest("This conversation is not stored.")
        return self.conversation.id

    @property
    def unstored_conversation(self) -> UnstoredConversation | None:
        """The conversation when it is not stored, else None."""
        return self.conversation if isinstance(self.conversation, UnstoredConversation) else None

    def fail(self, message: str) -> None:
        """Show and count an error."""
        self.failures += 1
        self.display.error(message)
