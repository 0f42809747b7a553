"""Writers of requests to models by the name of their protocol, for callers without a client."""

from collections.abc import Mapping
from typing import Any, Protocol

from mnemoir.core.messages import ModelRequest
from mnemoir.wire import (
    koboldcpp,
    ollama_chat,
    ollama_generate,
    openai_chat,
    openai_completions,
    openai_responses,
)


class RequestWriter(Protocol):
    """A `write_request`."""

    def __call__(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The body to send."""


WRITERS: Mapping[str, RequestWriter] = {
    "openai-chat": openai_chat.write_request,
    "openai-completions": openai_completions.write_request,
    "openai-responses": openai_responses.write_request,
    "koboldcpp": koboldcpp.write_request,
    "ollama": ollama_chat.write_request,
    "ollama-chat": ollama_chat.write_request,
    "ollama-generate": ollama_generate.write_request,
}
