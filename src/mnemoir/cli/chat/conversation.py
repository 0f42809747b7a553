"""The conversation a chat goes on with: kept by the server, or by this process alone.

Either says what to send for a new message. The server is sent the message and shows the model the window of what it
stored; without memory the whole talk is sent each time, and nothing of it is to be kept.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mnemoir.cli.chat.replies import Answer

Body = dict[str, Any]


class Conversation(Protocol):
    """`id` is None for one that nobody keeps."""

    @property
    def id(self) -> str | None: ...

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """The body and the headers of the chat request for a new message."""

    def answered(self, text: str, answer: Answer) -> None:
        """The message got that answer, which may have been stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Kept by the server under its id, from the first message on."""

    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """See Conversation."""
        body = {"messages": [{"role": "user", "content": text}], "history": "server", "memoryEnabled": True}
        return body, {"x-session-id": self.id}

    def answered(self, text: str, answer: Answer) -> None:
        """See Conversation; the server has stored it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstored:
    """Kept in `said` while the process runs."""

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


_: tuple[type[Conversation], ...] = (Stored, Unstored)  # checked, never run
