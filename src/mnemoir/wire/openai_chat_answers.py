"""The answers of OpenAI's chat completions, whole or streamed, read and written.

Reasoning is sent as `reasoning_content`, a name that is not OpenAI's but common among compatible servers. Some
call it `reasoning`: that is forwarded beside it, for clients that read it there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.events import (
    Event,
    FinishReason,
    ModelEvent,
    Note,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    as_events,
)
from mnemoir.wire import upstream
from mnemoir.wire.answers.call_pieces import CallPieces
from mnemoir.wire.answers.choices import NATIVE_REASON, read_choices_of, reason_of, usage_behind, with_reason
from mnemoir.wire.answers.end_reasons import finish_reason, read_reason
from mnemoir.wire.answers.error_shapes import raise_error_of, raise_lost_words, raise_words_beside
from mnemoir.wire.answers.openai_chunks import ChunkReader, passed_of
from mnemoir.wire.content_parts import read_content
from mnemoir.wire.members import Json, is_object, members_for, merged_members, unread
from mnemoir.wire.openai_messages import ROUTE, write_tool_calls
from mnemoir.wire.openai_shapes import read_usage, write_usage
from mnemoir.wire.openai_stream import ChunkWriter, head

FUNCTION_CALL = "function_call"
"""The name of a tool call, the choice of a tool, and an answer that ends with a call, for clients of functions."""

_OF_ANSWERS = frozenset({"role", "content", "refusal", "tool_calls", FUNCTION_CALL, "reasoning_content"})


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """The answer's body; `created` is in seconds since 1970."""
    return orjson.dumps(_reply_body(reply, model, reply_id, created))


def write_function_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """`write_reply` for a client that sent `functions`."""
    body = _reply_body(reply, model, reply_id, created)
    return orjson.dumps({**body, "choices": [of_function_call(choice) for choice in body["choices"]]})


def _reply_body(reply: Reply, model: str, reply_id: str, created: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal or None}
    if reply.tool_calls or reply.refusal:
        message["content"] = reply.text or None
    if reply.tool_calls:
        message["tool_calls"] = write_tool_calls(reply.tool_calls)
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.reason}
    common: dict[str, Any] = {**head(model, reply_id, created, "chat.completion")}
    passed = reply.passed
    if passed is not None and passed.route == ROUTE:
        message |= passed.message or {}
        choice |= passed.choice or {}
        common |= passed.answer or {}
    return {**common, "choices": [choice, *reply.alternatives], "usage": write_usage(reply.usage)}


def read_reply(body: Json) -> Reply:
    """A model's answer; a message without a text is an empty one.

    Raises ProviderInvalidOutput when the body holds none, or the error it holds instead.
    """
    choices = read_choices_of(body)
    choice = choices[0]
    message = _said_in_place(choice) or choice.get("delta")  # which is an only piece in place of a whole answer
    raise_error_of(choice, message)
    read_reason(choice.get(NATIVE_REASON))
    ended = read_reason(reason_of(choice)) is not None  # asked first, for half an answer may be unusable too
    if message is None and (choice.get("message") == {} or ended):
        message = {}  # of a filter, for example
    if not is_object(message):
        raise upstream.unusable("a choice without a message")
    given = _calls_of(message)
    calls = CallPieces().read_all(given) if given else ()
    content = message.get("content")
    text = content if isinstance(content, str) else None  # as in nearly every answer
    said = tuple(read_content(content)) if text is None else ()
    refusal = upstream.text_or_none(message.get("refusal"), "a refusal") or ""
    passed = passed_of(body, choice, message, _OF_ANSWERS, ROUTE)
    reply = Reply(
        text=_text_of(said, Text) if text is None else text,
        reason=finish_reason(reason_of(choice), has_calls=bool(calls)),
        tool_calls=calls,
        thinking=_text_of(said, Thinking) + _thinking(message),
        refusal=refusal + _text_of(said, Refusal),
        usage=read_usage(body.get("usage") or (passed and usage_behind(body))),
        passed=passed,
        alternatives=tuple(map(_read_further, choices[1:])) if len(choices) > 1 else (),
        notes=tuple(event.text for event in said if isinstance(event, Note)) if said else (),
    )
    if not (reply.text or calls or reply.thinking or reply.refusal):
        if passed is not None and not reply.notes:
            raise_lost_words(passed.choice, passed.message)
            raise_words_beside(passed.answer)
        _check_calls(read_reason(reason_of(choice)))
    return reply


def _check_calls(reason: FinishReason | None) -> None:
    """Raise ProviderInvalidOutput where this is the reason of an answer that says nothing and calls no tool."""
    if reason == "tool_calls":
        raise upstream.unusable("neither words nor the tool calls that its reason tells of")


