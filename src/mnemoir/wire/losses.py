"""What a protocol has no place for: names of members of a request that its writer leaves out.

Each function goes with a `write_request` of this room, and changes with it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mnemoir.core.messages import Extra, ModelRequest
from mnemoir.wire.openai_family import is_reasoning_model


def lost(request: ModelRequest, provider: str) -> Iterator[str]:
    """Names as OpenAI's chat protocol spells them, paths for those of messages; `provider` as in `ChatModel`."""
    losing = _LOSING.get(provider)
    return iter(()) if losing is None else losing(request)


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
        yield from (path for path, _ in paths(request.extra))


def paths(extra: Extra) -> Iterator[tuple[str, Any]]:
    """Each member with its name; those of Ollama's `options` one by one, as `options.num_ctx`."""
    for name, value in extra.members.items():
        if name == "options" and isinstance(value, Mapping):
            yield from ((f"options.{option}", setting) for option, setting in value.items())
        else:
            yield name, value


def _lost_by_openai(request: ModelRequest) -> Iterator[str]:
    """The reasoning models of OpenAI refuse what others are steered by."""
    if is_reasoning_model(request.model):
        yield from _given(request, "temperature", "top_p")


def _lost_by_responses(request: ModelRequest) -> Iterator[str]:
    yield from _lost_by_openai(request)
    yield from _given(request, "seed", "presence_penalty", "frequency_penalty")
    if any(message.name is not None for message in request.messages):
        yield "messages.name"
    yield from _of_messages(request, "openai-responses")


def _lost_by_ollama(request: ModelRequest) -> Iterator[str]:
    if request.tool_choice not in (None, "auto"):
        yield "tool_choice"
    if any(message.name is not None for message in request.messages):
        yield "messages.name"
    yield from _of_messages(request, "ollama-chat")


def _lost_by_the_offline_model(request: ModelRequest) -> Iterator[str]:
    """The offline model reads the messages and nothing else."""
    yield from given_names(request)
    yield from _tools(request)
    yield from _of_messages(request, "offline")


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


def _given(request: ModelRequest, *names: str) -> Iterator[str]:
    return (name for name in names if getattr(request.sampling, name) is not None)


def _of_messages(request: ModelRequest, route: str) -> Iterator[str]:
    """Unknown members of messages and of their parts that came by another protocol."""
    for message in request.messages:
        if message.extra is not None and message.extra.route != route:
            yield from (f"messages.{name}" for name, value in message.extra.members.items() if value is not None)
        for part in message.parts:
            if part.extra is not None and part.extra.route != route:
                yield from (f"messages.content.{name}" for name in part.extra.members)


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
