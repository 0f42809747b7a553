"""What a protocol has no place for: names of members of a request that its writer leaves out.

Each function goes with a `write_request` of this room, and changes with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.messages import Extra, Message, ModelRequest, Sampling
from mnemoir.wire.openai_family import is_reasoning_model

_OBJECTS = frozenset({"options", "stream_options", "image_url", "function", "custom"})
_FORMS = frozenset({"type", "text", "content", "refusal"})
_AS_THE_SERVER_LIKES = Sampling()
_NAMELESS = ("openai-responses", "ollama", "ollama-chat")
_ROUTES: Mapping[str, str] = {"openai-chat": "openai-chat", "ollama": "ollama-chat", "ollama-chat": "ollama-chat"}
"""The protocol of chats that a provider speaks, where members of messages can go on by it."""


def lost(request: ModelRequest, provider: str, *, forwards: bool) -> Iterator[str]:
    """Names as OpenAI's chat protocol spells them, paths for those of messages; `provider` as in `ChatModel`."""
    losing = _LOSING.get(provider)
    if losing is not None:
        yield from losing(request)
    yield from lost_of_messages(request.messages, provider, forwards=forwards)


def lost_of_messages(messages: Sequence[Message], provider: str, *, forwards: bool) -> Iterator[str]:
    """The same of the messages alone. Where nothing is forwarded, all that Mnemoir does not read of them is lost."""
    if provider in _NAMELESS and any(one.name is not None and one.role != "tool" for one in messages):
        yield "messages.name"
    route = _ROUTES.get(provider) if forwards else None
    for message in messages:  # nearly none has more than Mnemoir reads, and a history may have hundreds
        if message.extra is not None:
            yield from _untold(message.extra, route, "messages.")
        for part in message.parts:
            if part.extra is not None:
                yield from _untold(part.extra, route, "messages.content.")
        for call in message.tool_calls:
            if call.extra is not None:
                yield from _untold(call.extra, route, "messages.tool_calls.")


def given_names(request: ModelRequest) -> Iterator[str]:
    """The names of all members that say how the model is to answer, and of the client's own."""
    yield from _given(request, "temperature", "top_p", "max_tokens", "seed", "presence_penalty", "frequency_penalty")
    if request.sampling.stop:
        yield "stop"
    if request.reasoning_effort is not None:
        yield "reasoning_effort"
    if request.think is not None:
        yield "think"
    if request.extra is not None:
        yield from names_in(request.extra.members)


def names_in(members: Mapping[str, Any]) -> Iterator[str]:
    """Each member that says something; of an object that is known to hold settings, each of those: `options.num_ctx`.

    A null says nothing.
    """
    for name, value in members.items():
        if name in _OBJECTS and isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in names_in(value))
        elif value is not None:
            yield name


def _lost_by_openai(request: ModelRequest) -> Iterator[str]:
    """The reasoning models of OpenAI refuse what others are steered by."""
    if is_reasoning_model(request.model):
        yield from _given(request, "temperature", "top_p")


def _lost_by_responses(request: ModelRequest) -> Iterator[str]:
    yield from _lost_by_openai(request)
    yield from _given(request, "seed", "presence_penalty", "frequency_penalty")
    for tool in request.tools:
        yield from (f"tools.{name}" for name in tool if name not in ("type", tool.get("type"), "function"))


def _lost_by_ollama(request: ModelRequest) -> Iterator[str]:
    if request.tool_choice not in (None, "auto"):
        yield "tool_choice"
    if any(tool.get("type") == "custom" for tool in request.tools):
        yield "tools.custom"


def _lost_by_the_offline_model(request: ModelRequest) -> Iterator[str]:
    """The offline model reads the messages and nothing else."""
    yield from given_names(request)
    yield from _tools(request)


def _lost_by_completions(request: ModelRequest) -> Iterator[str]:
    yield from _tools(request)
    if request.output is not None:
        yield "response_format"
    if request.reasoning_effort is not None:
        yield "reasoning_effort"


def _lost_by_koboldcpp(request: ModelRequest) -> Iterator[str]:
    """Only the options of a config tree say there how to answer."""
    yield from given_names(replace(request, reasoning_effort=None))
    yield from _lost_by_completions(request)


def _tools(request: ModelRequest) -> Iterator[str]:
    if request.tools:
        yield "tools"
    if request.tool_choice is not None:
        yield "tool_choice"


def _given(request: ModelRequest, *names: str) -> Sequence[str]:
    sampling = request.sampling
    if sampling == _AS_THE_SERVER_LIKES:  # nearly all chats leave it to the model's server
        return ()
    return [name for name in names if getattr(sampling, name) is not None]


def _untold(extra: Extra, route: str | None, at: str) -> Iterator[str]:
    """Members that came by another protocol than `route`, but for those that only tell how a text was written."""
    if extra.route != route:
        yield from (at + name for name in names_in(extra.members) if name not in _FORMS)


_LOSING: Mapping[str, Callable[[ModelRequest], Iterator[str]]] = {
    "openai-chat": _lost_by_openai,
    "openai-responses": _lost_by_responses,
    "ollama": _lost_by_ollama,
    "ollama-chat": _lost_by_ollama,
    "openai-completions": _lost_by_completions,
    "koboldcpp": _lost_by_koboldcpp,
    "ollama-generate": _tools,
    "offline": _lost_by_the_offline_model,
}
