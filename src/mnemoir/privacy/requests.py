"""Model requests without personal data, and their answers with the values back in place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.events import (
    Alternative,
    Event,
    Finished,
    Passed,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
)
from mnemoir.core.messages import Extra, JsonSchema, Message, ModelRequest, Part, Route, TextPart, ToolCall
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
    sampling = request.sampling
    if sampling.stop:
        sampling = replace(sampling, stop=[change(text) for text in sampling.stop])
    return replace(
        request,
        sampling=sampling,
        messages=[changed_message(one, change) for one in request.messages],
        tools=[in_json(tool, change) for tool in request.tools],
        output=None if request.output is None else _output(request.output, change),
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
    return replace(
        changed_reply(reply, placeholders.with_values),
        passed=None if reply.passed is None else _passed_with_values(reply.passed, placeholders),
        alternatives=[_restored_choice(one, _Delta(placeholders), ends=True) for one in reply.alternatives],
    )


class RestoredEvents:
    """Turns the events of a streamed answer back; a placeholder may be split over them in any way.

    Each text of the answer is put together by itself: what is said, the arguments of each tool call, the texts of
    each further choice, and those that Mnemoir passes on without reading them.
    """

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._spoken: type[Text | Thinking | Refusal] | None = None
        self._speech = Restorer(placeholders)
        self._calls: dict[int, Restorer] = {}
        self._choices: dict[object, _Delta] = {}
        self._passed: dict[Route, _Delta] = {}

    def take(self, batch: Sequence[Event]) -> list[Event]:
        """The events that are certain with this batch; may be none."""
        return [restored for event in batch for restored in self._take(event)]

    def end(self) -> list[Event]:
        """What is held back of an answer that breaks off."""
        return self._flush()

    def _take(self, event: Event) -> list[Event]:
        match event:
            case Text() | Thinking() | Refusal():
                before = self._switch_speech(type(event))
                text = self._speech.feed(event.text)
                return [*before, type(event)(text)] if text else before
            case ToolCallPart():
                before = self._switch_speech(None)
                in_json = not event.custom
                call = self._calls.setdefault(event.index, Restorer(self._placeholders, in_json=in_json))
                restored = replace(event, arguments=call.feed(event.arguments))
                is_bare = not (restored.arguments or event.id or event.name or event.extra)
                return before if is_bare else [*before, restored]
            case Finished():
                return [*self._flush(), event]
            case Passed():
                return [self._passed_on(event)]
            case Alternative():
                return [Alternative(choice=self._choice(event.choice))]
            case _:
                return [event]

    def _switch_speech(self, spoken: type[Text | Thinking | Refusal] | None) -> list[Event]:
        """End the text of the former kind of event and return what was held back of it."""
        if spoken is self._spoken:
            return []
        held, before = self._speech.end(), self._spoken
        self._spoken = spoken
        return [before(held)] if held and before else []

    def _flush(self) -> list[Event]:
        calls = [(index, held) for index, call in self._calls.items() if (held := call.end())]
        passed = [(route, rest) for route, delta in self._passed.items() if (rest := delta.end())]
        return [
            *self._switch_speech(None),
            *(ToolCallPart(index=index, arguments=held) for index, held in calls),
            *(Passed(route=route, message=rest) for route, rest in passed),
        ]

    def _passed_on(self, passed: Passed) -> Passed:
        restored = _passed_with_values(replace(passed, message=None), self._placeholders)
        if not passed.message:
            return replace(restored, message=passed.message)
        delta = self._passed.setdefault(passed.route, _Delta(self._placeholders))
        return replace(restored, message=delta.feed(passed.message))

    def _choice(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        delta = self._choices.setdefault(choice.get("index"), _Delta(self._placeholders))
        return _restored_choice(choice, delta, ends=choice.get("finish_reason") is not None)


class _Delta:
    """The pieces of a message as a protocol words them: texts by name, and tool calls by index."""

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._texts: dict[str, Restorer] = {}
        self._calls: dict[object, Restorer] = {}

    def feed(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        """The piece as far as it is certain; it has all members."""
        return {name: self._member(name, value) for name, value in piece.items()}

    def end(self) -> dict[str, Any]:
        """The members of what was held back."""
        rest: dict[str, Any] = {name: held for name, text in self._texts.items() if (held := text.end())}
        calls = [
            {"index": index, "function": {"arguments": held}}
            for index, call in self._calls.items()
            if (held := call.end())
        ]
        return rest | ({"tool_calls": calls} if calls else {})

    def _member(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._texts.setdefault(name, Restorer(self._placeholders)).feed(value)
        if name == "tool_calls" and isinstance(value, list):
            return [self._call(call) for call in value]
        return in_json(value, self._placeholders.with_values)

    def _call(self, call: Any) -> Any:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
            return in_json(call, self._placeholders.with_values)
        restorer = self._calls.setdefault(call.get("index"), Restorer(self._placeholders, in_json=True))
        return {**call, "function": {**function, "arguments": restorer.feed(function["arguments"])}}


def _restored_choice(choice: Mapping[str, Any], delta: _Delta, *, ends: bool) -> Mapping[str, Any]:
    """A choice, or a piece of one in a stream, as far as it is certain; all of it where it `ends`."""
    name = next((each for each in ("delta", "message") if isinstance(choice.get(each), dict)), None)
    text = choice.get("text")
    if name is None and not isinstance(text, str):
        return choice
    restored = delta.feed({"text": text} if name is None else choice[name])
    if ends:
        restored = _with_rest(restored, delta.end())
    return {**choice, **restored} if name is None else {**choice, name: restored}


def _with_rest(piece: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """A piece with what is added to its members: texts behind texts, calls behind calls."""
    return {**piece, **{name: (piece.get(name) or type(more)()) + more for name, more in rest.items()}}


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


def _output(output: JsonSchema, change: Change) -> JsonSchema:
    return replace(
        output,
        schema=in_json(output.schema, change),
        description=None if output.description is None else change(output.description),
        extra=_extra(output.extra, change),
    )


def _extra(extra: Extra | None, change: Change) -> Extra | None:
    return None if extra is None else replace(extra, members=in_json(extra.members, change))


def _passed_with_values(passed: Passed, placeholders: Placeholders) -> Passed:
    answer, choice, message = (
        None if members is None else _json(members, placeholders)
        for members in (passed.answer, passed.choice, passed.message)
    )
    return replace(passed, answer=answer, choice=choice, message=message)


def _json(members: Mapping[str, Any], placeholders: Placeholders) -> Mapping[str, Any]:
    changed: Mapping[str, Any] = in_json(members, placeholders.with_values)
    return changed
