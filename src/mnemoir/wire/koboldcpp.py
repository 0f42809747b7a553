"""The client's side of KoboldCpp's own protocol: one prompt, one text, whole and streamed.

It names no model, since a server holds just one, and counts no tokens in its stream. A stream has no end marker
either: the end of the body is the end of the answer.
"""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.events import Finished, FinishReason, ModelEvent, Reply, Text, Usage
from mnemoir.core.messages import ImagePart, ModelRequest
from mnemoir.wire import upstream
from mnemoir.wire.answers import answer_reader
from mnemoir.wire.answers.end_reasons import finish_reason, read_reason
from mnemoir.wire.answers.error_shapes import is_error, raise_error_in_place, raise_error_of, raise_words_beside
from mnemoir.wire.members import Json, unread
from mnemoir.wire.pictures import write_base64
from mnemoir.wire.stream_readers import NamedEvent
from mnemoir.wire.text_completion import prompt_of

_OF_ANSWERS, _OF_RESULTS = frozenset({"results"}), frozenset({"text", "finish_reason"})


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request body. The path selects streaming, and sampling is controlled by the options only."""
    body = {"prompt": prompt_of(request), **(request.options or {})}
    images = [write_base64(part) for part in request.messages[0].parts if isinstance(part, ImagePart)]
    return {**body, "images": images} if images else body


def read_reply(body: Json) -> Reply:
    """A model's answer; a result without a text is an empty one.

    Raises ProviderInvalidOutput when the body holds none, or the error it holds instead.
    """
    raise_error_of(body)
    results = body.get("results")
    result = results[0] if isinstance(results, list) and results else None
    for further in results[1:] if isinstance(results, list) else ():
        raise_error_of(further)
        read_reason(upstream.member(further, "finish_reason"))
    if not isinstance(result, Mapping):
        raise_error_in_place(body)
        raise upstream.no_answer("no text", body)
    raise_error_of(result)
    text = upstream.text_or_none(result.get("text"), "text") or ""
    if not text:
        raise_words_beside(unread(result, _OF_RESULTS), unread(body, _OF_ANSWERS))
    usage = Usage(
        input_tokens=upstream.count(result.get("prompt_tokens")),
        output_tokens=upstream.count(result.get("completion_tokens")),
    )
    return Reply(
        text=text,
        reason=finish_reason(result.get("finish_reason"), has_calls=False),
        usage=usage,
    )


class AnswerReader(answer_reader.AnswerReader):
    """Reads a model's answer, whole or streamed; a stream is finished once the body has ended.

    Only events named `message` count, and those named `error` are errors.
    """

    names_events = True

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._has_answer = False
        self._reason: FinishReason | None = None
        self._goes_on = False  # the last words came behind a reason

    @property
    def is_reasoned(self) -> bool:
        """See the base class."""
        return self._reason is not None and not self._goes_on

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        if is_error(body.get("error")) or "token" not in body:
            raise_error_in_place(body)
        self._has_answer = True
        text = upstream.text_or_none(body.get("token"), "a token")
        if text:
            events.append(Text(text))
        self._goes_on = bool(text) and self._reason is not None
        if self._goes_on:
            self.check_hole()
        self._reason = self._reason or read_reason(body.get("finish_reason"))

    def read_named(self, event: NamedEvent, events: list[ModelEvent]) -> None:
        """See the base class."""
        if event.name == b"error":
            super().read_named(event, events)

    @classmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
        """See the base class."""
        return read_reply(body)

    def read_done(self, events: list[ModelEvent]) -> None:
        """See the base class: the protocol has no such end."""

    def read_end(self, events: list[ModelEvent]) -> None:
        """See the base class. A body of nothing is no answer."""
        if not self._has_answer:
            raise upstream.ended_early()
        events.append(Finished(reason=finish_reason(self._reason, has_calls=False)))
