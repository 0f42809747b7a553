"""The client's side of KoboldCpp's own protocol: one prompt, one text, whole and streamed.

It names no model, since a server holds just one, and counts no tokens in its stream. A stream has no end marker
either: the end of the body is the end of the answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import Finished, ModelEvent, Reply, Text, Usage
from mnemoir.core.messages import ImagePart, ModelRequest
from mnemoir.wire import upstream
from mnemoir.wire.members import Json
from mnemoir.wire.pictures import write_base64
from mnemoir.wire.stream_readers import NdjsonReader
from mnemoir.wire.text_completion import prompt_of


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request body. The path selects streaming, and sampling is controlled by the options only."""
    body = {"prompt": prompt_of(request), **(request.options or {})}
    images = [write_base64(part) for part in request.messages[0].parts if isinstance(part, ImagePart)]
    return {**body, "images": images} if images else body


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    results = body.get("results")
    result = results[0] if isinstance(results, list) and results else None
    text = upstream.text_or_none(upstream.member(result, "text"), "text")
    if not isinstance(result, Mapping) or text is None:
        raise upstream.unusable("no text")
    usage = Usage(
        input_tokens=upstream.count(result.get("prompt_tokens")),
        output_tokens=upstream.count(result.get("completion_tokens")),
    )
    return Reply(text=text, reason=upstream.finish_reason(result.get("finish_reason"), has_calls=False), usage=usage)


class StreamReader:
    """A model's answer from its server-sent events; `finished` once the body has ended.

    Only events named `message` count. A name applies to all events until the next name, unlike in the standard, so
    the lines are read here one by one. A line that cannot be read is skipped and counted.
    """

    def __init__(self) -> None:
        self.finished = False
        self.passed_over = 0
        self._lines = NdjsonReader()
        self._name = b"message"
        self._reason: object = None

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes. Raises ProviderError for an event that is an error."""
        return self._events(self._lines.feed(data))

    def end(self) -> list[ModelEvent]:
        """End the answer, as the body has ended."""
        events = self._events(self._lines.end())
        self.finished = True
        return [*events, Finished(reason=upstream.finish_reason(self._reason, has_calls=False))]

    def _events(self, lines: Sequence[bytes]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for line in lines:
            field, _, value = line.partition(b":")
            if field == b"event":
                self._name = value.strip()
            elif field == b"data" and self._name == b"message":
                self._read(value.strip(), events)
        return events

    def _read(self, data: bytes, events: list[ModelEvent]) -> None:
        if data == b"[DONE]":
            return
        try:
            body = upstream.decode(data)
            text = upstream.text_or_none(body.get("token"), "a token")
        except ProviderInvalidOutput:
            self.passed_over += 1
            return
        if body.get("error"):
            raise upstream.error_in_body(body)
        self._reason = self._reason or body.get("finish_reason")
        if text:
            events.append(Text(text))
