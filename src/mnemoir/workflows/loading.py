"""Requests of Ollama's clients that ask nothing: they make a model ready, or free its memory.

Only an Ollama can do that. Elsewhere the request is answered here as an Ollama would answer it, because its clients
send it without asking whether there is anything to load.
"""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.events import Reply, Usage
from mnemoir.core.messages import ChatRequest, Extra, Loading
from mnemoir.ports.llm import ChatModel
from mnemoir.wire.forwarding import Forwarding, given_names, plain, prepared, takes_raw


async def load(chat: ChatRequest, model: ChatModel, forwarding: Forwarding) -> tuple[Reply, Sequence[str]]:
    """The answer, and the names of the client's members that no model gets. Raises ProviderError.

    Without its `keep_alive` a request to unload would load, so an Ollama that must not get it is not asked.
    """
    assert chat.loading is not None
    request = replace(chat.request, model=model.name, for_client=True)
    if request.raw and not takes_raw(request, model.provider, forwarding):
        request = replace(plain(request), messages=())  # in the words of the chat route
    request, dropped = prepared(request, model.provider, forwarding)
    if model.provider != "ollama" or "keep_alive" in dropped:
        return loaded(chat.loading), dropped
    return await model.ask(request), dropped


def answered_here(chat: ChatRequest) -> tuple[Reply, Sequence[str]]:
    """The same where there is no one model to load, as in a config tree."""
    request = plain(chat.request) if chat.request.raw else chat.request
    return loaded(chat.loading or "load"), (*request.dropped, *given_names(request))


def loaded(loading: Loading) -> Reply:
    """The answer of an Ollama that has done it."""
    return Reply(text="", usage=Usage(extra=Extra(route="ollama-chat", members={"done_reason": loading})))