def _text_of(said: Sequence[Event], kind: type[Text | Thinking | Refusal]) -> str:
    return "".join(event.text for event in said if isinstance(event, kind)) if said else ""


def _read_further(choice: Json) -> Json:
    """A choice beside the answer, read as strictly, with its words where clients look for them."""
    return _in_place(with_reason(choice), "message", as_events(read_reply({"choices": [{**choice, "index": 0}]})))


def _in_place(choice: Json, place: str, said: Sequence[ModelEvent]) -> Json:
    """A choice with its words as the text of `place`; as it is where they stand there already."""
    others = {name for name in ("message", "delta", "text") if name != place} & choice.keys()
    content = upstream.member(choice.get(place), "content")
    if not others and isinstance(content, str | None):
        return choice
    held = (choice.get(name) for name in ("delta", "message"))
    message = {name: value for one in held if isinstance(one, Mapping) for name, value in one.items()}
    message["content"] = _text_of(said, Text)
    if thinking := _text_of(said, Thinking):
        message["reasoning_content"] = thinking
    if refusal := _text_of(said, Refusal):
        message["refusal"] = refusal
    return {**{name: value for name, value in choice.items() if name not in others}, place: message}


def _said_in_place(choice: Json) -> Any:
    """The message of a choice, with the text of a text completion where it has none; None where there is neither."""
    message, text = choice.get("message"), choice.get("text")
    if not isinstance(text, str) or not isinstance(message, dict | None) or (message and message.get("content")):
        return message
    is_all = message is None and choice.get("delta") is None
    return {**(message or {}), "content": text} if text or is_all else message


def _thinking(message: Json) -> str:
    value = message.get("reasoning_content") or message.get("reasoning")
    return value if isinstance(value, str) else ""


def _calls_of(said: Json) -> Sequence[object]:
    """The tool calls of a message or a delta; a call by its former name is one. Null stands for none."""
    calls = said.get("tool_calls")
    if calls and not isinstance(calls, list):
        raise upstream.unusable("tool calls that are not a list")
    if not calls and said.get(FUNCTION_CALL):
        return ({"index": 0, "function": said[FUNCTION_CALL]},)
    return [call for call in calls or () if call is not None]


# --- for clients of functions


def without_further_calls(batch: Sequence[Event]) -> Sequence[Event]:
    """The events without the calls after the first one, so that the stored answer equals the one the client gets."""
    return [event for event in batch if not (isinstance(event, ToolCallPart) and event.index)]


def of_function_call(choice: Json) -> Json:
    """A choice of an answer, or of a piece of a streamed one, with the first tool call as its function call."""
    choice = _with_reason(choice)
    part = next((name for name in ("message", "delta") if isinstance(choice.get(name), Mapping)), None)
    if part is None or "tool_calls" not in choice[part]:
        return choice
    said = {name: value for name, value in choice[part].items() if name != "tool_calls"}
    calls = choice[part]["tool_calls"]
    first = next((call for call in calls or () if isinstance(call, Mapping) and not call.get("index")), None)
    if first is not None and isinstance(first.get("function"), Mapping):
        said[FUNCTION_CALL] = first["function"]
    return {**choice, part: said}


def _with_reason(choice: Json) -> Json:
    return {**choice, "finish_reason": FUNCTION_CALL} if choice.get("finish_reason") == "tool_calls" else choice


# --- streams


class StreamWriter(ChunkWriter):
    """Writes an answer as server-sent events; the first delta has the role."""

    route = ROUTE

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool) -> None:
        super().__init__(head(model, reply_id, created, "chat.completion.chunk"), include_usage)

    def _choice(self, text: str, reason: FinishReason | None = None) -> dict[str, Any]:
        return _choice_of({} if reason else {"content": text}, reason)

    def _opening(self) -> bytes:
        return self._chunk(_choice_of({"role": "assistant", "content": ""}))

    def _other(self, event: Event) -> dict[str, Any] | None:
        if isinstance(event, Thinking):
            return _choice_of({"reasoning_content": event.text})
        if isinstance(event, Refusal):
            return _choice_of({"refusal": event.text})
        if isinstance(event, ToolCallPart):
            return _choice_of({"tool_calls": [_write_call_part(event)]})
        return None


class FunctionStreamWriter(StreamWriter):
    """`StreamWriter` for a client that sent `functions`."""

    def _chunk(self, choice: Json) -> bytes:
        return super()._chunk(of_function_call(choice))


