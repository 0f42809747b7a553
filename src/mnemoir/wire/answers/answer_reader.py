"""The one reader of a model's answer: bytes in, events out, whole or streamed, whatever the request asked for.

What comes is told by its first bytes, never by its label: events, JSON lines, one JSON object, a page of HTML. A
whole answer becomes the events that its stream would have had. Each protocol adds how it reads one object.

What cannot be read ends the answer with an error, so that no answer with a hole is shown as complete. Only what
carries no answer is skipped: comments, empty data, null, pings. Each frame is decoded once; everything odd is looked
at only where the decoder refuses the frame.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import orjson

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput
from mnemoir.core.events import Gathering, ModelEvent, Note, Passed, Reply, as_events
from mnemoir.wire import upstream
from mnemoir.wire.answers.error_shapes import is_error
from mnemoir.wire.answers.exact_numbers import RoundedNumber, exact_arguments
from mnemoir.wire.answers.joined_members import join_members
from mnemoir.wire.second_reading import Mended, Seam, read_again
from mnemoir.wire.stream_readers import NamedEvent, NdjsonReader, SseReader, is_ping

Form = Literal["events", "lines", "object", "page", "text"]

_MARK = b"\xef\xbb\xbf"  # a byte order mark
_SPACE = b" \t\r\n"
_FIELDS = (b"data:", b"event:", b"error:", b"retry:", b"id:", b":")
_ALONE = re.compile(rb"\{[ \t\r]*\n")  # the first line of an object that is written over several lines
_BEGUN_ALONE = re.compile(rb"\{[ \t\r]*")
_HAS_FIELDS = re.compile(rb"^(?:data|event|error):", re.MULTILINE)
_FRONT = re.compile(rb"(?:\xef\xbb\xbf|data:|\s)*+")  # what some servers write once more before a frame
_DONE = b"[done]"
_LONGEST_BRACE_LINE = 1024  # a brace and blanks: a flood of them is a line, which has a limit
_MOST_OF_TEXT = 64 * 1024
_MOST_NOTES = 8


class AnswerReader(ABC):
    """Reads one answer; `finished` is True once it is complete.

    `media_type` is the label of the body; it only decides about a body without a single byte, about one line without
    `done` in a protocol of lines, and by its charset about bytes that are no UTF-8.
    """

    streams_lines: ClassVar[bool] = False
    names_events: ClassVar[bool] = False  # the names of events count, not only `error`

    def __init__(self, media_type: str = "") -> None:
        self.finished = False
        self.failure: ProviderError | None = None
        self.media_type = media_type
        self._form: Form | None = None
        self._body = bytearray()  # what came before the form was known, and all of a body that is no stream
        self._frames: SseReader | NdjsonReader | None = None
        self._seam = Seam()
        self._is_marked = False
        self._notes = 0
        self._damage: ProviderInvalidOutput | None = None  # the first that was found behind the end

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes.

        Raises ProviderError for an answer that is an error. Where events came before it in `data`, they are returned,
        and the error is raised by `check`, and by every later call.
        """
        self.check()
        events: list[ModelEvent] = []
        try:
            if self._frames is not None:
                self._take_frames(self._frames.feed(data), events)
            else:
                self._take(data, events)
        except ProviderError as exc:
            self._keep_failure(exc, events)
        return events

    def end(self) -> list[ModelEvent]:
        """The events held back until the end of the body. Raises as `feed` does, also for an answer cut short."""
        self.check()
        events: list[ModelEvent] = []
        try:
            self._take_end(events)
        except ProviderError as exc:
            self._keep_failure(exc, events)
        return events

    def check(self) -> None:
        """Raise the error that the answer ended with, if there is one."""
        if self.failure is not None:
            raise self.failure

    @classmethod
    def read_body(cls, data: bytes, media_type: str = "") -> Reply:
        """The whole answer in `data`, read at once where it is one plain object. Raises ProviderError."""
        plain = cls._plain_object(data)
        if plain is None:
            return cls(media_type).read(data)
        try:
            return cls.read_whole(plain)
        except RoundedNumber:
            return cls.read_whole(exact_arguments(plain, data))

    def read(self, data: bytes) -> Reply:
        """The whole answer in `data`. Raises ProviderError."""
        events = self.feed(data)
        self.check()
        events += self.end()
        self.check()
        return self.whole_of(events)

    def whole_of(self, events: Sequence[ModelEvent]) -> Reply:
        """The answer that this reader read as these events, with the members of all of its pieces."""
        gathering = Gathering()
        gathering.take(events)
        reply = gathering.reply()
        if self.is_one_object or reply.passed is None:
            return reply
        pieces = (event for event in events if isinstance(event, Passed))
        return replace(reply, passed=join_members(pieces, answer_grows=self.streams_lines))

    # --- what a protocol adds

    @property
    def is_one_object(self) -> bool:
        """True when the answer came in one object."""
        return self._form == "object"

    @property
    def is_reasoned(self) -> bool:
        """True when the reason of the end has come, behind which nothing unreadable can leave a hole."""
        return False

    @property
    def is_whole(self) -> bool:
        """True when a connection that breaks or falls silent now takes nothing of the answer away."""
        if self.failure is not None or self._form != "object":
            return self.failure is None and (self.finished or self.is_reasoned)
        try:
            return isinstance(orjson.loads(self._body), dict)
        except orjson.JSONDecodeError:
            return False

    @abstractmethod
    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """Append the events of one object of a stream. Raises ProviderError."""

    @classmethod
    @abstractmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
        """The answer in one object. Raises ProviderError."""

    @abstractmethod
    def read_done(self, events: list[ModelEvent]) -> None:
        """Append the end that `[DONE]` announces, if the protocol has that."""

    @abstractmethod
    def read_end(self, events: list[ModelEvent]) -> None:
        """Append the end of a stream whose body has ended. Raises ProviderUnavailable for one cut short."""

    def read_named(self, event: NamedEvent, events: list[ModelEvent]) -> None:
        """Append what an event with a name of its own holds; one named `error` is an error."""
        if event.name == b"error":
            if event.data.strip().lower() in (b"", _DONE):
                raise upstream.FailedAnswer("The model's server broke off its answer with an error without words.")
            raise upstream.error_in_body(upstream.error_value(event.data))
        if not is_ping(event.name) or event.data.lstrip().startswith(b"{"):
            self._take_frames((event.data,), events)

    # --- the form of the body

    @classmethod
    def _plain_object(cls, data: bytes) -> dict[str, Any] | None:
        """The one object of a body; None for what has to be looked at more closely."""
        if cls.streams_lines or data[:1] != b"{":
            return None
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError:
            return None
        return body if isinstance(body, dict) else None

    def _keep_failure(self, exc: ProviderError, events: list[ModelEvent]) -> None:
        """Keep the error, and raise it where no events have to go before it."""
        self.failure = exc
        if not events:
            raise exc

    def _take(self, data: bytes, events: list[ModelEvent]) -> None:
        self._body += data
        if self._form is None:
            self._open(events)
        elif self._form in ("page", "text") and len(self._body) >= _MOST_OF_TEXT:
            raise self._unreadable_body()

    def _open(self, events: list[ModelEvent]) -> None:
        """Tell the form by the first bytes, as soon as they suffice."""
        head = bytes(self._body).lstrip(_SPACE)
        if not self._is_marked and head.startswith(_MARK):
            self._is_marked, head = True, head[len(_MARK) :].lstrip(_SPACE)
        self._body = bytearray(head)
        if not head or (not self._is_marked and _MARK.startswith(head)):
            return
        self._form = self._form_of(head)
        if self._form in ("events", "lines"):
            self._frames = self._sse_reader() if self._form == "events" else NdjsonReader()
            self._body = bytearray()
            self._take_frames(self._frames.feed(head), events)
        elif self._form in ("page", "text"):
            self._take(b"", events)

    def _sse_reader(self) -> SseReader:
        return SseReader(by_name=self.names_events)

    def _form_of(self, head: bytes) -> Form | None:
        if head.startswith(_FIELDS):
            return "events"
        if any(field.startswith(head) for field in _FIELDS):
            return None
        if head.startswith(b"{") and self.streams_lines:
            is_begun = len(head) < _LONGEST_BRACE_LINE and _BEGUN_ALONE.fullmatch(head)
            return "object" if _ALONE.match(head) else None if is_begun else "lines"
        if head.startswith((b"{", b"[")):
            return "object"
        return "page" if head.startswith(b"<") else "text"

    def _take_end(self, events: list[ModelEvent]) -> None:
        if self.finished:
            return
        if self._frames is None and self._form == "object":
            self._whole(events)
        if self._frames is not None:
            self._take_frames(self._frames.end(), events)
            if not self.finished:
                ending: list[ModelEvent] = []
                self.read_end(ending)
                events += self._seam.join(ending, None)
                self.finished = True
        elif not self._body and upstream.is_stream_label(self.media_type):
            self.read_end(events)
            self.finished = True
        elif not self.finished:
            raise self._unreadable_body()

    def _whole(self, events: list[ModelEvent]) -> None:
        """Read the one object of the body. A body of bare JSON with fields of events behind it is a stream."""
        data = bytes(self._body)
        mended = None
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError:
            mended = read_again(upstream.in_utf8(data, self.media_type))
            if mended is None:
                self._frames = self._frames_within(data)
                if self._frames is not None:
                    self._take_frames(self._frames.feed(data), events)
                return
            body = mended.value
        body = self._object(body, data, mended)
        try:
            said = as_events(self.read_whole(body))
        except RoundedNumber:
            said = as_events(self.read_whole(exact_arguments(body, data)))
        events += said if mended is None else self._seam.join(said, mended)
        self.finished = True

    def _frames_within(self, data: bytes) -> SseReader | NdjsonReader | None:
        """The reader of a body that began like an object and is a stream; None for one that is none."""
        if _HAS_FIELDS.search(data):
            return self._sse_reader()
        first, _, rest = data.partition(b"\n")
        try:
            return NdjsonReader() if rest.strip() and isinstance(orjson.loads(first), dict) else None
        except orjson.JSONDecodeError:
            return None

    def _unreadable_body(self) -> ProviderInvalidOutput:
        data = bytes(self._body[:_MOST_OF_TEXT])
        if self._form == "page":
            return ProviderInvalidOutput(
                "The model's server sent a web page in place of an answer. It says: "
                f"{upstream.words_of_page(data)!r}. Check that the base URL points at the model's API."
            )
        return ProviderInvalidOutput(f"The model's server sent something that is not JSON: {upstream.excerpt(data)}")

    # --- frames

    def _take_frames(self, frames: Sequence[bytes | NamedEvent], events: list[ModelEvent]) -> None:
        for frame in frames:  # one loop without further calls, since it runs for every piece of a stream
            if self.finished:
                return
            try:
                body = orjson.loads(frame)  # type: ignore[arg-type]  # refuses a NamedEvent, so that nobody has to ask
            except orjson.JSONDecodeError:
                self._odd_frame(frame, events)
                continue
            if body.__class__ is not dict or self._seam.is_open:
                self._take_object(body, cast(bytes, frame), None, events)
                continue
            try:
                self.read_frame(body, events)
            except RoundedNumber:
                self._take_object(body, cast(bytes, frame), None, events)
            except ProviderInvalidOutput as exc:
                self._unreadable(exc, events)

    def _take_done(self, events: list[ModelEvent]) -> None:
        done: list[ModelEvent] = []
        self.read_done(done)
        events += self._seam.join(done, None)

    def _take_scalar(self, body: object, frame: bytes, events: list[ModelEvent]) -> None:
        """Pass over null and pings; a text may be the end."""
        text = body.encode() if isinstance(body, str) else b""
        if text.lower() == _DONE:
            self._take_done(events)
        elif body not in (None, "") and not is_ping(text):
            self._unreadable(upstream.not_an_object(frame), events)

    def _take_object(self, body: Any, frame: bytes, mended: Mended | None, events: list[ModelEvent]) -> None:
        """Read a value that is no object, that was mended, or that may hold the other half of a character."""
        if not isinstance(body, dict | list):
            self._take_scalar(body, frame, events)
            return
        said: list[ModelEvent] = []
        try:
            body = self._object(body, frame, mended)
            try:
                self.read_frame(body, said)
            except RoundedNumber:
                self.read_frame(exact_arguments(body, frame), said)
        except ProviderInvalidOutput as exc:
            self._unreadable(exc, said)
        finally:
            events += self._seam.join(said, mended)

    def _odd_frame(self, frame: bytes | NamedEvent, events: list[ModelEvent]) -> None:
        """Read what the decoder refuses: an event with a name, an end, nothing, or JSON that needs mending."""
        if isinstance(frame, NamedEvent):
            self.read_named(frame, events)
            return
        text = frame[match.end() if (match := _FRONT.match(frame)) else 0 :].rstrip()
        if not text or text.startswith(b":") or is_ping(text):
            return
        if text.lower() == _DONE:
            self._take_done(events)
            return
        if not frame.lstrip(_SPACE).startswith(text):
            self._take_frames((text,), events)
            return
        mended = read_again(upstream.in_utf8(frame, self.media_type))
        if mended is not None:
            self._take_object(mended.value, frame, mended, events)
        elif b"\n" in frame and self._form == "events":  # events that no blank line divides
            self._take_frames(frame.split(b"\n"), events)
        else:
            self._unreadable(upstream.not_json(frame), events)

    def _object(self, body: Any, data: bytes, mended: Mended | None) -> dict[str, Any]:
        if mended is not None and mended.lacks_a_number:
            raise upstream.unusable("a tool call whose arguments hold a number that JSON does not have")
        if body.__class__ is dict:
            return body
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, dict) and is_error(first.get("error")):
            raise upstream.error_in_body(first)  # some servers put their error into a list
        raise upstream.not_an_object(data)

    def check_hole(self) -> None:
        """Raise what could not be read before words that came behind the end, which thus was none."""
        if self._damage is not None:
            raise self._damage

    def _unreadable(self, exc: ProviderInvalidOutput, events: list[ModelEvent]) -> None:
        """Raise `exc`, or note it where the answer had ended before."""
        if not self.is_reasoned:
            raise exc
        self._damage = self._damage or exc
        self._notes += 1
        if self._notes <= _MOST_NOTES:
            events.append(Note(f"Behind the end of the answer: {exc.message}"))
