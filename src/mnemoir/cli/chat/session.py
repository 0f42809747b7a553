"""One chat: what it is about now, and where it is typed, answered and shown."""

from dataclasses import dataclass, field

from mnemoir.cli.chat.asking import Server
from mnemoir.cli.chat.conversation import Conversation, Stored, Unstored
from mnemoir.cli.chat.display import Display
from mnemoir.cli.chat.piped import Input
from mnemoir.core.errors import InvalidRequest


@dataclass(slots=True, kw_only=True)
class Chat:
    """`conversation` changes when another one is loaded; `failures` counts what went wrong so far.

    With `can_be_interrupted` an interrupt stops the answer or the command under way, and not the chat.
    """

    server: Server
    input: Input
    display: Display
    conversation: Conversation = field(default_factory=Stored)
    can_be_interrupted: bool = False
    failures: int = 0

    @property
    def stored_id(self) -> str:
        """The id of a conversation that the server keeps. Raises InvalidRequest for one that nobody keeps."""
        if self.conversation.id is None:
            raise InvalidRequest("This conversation is not kept.")
        return self.conversation.id

    @property
    def unstored(self) -> Unstored | None:
        """The conversation, when nobody keeps it."""
        return self.conversation if isinstance(self.conversation, Unstored) else None

    def fail(self, message: str) -> None:
        """Show what went wrong."""
        self.failures += 1
        self.display.error(message)
