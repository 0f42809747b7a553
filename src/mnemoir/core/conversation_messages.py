"""Messages as conversation memory holds them and gives them out: the public values of `mnemoir.conversations`.

One shape serves both designs. Content is a text, a list of parts (files first, the text last), or None for an
assistant message that only calls tools.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
MediaType = Literal["image", "audio", "video", "document"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text within a list of parts."""

    data: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPart:
    """A file that a model is shown; `data` is its URL, else a data URL of its bytes. `detail` is for images."""

    type: MediaType
    mime_type: str = ""
    url: str = ""
    base64_data: str = field(default="", repr=False)
    format: str = ""
    filename: str = ""
    detail: Literal["low", "high"] = "low"
    tokens: int | None = None  # its declared cost, where it is known

    @property
    def data(self) -> str:
        return self.url or f"data:{self.mime_type};base64,{self.base64_data}"


Part = TextPart | MediaPart
Content = str | list[Part] | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that an assistant message asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """One role-tagged piece of a conversation."""

    role: Role
    content: Content = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Its text parts, or its content; "" for none."""
        if isinstance(self.content, list):
            return "".join(part.data for part in self.content if isinstance(part, TextPart))
        return self.content or ""


def calls_of(message: Message) -> Sequence[ToolCall]:
    """The calls it asks for; none for most messages."""
    return message.tool_calls or ()
