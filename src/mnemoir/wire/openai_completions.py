"""OpenAI's text completions: requests, replies and streams, read and written.

A prompt may hold the turns of a conversation after markers; then its request holds them as messages. The protocol
cannot express reasoning, tools or pictures: they are left out when it is written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.events import Event, FinishReason, ModelEvent, Refusal, Reply, Text
from mnemoir.core.messages import ChatRequest, ModelRequest, Route, text_message
from mnemoir.wire import members, upstream
from mnemoir.wire.answers.choices import read_choices_of, reason_of, with_reason
from mnemoir.wire.answers.end_reasons import finish_reason, read_reason
from mnemoir.wire.answers.error_shapes import raise_error_of, raise_lost_words, raise_words_beside
from mnemoir.wire.answers.openai_chunks import ChunkReader, passed_of
from mnemoir.wire.content_parts import read_content
from mnemoir.wire.members import OWN_MEMBERS, Json, asked_extra, members_for, merged_members, unread, within
from mnemoir.wire.openai_chat import SAMPLING, read_choices, read_sampling, write_sampling
from mnemoir.wire.openai_shapes import read_usage, write_usage
from mnemoir.wire.openai_stream import ChunkWriter, head, write_error
from mnemoir.wire.text_completion import prompt_of, read_marked, write_choice

__all__ = [
    "AnswerReader",
    "StreamWriter",
    "check_answered",
    "count_prompts",
    "read_reply",
    "read_request",
    "write_error",
    "write_reply",
    "write_request",
]

ROUTE: Route = "openai-completions"
_OWN: Mapping[str, tuple[object, ...]] = {
    "suffix": (None, ""),
    "echo": (None, False),
    "best_of": (None, 1),
    "logprobs": (None,),
}
"""Members that only this protocol has, with the values that have no effect."""
_OF_STREAM_OPTIONS = frozenset({"include_usage"})
_OF_CHATS = frozenset({"message", "delta"})
_CONTENT = frozenset({"content"})
_OF_REQUESTS = OWN_MEMBERS | SAMPLING | {"model", "prompt", "stream", "stream_options"}


# --- requests


def read_request(body: Json) -> ChatRequest:
    """Read a client's request: a raw one where only this protocol can express it. See `ModelRequest.raw`.

    Raises InvalidRequest naming the field; unknown members are kept in `extra`.
    """
    body = members.as_object(body, "body")
    options = members.as_object(body.get("stream_options") or {}, "stream_options")
    prompt, is_text = _read_prompt(body.get("prompt"))
    marked = read_marked(prompt)
    choices = read_choices(body)
    own = [name for name, unset in _OWN.items() if body.get(name) not in unset]
    raw = marked is None and (bool(own) or choices > 1 or not is_text)
    known = _OF_REQUESTS - {"prompt"} if raw else _OF_REQUESTS | _OWN.keys()
    route: Route = ROUTE if raw else "openai-chat"
    of_options = asked_extra(options, _OF_STREAM_OPTIONS, route, "stream_options.")
    request = ModelRequest(
        messages=marked or (text_message("user", prompt),),
        model=members.text(body, "model") or "",
        sampling=read_sampling(body),
        choices=choices,
        extra=within(asked_extra(body, known, route), "stream_options", of_options),
        raw=raw,
        dropped=() if raw else tuple(own),
    )
    return ChatRequest(
        request=request,
        stream=members.boolean(body, "stream"),
        is_completion=True,
        unmarked_prompt=prompt if marked is None else None,
        include_usage=members.boolean(options, "include_usage", at="stream_options."),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
    )


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request to a model's server: the prompt is the text of the one message, of a raw request as it was sent."""
    body: dict[str, Any] = {} if request.raw else {"prompt": prompt_of(request)}
    named = {} if request.model is None else {"model": request.model}
    body |= write_sampling(request.sampling)
    if request.options is not None:
        return merged_members(members_for(request.extra, ROUTE), {**body, **request.options, **named})
    body |= named if request.model else {}
    if request.choices > 1:
        body["n"] = request.choices
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return merged_members(members_for(request.extra, ROUTE), body)


def _read_prompt(value: object) -> tuple[str, bool]:
    """The prompt as text, and True if it is one text: several prompts are joined for traces, tokens left out."""
    if value is None:
        return "", True
    if isinstance(value, str):
        return members.as_text(value, "prompt"), True
    given = members.as_list(value, "prompt")
    if not given or not all(isinstance(item, str) or _is_token(item) or _are_tokens(item) for item in given):
        members.refuse("prompt", "a text, a list of texts, or lists of token numbers", value)
    texts = [members.as_text(item, f"prompt[{n}]") for n, item in enumerate(given) if isinstance(item, str)]
    return "\n\n".join(texts), len(given) == len(texts) == 1


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_tokens(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_token, value))


def count_prompts(request: ModelRequest) -> int:
    """The number of prompts in a raw request; 1 for any other."""
    prompts = members_for(request.extra, ROUTE).get("prompt") if request.raw else None
    return len(prompts) if isinstance(prompts, list) and not any(map(_is_token, prompts)) else 1


