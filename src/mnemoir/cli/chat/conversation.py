"""The conversation of a chat, stored by the server or held by this process only.

Both kinds build the request for a new message. For a stored conversation the request holds the message only, and the
server gives the model a window of the stored messages. Without memory each request holds the whole conversation and
tells the server not to store it.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mnemoir.cli.chat.replies import Answer

Body = dict[str, Any]


class Conversation(Protocol):
    """The conversation of a chat; `id` is None when it is not stored."""

    @property
    def id(self) -> str | None: ...

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """The body and the headers of the chat request for a new message."""

    def answered(self, text: str, answer: Answer) -> None:
        """Record a message with its answer, which may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation that the server stores under its id, from the first message on."""

    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """See Conversation."""
        body = {"messages": [{"role": "user", "content": text}], "history": "server", "memoryEnabled": True}
        return body, {"x-session-id": self.id}

    def answered(self, text: str, answer: Answer) -> None:
        """See Conversation. Does nothing: the server has stored both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstoredConversation:
    """A conversation that this process holds in `said` until it ends."""

    id: None = None
    said: list[dict[str, str]] = field(default_factory=list)

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """See Conversation."""
        messages = [*self.said, {"role": "user", "content": text}]
        return {"messages": messages, "history": "client", "store": False}, {}

    def answered(self, text: str, answer: Answer) -> None:
        """See Conversation."""
        if answer.text:
            self.said.append({"role": "user", "content": text})
            self.said.append({"role": "assistant", "content": answer.text})


_: tuple[type[Conversation], ...] = (StoredConversation, UnstoredConversation)  # checked, never run
