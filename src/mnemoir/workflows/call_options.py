"""The options of one call: those of the node's preset, and the parts of a client's request that it gets.

Samplers of any endpoint are translated for the endpoint that is asked. So a backup with another protocol gets the
same samplers by its own names.

A tree sends only what its files name. Only the node that answers the client may send more: tools, a schema of the
answer, and with `forwardClientParameters` of its endpoint all members that the client set. The preset has precedence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import ImagePart, Message, ModelRequest, OpaquePart, are_all_text
from mnemoir.ports.llm import ModelServerKind
from mnemoir.wire.forwarding import Forwarding, given_names, lost_of_messages, request_for_provider, without_extra
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.options import left_out, members_of_samplers
from mnemoir.workflows.question import Target
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)


def preset_of(step: Step, name: str, target: Target) -> Sequence[Mapping[str, Any]]:
    """The layers of settings for one call, the lowest first; samplers that cannot be sent are noted in the trace.

    Raises SettingsError when neither an endpoint with samplers nor a preset file has that name, or when the preset
    file that the endpoint lays over all others is missing.
    """
    user, api_type = step.user, target.api_type
    samplers = user.samplers(name)
    if samplers is None:
        lowest = user.preset(name, api_type)
    else:
        lowest = members_of_samplers(samplers, api_type)
        _note(step, name, target, left_out(samplers, api_type, target.endpoint.api_type))
    return lowest, user.preset(target.endpoint.appended_preset, api_type)


def _note(step: Step, name: str, target: Target, notes: Sequence[str]) -> None:
    """Note them in the trace, and in one line of the log per call."""
    for note in notes:
        step.note(note)
    if notes:
        _log.warning("samplers left out", endpoint=target.name, preset=name, reasons=notes)


def inner_request(asked: ModelRequest, properties: ModelProperties) -> ModelRequest:
    """The client's part of a model request that does not answer the client: its tools, if the node allows them."""
    if not properties.allows_tools:
        return ModelRequest(messages=())
    return ModelRequest(messages=(), tools=asked.tools, tool_choice=asked.tool_choice)


def answering_request(
    asked: ModelRequest,
    properties: ModelProperties,
    kind: ModelServerKind,
    chosen: Forwarding | None,
) -> tuple[ModelRequest, Sequence[str]]:
    """The client's part of the model request that answers it, and the names of its members that are not sent.

    `chosen` is the endpoint's rule of forwarding, None to forward nothing. The limit of the answer's tokens is always
    that of the node.
    """
    dropped = list(asked.dropped)
    tools, tool_choice, output = asked.tools, asked.tool_choice, asked.output
    if not properties.allows_tools:
        dropped += ["tools"] if tools else []
        dropped += ["tool_choice"] if tool_choice is not None else []
        tools, tool_choice = (), None
    if not properties.allows_structured_output and output is not None:
        dropped.append("response_format")
        output = None
    if chosen is None:
        dropped += given_names(asked)
        return ModelRequest(messages=(), tools=tools, tool_choice=tool_choice, output=output), dropped
    if asked.sampling.max_tokens is not None:
        dropped.append("max_tokens")
    part = replace(
        asked,
        messages=(),
        dropped=(),
        tools=tools,
        tool_choice=tool_choice,
        output=output,
        sampling=replace(asked.sampling, max_tokens=None),
    )
    part, lost = request_for_provider(part, kind, chosen)
    return part, [*dropped, *lost]


def overridden(part: ModelRequest, options: Mapping[str, Any]) -> Iterator[str]:
    """The names of the client's members that options of the tree replace."""
    return (name for name in given_names(part) if name.removeprefix("options.") in options)


def as_responder(messages: Sequence[Message], *, forwards: bool) -> Sequence[Message]:
    """The messages of the answering node. Raises NotSupported for parts that need a forwarding endpoint."""
    if forwards or are_all_text(messages):
        return messages
    found = next((part for message in messages for part in message.parts if isinstance(part, OpaquePart)), None)
    if found is not None:
        raise NotSupported(
            f"A part of type {found.kind} is sent only to an endpoint of OpenAI's chat protocol whose file says "
            '"forwardClientParameters": true.',
            field="messages",
        )
    return as_inner(messages)


def as_inner(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without the parts and members that Mnemoir does not read."""
    if are_all_text(messages):
        return messages
    return [without_extra(_without_opaque(message)) for message in messages]


def lost_of(
    asked: Sequence[Message],
    sent: Sequence[Message],
    properties: ModelProperties,
    kind: ModelServerKind,
    *,
    forwards: bool,
) -> Iterator[str]:
    """The names of parts and members in the client's messages that the answering node does not pass on.

    `asked` are the client's messages, `sent` those of the prompt.
    """
    if (
        not properties.accepts_images
        and not are_all_text(asked)
        and any(isinstance(part, ImagePart) for message in asked for part in message.parts)
    ):
        yield "messages.content.image_url"
    yield from lost_of_messages(sent, kind, forwards=forwards)


def _without_opaque(message: Message) -> Message:
    parts = tuple(part for part in message.parts if not isinstance(part, OpaquePart))
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)
