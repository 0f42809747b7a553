"""Writing of the streams of OpenAI's chat and text completions: chunks, their end, usage and errors.

The two differ in the content of a choice: a delta or a text. A piece of text is spliced between bytes made once per
answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import orjson

from mnemoir.core.errors import InvalidRequest, MnemoirError, ProviderError, RateLimited
from mnemoir.core.events import (
    Alternative,
    Event,
    Finished,
    FinishReason,
    Passed,
    Text,
    Usage,
)
from mnemoir.core.messages import Route
from mnemoir.wire.members import Json
from mnemoir.wire.openai_shapes import Head, OpenAIErrorBody, write_usage

DONE = b"data: [DONE]\n\n"
HEARTBEAT = b":\n\n"
_MARK = "\0"


def head(model: str, reply_id: str, created: int, kind: str) -> Head:
    """The members of every object of an answer; `created` is in seconds since 1970."""
    return {
        "id": reply_id,
        "object": kind,
        "created": created,
        "model": model,
        "system_fingerprint": "fp_mnemoir",
    }


def write_error(exc: MnemoirError) -> dict[Literal["error"], OpenAIErrorBody]:
    """An error as OpenAI's clients read it, with the names given by the model's server, if any."""
    kind, code, param = "server_error", exc.code, None
    if isinstance(exc, InvalidRequest):
        kind, param = "invalid_request_error", exc.field
    elif isinstance(exc, RateLimited):
        kind = "rate_limit_error"
    elif isinstance(exc, ProviderError):
        kind, code, param = exc.names.type or "upstream_error", exc.names.code or exc.code, exc.names.param
    return {"error": {"message": exc.message, "type": kind, "param": param, "code": code}}


class ChunkWriter(ABC):
    """Writes an answer as server-sent events. Usage of several model calls is summed."""

    route: Route

    def __init__(self, head: Head, include_usage: bool) -> None:
        self._common = head
        self._tail = b',"usage":null}\n\n' if include_usage else b"}\n\n"
        self._include_usage = include_usage
        self._usage = Usage()
        self._begun = False
        self._waiting: Passed | None = None  # members for the next piece
        self._begin_with(head)

    def events(self, batch: Sequence[Event]) -> bytes:
        """The bytes of the whole batch; b"" when it has no event for the client."""
        out: list[bytes] = []
        for event in batch:
            if event.__class__ is Text and self._waiting is None:
                out += (self._before_text, orjson.dumps(event.text), self._after_text)
            elif isinstance(event, Usage):
                self._usage = self._usage + event
            elif isinstance(event, Passed):
                self._take(event, out)
            elif isinstance(event, Finished):
                out.append(self._finish(event.reason))
            else:
                out.append(self._piece(event))
        data = b"".join(out)
        if data and not self._begun:
            self._begun = True
            return self._opening() + data
        return data

    def error(self, exc: MnemoirError) -> bytes:
        """The end of an answer that failed: no finish reason and no [DONE] follow."""
        return b"data: " + orjson.dumps(write_error(exc)) + b"\n\n"

    def heartbeat(self) -> bytes:
        """A comment, to keep proxies from closing a silent connection."""
        return HEARTBEAT

    @abstractmethod
    def _choice(self, text: str, reason: FinishReason | None = None) -> dict[str, Any]:
        """The choice that holds a piece of text, or the one that ends the answer."""

    def _opening(self) -> bytes:
        """The bytes at the beginning of the answer."""
        return b""

    def _other(self, event: Event) -> dict[str, Any] | None:
        """The choice of any other event; None for one the protocol cannot express."""
        return None

    def _begin_with(self, head: Head | Json) -> None:
        """Build the bytes around each piece of text."""
        self._head = b"data: " + orjson.dumps(head)[:-1]
        self._before_text, self._after_text = self._chunk(self._choice(_MARK)).rsplit(orjson.dumps(_MARK), 1)

    def _take(self, passed: Passed, out: list[bytes]) -> None:
        """Keep members for the piece they belong to; members already waiting are sent as a piece of their own."""
        if passed.route != self.route:
            return
        if self._waiting is not None:
            out.append(self._chunk(self._with_waiting(self._choice(""))))
        if passed.answer is not None:
            self._begin_with({**self._common, **passed.answer})
        if passed.choice or passed.message:
            self._waiting = passed

    def _piece(self, event: Event) -> bytes:
        if isinstance(event, Alternative):
            return self._chunk(event.choice)
        choice = self._choice(event.text) if isinstance(event, Text) else self._other(event)
        return b"" if choice is None else self._chunk(self._with_waiting(choice))

    def _with_waiting(self, choice: dict[str, Any]) -> dict[str, Any]:
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return choice
        choice |= waiting.choice or {}
        if waiting.message:
            choice["delta"] = {**choice["delta"], **waiting.message}
        return choice

    def _chunk(self, choice: Json) -> bytes:
        return self._head + b',"choices":[' + orjson.dumps(choice) + b"]" + self._tail

    def _finish(self, reason: FinishReason) -> bytes:
        last = self._chunk(self._with_waiting(self._choice("", reason)))
        if not self._include_usage:
            return last + DONE
        usage = self._head + b',"choices":[],"usage":' + orjson.dumps(write_usage(self._usage)) + b"}\n\n"
        return last + usage + DONE