def _choice_of(delta: Json, reason: FinishReason | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


class AnswerReader(ChunkReader):
    """Reads a model's answer, whole or streamed."""

    route = ROUTE

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._calls = CallPieces()
        self._by_messages = self._has_thought = False
        self._told: str | None = ""  # by messages that hold all so far; None once they do not
        self._grows = False

    @property
    def _has_words(self) -> bool:
        return bool(self._pieces) or self._has_thought or self._by_messages or self._has_calls

    @property
    def _has_calls(self) -> bool:
        return self._calls.has_calls

    @property
    def _has_whole_calls(self) -> bool:
        return self._calls.are_whole

    @classmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
        """See the base class."""
        return read_reply(body)

    def _in_place(self, choice: Json, said: Sequence[ModelEvent]) -> Json:
        return _in_place(choice, "delta", said)

    def _write_choice(self, reply: Reply) -> dict[str, Any]:
        choice: dict[str, Any] = _reply_body(reply, "", "", 0)["choices"][0]
        return choice

    def _read_content(self, choice: dict[str, Any], events: list[ModelEvent]) -> Json | None:
        delta: Any = choice.get("delta")
        content = delta.get("content") if delta.__class__ is dict else None
        if content.__class__ is str and content:
            self._pieces.append(content)
        elif not content:
            delta = self._beside_delta(choice, delta)
            if delta is None:
                return None
            content = delta.get("content")
        if content:
            if content.__class__ is str:
                events.append(Text(content))
            else:
                said = list(read_content(content))
                if text := _text_of(said, Text):
                    self._pieces.append(text)
                self._has_thought = self._has_thought or any(not isinstance(one, Text | Note) for one in said)
                events += said
        if content and len(delta) == 1:
            return None
        self._rest_of_delta(delta, events)
        return unread(delta, _OF_ANSWERS)

    def _beside_delta(self, choice: dict[str, Any], delta: Any) -> Any:
        """A delta without content, with the message or the text beside it; None where there is nothing of it.

        Behind deltas that said something a message repeats them, and may say more.
        """
        if not isinstance(delta, dict | None):
            raise upstream.unusable("a delta that is not an object")
        message = _said_in_place(choice) if "message" in choice or "text" in choice else None
        if message and self._pieces:
            return self._behind_pieces(delta, message)
        if not message or (self._has_calls and not self._by_messages):
            return delta
        if not isinstance(message, dict):
            raise upstream.unusable("a message that is not an object")
        self._by_messages = self._by_messages or bool(message.get("content") or _calls_of(message))
        return {**(delta or {}), **message, "content": self._new_content(message.get("content"))}

    def _behind_pieces(self, delta: Json | None, message: object) -> Any:
        """A delta with what a message behind the pieces says beyond them."""
        if not isinstance(message, dict):
            return delta
        rest = self._rest_of(_text_of(tuple(read_content(message.get("content"))), Text))
        more: dict[str, Any] = {"content": rest} if rest else {}
        if not self._has_calls:
            more |= {name: message[name] for name in ("tool_calls", FUNCTION_CALL) if message.get(name)}
        return {**(delta or {}), **more} if more else delta

    def _read_last(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        more = self._behind_pieces(None, _said_in_place(choice))
        if more:
            events += read_content(more.get("content"))
            self._rest_of_delta(more, events)

    def _new_content(self, content: object) -> object:
        """What is new of the content of a message: some servers send all so far in each, others its pieces."""
        if not isinstance(content, str) or self._told is None:
            return content
        is_more = len(content) > len(self._told) and content.startswith(self._told)
        if self._told and not is_more and not (self._grows and content in ("", self._told)):
            self._told = None  # pieces
            return content
        self._grows = self._grows or bool(self._told)
        rest = content.removeprefix(self._told)
        self._told = content or self._told
        return rest

    def _rest_of_delta(self, delta: dict[str, Any], events: list[ModelEvent]) -> None:
        thinking = _thinking(delta)
        if thinking:
            self._has_thought = True
            events.append(Thinking(thinking))
        refusal = upstream.text_or_none(delta.get("refusal"), "a refusal")
        if refusal:
            self._has_thought = True
            events.append(Refusal(refusal))
        if delta.get("tool_calls") or FUNCTION_CALL in delta:
            events += self._calls.read_pieces(_calls_of(delta))

    def _finish(self, events: list[ModelEvent]) -> None:
        self._calls.check()
        if not self._has_words:
            _check_calls(self._reason)
        super()._finish(events)


def _write_call_part(part: ToolCallPart) -> dict[str, Any]:
    kind, words = ("custom", "input") if part.custom else ("function", "arguments")
    named = {} if part.name is None else {"name": part.name}
    body: dict[str, Any] = {"index": part.index, kind: {**named, words: part.arguments}}
    if part.id is not None:
        body |= {"id": part.id, "type": kind}
    return body if part.extra is None else merged_members(members_for(part.extra, ROUTE), body)
