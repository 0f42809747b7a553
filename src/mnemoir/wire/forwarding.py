"""Forwarding of a client's request to a model, and the names of the members that are dropped.

A proxy must change only what it means to change: members that Mnemoir does not use are forwarded unchanged to a
server of the same protocol. For another protocol they are translated where it has a member of that meaning. The
remaining members are named, so that the answer can list what was dropped.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import (
    Extra,
    Message,
    ModelRequest,
    OpaquePart,
    PlainMessages,
    Route,
    has_sampling,
)
from mnemoir.wire.members import members_for
from mnemoir.wire.openai_messages import is_reasoning_model
from mnemoir.wire.openai_responses import parts_left_out
from mnemoir.wire.passed_members import Forward, left_out_names, names_in, passed_on

ThinkAs = Literal["none", "reasoning_effort", "chat_template_kwargs"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_MOST_NAMES, _MOST_BYTES, _LONGEST_SHOWN = 20, 1000, 64
_SPOKEN: Mapping[str, Route] = {
    "openai-chat": "openai-chat",
    "openai-completions": "openai-completions",
    "openai-responses": "openai-responses",
    "ollama": "ollama-chat",
    "ollama-chat": "ollama-chat",
    "ollama-generate": "ollama-chat",
}
"""The protocol of a provider's server."""
_RAW_SPOKEN: Mapping[str, Route] = {"openai-chat": "openai-completions", "ollama": "ollama-generate"}
_FORMS = frozenset({"type", "text", "content", "refusal"})
_NAMELESS = ("openai-responses", "ollama", "ollama-chat")
_ROUTES: Mapping[str, str] = {"openai-chat": "openai-chat", "ollama": "ollama-chat", "ollama-chat": "ollama-chat"}
"""The chat protocol of a provider, where it can carry members of messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """The amount that is forwarded: everything, the members known to be harmless, or nothing; and the member that
    replaces Ollama's plain `think` in OpenAI's protocols."""

    forward: Forward = "all"
    think_as: ThinkAs = "none"

    @property
    def forwards(self) -> bool:
        """True when any members that Mnemoir does not use are forwarded."""
        return self.forward != "none"


def takes_raw(request: ModelRequest, provider: str, forwarding: Forwarding) -> bool:
    """True when a raw request can be sent unchanged to this provider's server."""
    route = _RAW_SPOKEN.get(provider)
    return request.extra is not None and request.extra.route == route and forwarding.forwards


def plain(request: ModelRequest) -> ModelRequest:
    """A raw request as messages, for a model that cannot receive it raw; members of raw requests only are dropped.

    Raises NotSupported for a prompt that is not one text.
    """
    extra = request.extra
    if extra is None:
        return replace(request, raw=False)
    prompt = extra.members.get("prompt")
    only = prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt
    if not isinstance(only, str | None):
        raise NotSupported(
            "prompt must be one text: this model cannot be asked for several, or by tokens.", field="prompt"
        )
    return replace(request, raw=False, extra=None, dropped=(*request.dropped, *left_out_names(extra)))


def request_for_provider(
    request: ModelRequest, provider: str, forwarding: Forwarding
) -> tuple[ModelRequest, Sequence[str]]:
    """The request for this provider's server, and the names of the client's members that are left out.

    `provider` is a `ChatModel.provider`. Names of options and of members of messages are paths: `options.num_ctx`.
    """
    dropped = list(request.dropped)
    if request.extra is not None:
        route = request.extra.route if request.raw else _SPOKEN.get(provider)
        extra, left = passed_on(request.extra, route, forwarding.forward)
        request, dropped = replace(request, extra=extra), [*dropped, *left]
    if request.think is not None and not provider.startswith("ollama"):
        request = _with_think(request, provider, forwarding.think_as, dropped)
    dropped += lost_members(request, provider, forwards=forwarding.forwards)
    if not forwarding.forwards and not isinstance(request.messages, PlainMessages):
        request = replace(request, messages=[without_extra(message) for message in request.messages])
    return request, tuple(dict.fromkeys(dropped))


def without_extra(message: Message) -> Message:
    """The message without members that Mnemoir does not read; the same object where there are none."""
    if not _has_extra(message):
        return message
    parts = [part if isinstance(part, OpaquePart) else replace(part, extra=None) for part in message.parts]
    calls = [replace(call, extra=None) for call in message.tool_calls]
    return replace(message, parts=tuple(parts), tool_calls=tuple(calls), extra=None)


def _has_extra(message: Message) -> bool:
    if message.extra is not None:
        return True
    for part in message.parts:  # a loop, since a history may have hundreds of messages
        if part.extra is not None and not isinstance(part, OpaquePart):
            return True
    return any(call.extra is not None for call in message.tool_calls) if message.tool_calls else False


def bounded_names(names: Sequence[str]) -> str:
    """The names for a header or a log line: at most 20 of them and 1 kB, then how many more there are.

    A character that is not allowed in a header becomes `_`, and a name is cut after 64 characters.
    """
    shown: list[str] = []
    for name in names[:_MOST_NAMES]:
        clean = _UNSAFE.sub("_", name)[:_LONGEST_SHOWN] or "_"
        if sum(len(one) + 2 for one in [*shown, clean]) > _MOST_BYTES:
            break
        shown.append(clean)
    more = len(names) - len(shown)
    return ", ".join([*shown, f"+{more}"] if more else shown)