def check_answered(request: ModelRequest, answers: int) -> None:
    """Raise ProviderInvalidOutput where prompts of a raw request have no answer among so many.

    A server that knows no `n` answers each prompt once.
    """
    prompts = count_prompts(request)
    if answers < prompts or prompts < answers < prompts * request.choices:
        raise upstream.unusable(f"{answers} choices for {prompts} prompts, so that a prompt has no answer")


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """The answer's body; `created` is in seconds since 1970."""
    common: dict[str, Any] = {**head(model, reply_id, created, "text_completion")}
    choice: dict[str, Any] = {**write_choice(reply.words, reply.reason)}
    if reply.passed is not None and reply.passed.route == ROUTE:
        choice |= reply.passed.choice or {}
        common |= reply.passed.answer or {}
    choices = [choice, *map(_text_choice, reply.alternatives)]
    return orjson.dumps({**common, "choices": choices, "usage": write_usage(reply.usage)})


def _text_choice(choice: Json) -> Json:
    """A further choice, or a piece of one, as text: that of a chat model holds a message or a delta."""
    said = choice.get("message", choice.get("delta"))
    if not isinstance(said, Mapping):
        return choice
    text = said.get("content") or said.get("refusal") or ""
    return {**write_choice(str(text), choice.get("finish_reason")), "index": choice.get("index")}


def read_reply(body: Json) -> Reply:
    """A model's answer; a choice without a text is an empty one where it has a reason of its own.

    Raises ProviderInvalidOutput when the body holds none, or the error it holds instead.
    """
    choices = read_choices_of(body)
    choice = choices[0]
    raise_error_of(choice)
    ended = read_reason(reason_of(choice)) is not None  # asked first, for half an answer may be unusable too
    text = _text_of(choice, "message", "delta")
    if text is None and "text" not in choice and not ended:
        raise upstream.unusable("no text")
    passed = passed_of(body, choice, {}, frozenset(), ROUTE)
    if passed is not None and not text:
        raise_lost_words(passed.choice)
        raise_words_beside(passed.answer)
    return Reply(
        text=text or "",
        reason=finish_reason(reason_of(choice), has_calls=False),
        usage=read_usage(body.get("usage")),
        passed=passed,
        alternatives=tuple(map(_read_further, choices[1:])) if len(choices) > 1 else (),
    )


def _read_further(choice: Json) -> Json:
    """A choice beside the answer, read as strictly, with its text where clients look for it."""
    return _in_place(with_reason(choice), read_reply({"choices": [{**choice, "index": 0}]}).text)


def _in_place(choice: Json, text: str) -> Json:
    """A choice with its text in its place, where a server that answers as a chat has a message or a delta."""
    if choice.keys().isdisjoint(_OF_CHATS):
        return choice
    return {**{name: value for name, value in choice.items() if name not in _OF_CHATS}, "text": text}


def _text_of(choice: Json, *holders: str) -> str | None:
    """The text of a choice; of a server that answers as a chat, that of its message or delta, the `holders`.

    Raises ProviderInvalidOutput where a choice without a text has words in another place.
    """
    text = upstream.text_or_none(choice.get("text"), "text")
    for name in () if text else holders:
        said = choice.get(name)
        if isinstance(said, Mapping):
            raise_error_of(said)
            text = text or "".join(one.text for one in read_content(said.get("content")) if isinstance(one, Text))
            if not text:
                raise_lost_words(unread(said, _CONTENT))
        elif said:
            raise upstream.unusable(f"a {name} that is not an object")
    return text


# --- streams


class StreamWriter(ChunkWriter):
    """Writes an answer as server-sent events."""

    route = ROUTE

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool) -> None:
        super().__init__(head(model, reply_id, created, "text_completion"), include_usage)

    def _choice(self, text: str, reason: FinishReason | None = None) -> dict[str, Any]:
        return {**write_choice(text, reason)}

    def _chunk(self, choice: Json) -> bytes:
        return super()._chunk(_text_choice(choice))

    def _other(self, event: Event) -> dict[str, Any] | None:
        return self._choice(event.text) if isinstance(event, Refusal) else None


class AnswerReader(ChunkReader):
    """Reads a model's answer, whole or streamed."""

    route = ROUTE

    @classmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
        """See the base class."""
        return read_reply(body)

    def _in_place(self, choice: Json, said: Sequence[ModelEvent]) -> Json:
        return _in_place(choice, "".join(event.text for event in said if isinstance(event, Text)))

    def _write_choice(self, reply: Reply) -> dict[str, Any]:
        beside = reply.passed.choice if reply.passed is not None else None
        return {**write_choice(reply.words, reply.reason), **(beside or {})}

    def _read_content(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        text = _text_of(choice, "delta")
        if text:
            self._pieces.append(text)
        elif whole := _text_of(choice, "message"):  # behind the pieces it repeats them, and may say more
            text = self._rest_of(whole)
        if text:
            events.append(Text(text))

    def _read_last(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        rest = self._rest_of(_text_of({"message": choice["message"]}, "message") or "")
        if rest:
            events.append(Text(rest))
