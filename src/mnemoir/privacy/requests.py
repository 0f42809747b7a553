"""Model requests without personal data, and their answers with the values back in place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.events import (
    Alternative,
    Event,
    Finished,
    ModelEvent,
    Passed,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
)
from mnemoir.core.messages import Extra, Message, ModelRequest, Part, TextPart, ToolCall
from mnemoir.privacy.placeholders import Change, Placeholders, Restorer, in_json, in_json_text


def request_texts(request: ModelRequest) -> list[str]:
    """All texts of a request that may hold personal data. Pictures, sounds and files are not looked into."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    changed_request(request, note)
    return found


def changed_request(request: ModelRequest, change: Change) -> ModelRequest:
    """The request with `change` applied to each of its texts; equal to it when none is changed."""
    output = request.output
    return replace(
        request,
        messages=[changed_message(one, change) for one in request.messages],
        tools=[in_json(tool, change) for tool in request.tools],
        output=None if output is None else replace(output, schema=in_json(output.schema, change)),
        extra=_extra(request.extra, change),
    )


def changed_message(message: Message, change: Change) -> Message:
    """The message with `change` applied to its texts, its speaker's name and the arguments of its tool calls."""
    return replace(
        message,
        parts=tuple(_part(part, change) for part in message.parts),
        name=None if message.name is None else _name(message.name, change),
        tool_calls=tuple(_call(call, change) for call in message.tool_calls),
        extra=_extra(message.extra, change),
    )


def changed_reply(reply: Reply, change: Change) -> Reply:
    """The answer with `change` applied to its texts and the arguments of its tool calls."""
    return replace(
        reply,
        text=change(reply.text),
        thinking=change(reply.thinking),
        refusal=change(reply.refusal),
        tool_calls=[_call(call, change) for call in reply.tool_calls],
        alternatives=[in_json(one, change) for one in reply.alternatives],
    )


def reply_texts(reply: Reply) -> Sequence[str]:
    """The texts of an answer that may hold personal data."""
    calls = [text for call in reply.tool_calls for text in _texts_of_call(call)]
    return [reply.text, reply.refusal, *calls]


def restored_reply(reply: Reply, placeholders: Placeholders) -> Reply:
    """The answer with the values in place of placeholders."""
    restored = changed_reply(reply, placeholders.restored)
    return replace(restored, passed=None if reply.passed is None else _passed(reply.passed, placeholders))


class RestoredEvents:
    """Turns the events of a streamed answer back; a placeholder may be split over them in any way."""

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._channel: tuple[type, int] | None = None
        self._open = Restorer(placeholders)
        self._choices: dict[int, Restorer] = {}

    def take(self, batch: Sequence[Event]) -> list[Event]:
        """The events that are certain with this batch; may be none."""
        return [restored for event in batch for restored in self._take(event)]

    def end(self) -> list[Event]:
        """What is held back of an answer that breaks off."""
        return self._flushed()

    def _take(self, event: Event) -> list[Event]:
        match event:
            case Text() | Thinking() | Refusal():
                before = self._switched((type(event), 0), in_json=False)
                text = self._open.feed(event.text)
                return [*before, type(event)(text)] if text else before
            case ToolCallPart():
                before = self._switched((ToolCallPart, event.index), in_json=not event.custom)
                restored = replace(event, arguments=self._open.feed(event.arguments))
                is_bare = not (restored.arguments or event.id or event.name or event.extra)
                return before if is_bare else [*before, restored]
            case Finished():
                return [*self._flushed(), event]
            case Passed():
                return [_passed(event, self._placeholders)]
            case Alternative():
                return [Alternative(choice=self._choice(event.choice))]
            case _:
                return [event]

    def _switched(self, channel: tuple[type, int], *, in_json: bool) -> list[Event]:
        if channel == self._channel:
            return []
        before = self._flushed()
        self._channel, self._open = channel, Restorer(self._placeholders, in_json=in_json)
        return before

    def _flushed(self) -> list[Event]:
        held = self._open.end()
        if not held or self._channel is None:
            return []
        kind, index = self._channel
        event: ModelEvent = ToolCallPart(index=index, arguments=held) if kind is ToolCallPart else kind(held)
        return [event]

    def _choice(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        delta = choice.get("delta")
        if not isinstance(delta, dict) or not isinstance(choice.get("index"), int):
            return _json(choice, self._placeholders)
        open = self._choices.setdefault(choice["index"], Restorer(self._placeholders))
        content = delta.get("content")
        text = open.feed(content) if isinstance(content, str) else ""
        if choice.get("finish_reason") is not None:
            text += open.end()
        return {**choice, "delta": {**delta, "content": text}} if text or isinstance(content, str) else choice


def _name(name: str, change: Change) -> str:
    """The name of a speaker; servers of models allow no brackets in it."""
    changed = change(name)
    return name if changed == name else changed.strip("[]")


def _part(part: Part, change: Change) -> Part:
    if not isinstance(part, TextPart):
        return part
    return replace(part, text=change(part.text), extra=_extra(part.extra, change))


def _call(call: ToolCall, change: Change) -> ToolCall:
    arguments = change(call.arguments) if call.custom else in_json_text(call.arguments, change)
    return replace(call, arguments=arguments)


def _texts_of_call(call: ToolCall) -> Sequence[str]:
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _call(call, note)
    return found


def _extra(extra: Extra | None, change: Change) -> Extra | None:
    return None if extra is None else replace(extra, members=in_json(extra.members, change))


def _passed(passed: Passed, placeholders: Placeholders) -> Passed:
    answer, choice, message = (
        None if members is None else _json(members, placeholders)
        for members in (passed.answer, passed.choice, passed.message)
    )
    return replace(passed, answer=answer, choice=choice, message=message)


def _json(members: Mapping[str, Any], placeholders: Placeholders) -> Mapping[str, Any]:
    changed: Mapping[str, Any] = in_json(members, placeholders.restored)
    return changed
