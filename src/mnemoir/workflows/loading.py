"""Requests of Ollama clients to load a model or to free its memory, without a question.

Only an Ollama server can do that. For other models the request is answered here as Ollama would, because clients
send it without checking the server.
"""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.events import Reply, Usage
from mnemoir.core.messages import ChatRequest, Extra, Loading
from mnemoir.ports.llm import ChatModel
from mnemoir.wire.forwarding import Forwarding, given_names, plain, request_for_provider, takes_raw


async def load(chat: ChatRequest, model: ChatModel, forwarding: Forwarding) -> tuple[Reply, Sequence[str]]:
    """The answer, and the names of the client's members that are not sent. Raises ProviderError.

    Without `keep_alive` a request to unload would load, so an Ollama server that must not get it is not asked.
    """
    assert chat.loading is not None
    request = replace(chat.request, model=model.name, for_client=True)
    if request.raw and not takes_raw(request, model.provider, forwarding):
        request = replace(plain(request), messages=())  # in the form of the chat route
    request, dropped = request_for_provider(request, model.provider, forwarding)
    if model.provider != "ollama" or "keep_alive" in dropped:
        return reply_to_load(chat.loading), dropped
    return await model.ask(request), dropped


def answered_here(chat: ChatRequest) -> tuple[Reply, Sequence[str]]:
    """The answer without a single model to load, as in a config tree; as `load`, without asking a server."""
    request = plain(chat.request) if chat.request.raw else chat.request
    return reply_to_load(chat.loading or "load"), (*request.dropped, *given_names(request))


def reply_to_load(loading: Loading) -> Reply:
    """Ollama's answer to a successful request to load or unload."""
    return Reply(text="", usage=Usage(extra=Extra(route="ollama-chat", members={"done_reason": loading})))