def _with_think(request: ModelRequest, provider: str, think_as: ThinkAs, dropped: list[str]) -> ModelRequest:
    """The request with a plain `think` as a member of OpenAI's protocols; added to `dropped` where there is none."""
    if think_as == "reasoning_effort" and provider.startswith("openai"):
        effort = "medium" if request.think else "none"
        return replace(request, think=None, reasoning_effort=effort, added=("reasoning_effort",))
    if think_as == "chat_template_kwargs" and provider == "openai-chat":
        members = {
            **members_for(request.extra, "openai-chat"),
            "chat_template_kwargs": {"enable_thinking": request.think},
        }
        extra = Extra(route="openai-chat", members=members)
        return replace(request, think=None, extra=extra, added=("chat_template_kwargs",))
    dropped.append("think")
    return replace(request, think=None)


# --- members that a protocol cannot express: each function belongs to a `write_request`, and changes with it


def lost_members(request: ModelRequest, provider: str, *, forwards: bool) -> Iterator[str]:
    """Lost members, named as in OpenAI's chat protocol, paths for those of messages; `provider` as in ChatModel."""
    losing = _LOSING.get(provider)
    if losing is not None:
        yield from losing(request)
    yield from lost_of_messages(request.messages, provider, forwards=forwards)


def lost_of_messages(messages: Sequence[Message], provider: str, *, forwards: bool) -> Iterator[str]:
    """Lost members of messages only. Where nothing is forwarded, all members that Mnemoir does not read are lost."""
    if isinstance(messages, PlainMessages):
        return
    if provider in _NAMELESS and any(one.name is not None and one.role != "tool" for one in messages):
        yield "messages.name"
    route = _ROUTES.get(provider) if forwards else None
    for message in messages:
        if message.extra is not None:
            yield from _untold(message.extra, route, "messages.")
        for part in message.parts:
            if part.extra is not None:
                yield from _untold(part.extra, route, "messages.content.")
        for call in message.tool_calls:
            if call.extra is not None:
                yield from _untold(call.extra, route, "messages.tool_calls.")


def given_names(request: ModelRequest) -> Iterator[str]:
    """The names of all members that control the model's answer, and of the client's own members."""
    yield from _given_options(
        request, "temperature", "top_p", "max_tokens", "seed", "presence_penalty", "frequency_penalty"
    )
    if request.sampling.stop:
        yield "stop"
    if request.reasoning_effort is not None:
        yield "reasoning_effort"
    if request.think is not None:
        yield "think"
    if request.extra is not None:
        yield from names_in(request.extra.members)


def _lost_by_openai(request: ModelRequest) -> Iterator[str]:
    """Sampling members that OpenAI's reasoning models refuse."""
    if is_reasoning_model(request.model):
        yield from _given_options(request, "temperature", "top_p")


def _lost_by_responses(request: ModelRequest) -> Iterator[str]:
    yield from _lost_by_openai(request)
    yield from _given_options(request, "seed", "presence_penalty", "frequency_penalty")
    yield from _lost_form(request)
    for part in parts_left_out(request.messages):
        yield f"messages.content.{part.kind if isinstance(part, OpaquePart) else 'image_url'}"
    for tool in request.tools:
        yield from (f"tools.{name}" for name in tool if name not in ("type", tool.get("type"), "function"))


def _lost_by_ollama(request: ModelRequest) -> Iterator[str]:
    if request.tool_choice not in (None, "auto", "none"):  # `none` is obeyed: no tools are sent
        yield "tool_choice"
    yield from _lost_form(request)
    if any(tool.get("type") == "custom" for tool in request.tools):
        yield "tools.custom"


def _lost_form(request: ModelRequest) -> Iterator[str]:
    """A form of local servers, of which other protocols get at most the schema."""
    if request.output is not None and request.output.is_local_form and not request.output.schema:
        yield "response_format"


def _lost_by_generate(request: ModelRequest) -> Iterator[str]:
    yield from _tools(request)
    yield from _lost_form(request)


def _lost_by_the_offline_model(request: ModelRequest) -> Iterator[str]:
    """All members of a request: the offline model reads the messages only."""
    yield from given_names(request)
    yield from _tools(request)


def _lost_by_completions(request: ModelRequest) -> Iterator[str]:
    yield from _tools(request)
    if request.output is not None:
        yield "response_format"
    if request.reasoning_effort is not None:
        yield "reasoning_effort"


def _lost_by_koboldcpp(request: ModelRequest) -> Iterator[str]:
    """All members of a request: there only the options of a config tree control the answer."""
    yield from given_names(replace(request, reasoning_effort=None))
    yield from _lost_by_completions(request)


def _tools(request: ModelRequest) -> Iterator[str]:
    if request.tools:
        yield "tools"
    if request.tool_choice is not None:
        yield "tool_choice"


def _given_options(request: ModelRequest, *names: str) -> Sequence[str]:
    sampling = request.sampling
    if not has_sampling(sampling):
        return ()
    return [name for name in names if getattr(sampling, name) is not None]


def _untold(extra: Extra, route: str | None, at: str) -> Iterator[str]:
    """Members received by another protocol than `route`, except those that only describe the form of a text."""
    if extra.route != route:
        yield from (at + name for name in names_in(extra.members) if name not in _FORMS)


_LOSING: Mapping[str, Callable[[ModelRequest], Iterator[str]]] = {
    "openai-chat": _lost_by_openai,
    "openai-responses": _lost_by_responses,
    "ollama": _lost_by_ollama,
    "ollama-chat": _lost_by_ollama,
    "openai-completions": _lost_by_completions,
    "koboldcpp": _lost_by_koboldcpp,
    "ollama-generate": _lost_by_generate,
    "offline": _lost_by_the_offline_model,
}
