"""Reading of the answers of OpenAI's chat and text completions, in pieces or whole: choices, end, usage and errors.

The two differ in the content of a choice: a delta or a text. Each event is decoded once.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import (
    Alternative,
    Finished,
    FinishReason,
    ModelEvent,
    Note,
    Passed,
    Reply,
    Usage,
)
from mnemoir.core.messages import Route
from mnemoir.wire import upstream
from mnemoir.wire.answers.answer_reader import AnswerReader
from mnemoir.wire.answers.choices import (
    NATIVE_REASON,
    OTHER_REASON,
    by_index,
    index_of,
    reason_of,
    says,
    usage_behind,
)
from mnemoir.wire.answers.end_reasons import finish_reason, is_unended, read_reason
from mnemoir.wire.answers.error_shapes import (
    is_error,
    raise_error_beside,
    raise_error_in_place,
    raise_error_of,
    raise_lost_words,
    raise_words_beside,
    words_beside,
)
from mnemoir.wire.answers.exact_numbers import RoundedNumber
from mnemoir.wire.answers.told_texts import rest_of
from mnemoir.wire.members import Json, unread
from mnemoir.wire.openai_shapes import read_usage

_MOST_HELD = 64  # choices of other indexes, before one of them is taken for the answer
_MOST_PIECES = 256  # of the text that a whole one at its end is compared with
_MOST_FURTHER = 4_096  # choices beside the answer
_OF_ANSWERS = frozenset({"id", "object", "created", "model", "choices", "usage"})
_OF_ANSWERS_AND_ERRORS = _OF_ANSWERS | {"error"}  # an error of null, which some servers write, is none
_OF_CHOICES = frozenset({"index", "message", "delta", "text", "finish_reason"})
_OF_PLAIN_CHOICES = _OF_CHOICES | {"logprobs"}
_CUTTING = ("length", "content_filter")  # reasons that explain a call without its end


def passed_of(body: Json, choice: Json, message: Json, known: frozenset[str], route: Route) -> Passed | None:
    """The members of a whole answer that are not read; `known` are those of the message that are read."""
    answer = unread(body, _OF_ANSWERS_AND_ERRORS)
    beside, within = _without_error(_unread_beside(choice)), _without_error(unread(message, known))
    if answer is None and beside is None and within is None:
        return None
    return Passed(route=route, answer=answer, choice=beside, message=within)


def _unread_beside(choice: Json) -> Json | None:
    """The members of a choice that are not read; a `logprobs` of null, which most servers write, is left out."""
    if choice.get("logprobs") is None:
        return None if _OF_PLAIN_CHOICES.issuperset(choice) else unread(choice, _OF_PLAIN_CHOICES)
    return unread(choice, _OF_CHOICES)


def _without_error(members: Json | None) -> Json | None:
    """The members but for an `error`, which is null or empty where there is an answer; None where none are left."""
    if members is None or "error" not in members:
        return members
    return unread(members, frozenset({"error"})) or None


class ChunkReader(AnswerReader):
    """Reads a model's answer, from its server-sent events or from one object.

    Members that are not read are returned as Passed, before the event of their chunk, and choices beside the first
    one as Alternative. Finished waits for the usage, which comes after the finish reason.
    """

    route: Route

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._reason: FinishReason | None = None
        self._is_unended = False  # the last reason said that the choice goes on
        self._goes_on = False  # words came behind the reason, which thus says nothing of the end
        self._usage: Usage | None = None
        self._answer: Json | None = None  # members of the last chunk that are not read
        self._beside: Json | None = None  # members that are not read and hold words, from before the answer had any
        self._has_choice = False
        self._pieces: deque[str] = deque(maxlen=_MOST_PIECES)  # the last of the text: an answer may be long
        self._held: list[dict[str, Any]] | None = []  # choices of other indexes before the first one has come
        self._answer_index = 0
        self._is_plain = False  # the first choice has begun, and is the answer
        self._further: dict[int, ChunkReader] = {}  # the readers of further choices that have begun, by their indexes

    @property
    def is_reasoned(self) -> bool:
        """See the base class."""
        is_over = self._has_end and not self._goes_on
        return is_over and all(one.is_reasoned for index, one in self._further.items() if index)

    @property
    def _has_end(self) -> bool:
        """True when the reason of the end has come, and no call is cut but where the reason explains that."""
        return self._reason is not None and (self._reason in _CUTTING or self._has_whole_calls)

    @property
    def _has_unended(self) -> bool:
        """True when a further choice has begun and not ended."""
        return any(index and not one._has_end for index, one in self._further.items())

    @property
    def _has_words(self) -> bool:
        """True when the answer says anything."""
        return bool(self._pieces)

    @property
    def _has_calls(self) -> bool:
        """True when the answer calls a tool."""
        return False

    @property
    def _has_whole_calls(self) -> bool:
        """True unless the arguments of a call are only a part of a JSON text."""
        return True

    @abstractmethod
    def _read_content(self, choice: dict[str, Any], events: list[ModelEvent]) -> Json | None:
        """Append the events of a choice to `events`; return the members of its delta that are not read, if any."""

    @abstractmethod
    def _in_place(self, choice: Json, said: Sequence[ModelEvent]) -> Json:
        """A further choice with its words, which were read as `said`, in the place where clients look for them."""

    @abstractmethod
    def _write_choice(self, reply: Reply) -> dict[str, Any]:
        """The choice that a reply is in a whole answer."""

    def whole_of(self, events: Sequence[ModelEvent]) -> Reply:
        """See the base class. Further choices that came in pieces become whole ones."""
        reply = super().whole_of(events)
        if self.is_one_object or not reply.alternatives:
            return reply
        pieces: dict[int, list[dict[str, Any]]] = {}
        for choice in reply.alternatives:
            pieces.setdefault(index_of(choice), []).append({**choice, "index": 0})
        return replace(reply, alternatives=tuple(self._whole_choice(n, pieces[n]) for n in sorted(pieces)))

    def _whole_choice(self, index: int, pieces: Sequence[dict[str, Any]]) -> Json:
        reader, events = type(self)(self.media_type), list[ModelEvent]()
        for piece in pieces:
            reader.read_frame({"choices": [piece]}, events)
        reader.read_done(events)
        return {**self._write_choice(reader.whole_of(events)), "index": index}

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        choices = body.get("choices")
        if choices.__class__ is list and choices:
            if self._answer is not None or not _OF_ANSWERS.issuperset(body):
                self._take_answer(body, events)
            if body.get("object") == "error":
                raise_error_of(body)
            for choice in choices if len(choices) == 1 else by_index(choices):
                if choice.__class__ is not dict:
                    raise upstream.unusable("a choice that is not an object")
                if (self._is_plain and not choice.get("index")) or self._is_first(choice, events):
                    self._choice(choice, events)
            self._has_choice = True
        else:
            if choices:
                raise upstream.unusable("choices that are not a list")
            raise_error_in_place(body)
        usage = body.get("usage")
        if usage is not None:
            self._usage = read_usage(usage)
            if not choices:
                self._settle(events)
                if self._reason and not self._has_unended:
                    self._finish(events)

    def read_done(self, events: list[ModelEvent]) -> None:
        """See the base class. An answer without a reason of its end has stopped; one without a choice is none."""
        if not self._has_choice:
            raise upstream.unusable("no choices")
        self._settle(events)
        choices = (self, *(one for index, one in self._further.items() if index))
        if any(not one._reason and (one._is_unended or not one._has_whole_calls) for one in choices):
            raise upstream.ended_early()
        self._finish(events)

    def read_end(self, events: list[ModelEvent]) -> None:
        """See the base class."""
        self._settle(events)
        if not self._has_end or self._has_unended:
            raise upstream.ended_early()
        self._finish(events)

    def _take_answer(self, body: Json, events: list[ModelEvent]) -> None:
        if body.get("error") and is_error(body["error"]):
            raise upstream.error_in_body(body)
        answer = unread(body, _OF_ANSWERS_AND_ERRORS)
        if answer != self._answer:
            raise_error_beside(answer or {})
            self._answer = answer
            if not self._has_words and words_beside(answer):
                self._beside = answer
            if self._usage is None and (behind := usage_behind(body)) is not None:
                self._usage = read_usage(behind)
            events.append(Passed(route=self.route, answer=answer or {}))

    def _is_first(self, choice: dict[str, Any], events: list[ModelEvent]) -> bool:
        """True for the choice that is the answer; others are told as Alternative, once that has begun.

        What comes of others before it is held, for it may be all of the answer: then the first choice says nothing.
        """
        index = index_of(choice)
        if self._held is not None:
            if not index and (not self._held or says(choice)):
                self._tell_held(0, events)
                return True
            self._held.append(choice)
            if len(self._held) >= _MOST_HELD:
                self._settle(events)
            return False
        if index == self._answer_index or not (index or says(choice)):
            return True
        self._take_further(index, choice, events)
        return False

    def _take_further(self, index: int, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        """Read a piece of a further choice as strictly as one of the answer, and tell it as an Alternative."""
        reader = self._further.get(index)
        if reader is None:
            if len(self._further) >= _MOST_FURTHER:
                raise upstream.unusable(f"more than {_MOST_FURTHER} choices")
            reader = self._further[index] = type(self)(self.media_type)
        said: list[ModelEvent] = []
        try:
            reader._choice(choice, said)
        except RoundedNumber as exc:  # the answer in the same frame is told already
            raise ProviderInvalidOutput(exc.message) from exc
        if self._damage is not None and not all(isinstance(event, Passed | Note) for event in said):
            self._goes_on = True  # what seemed to be the end was none
            self.check_hole()
        events.append(self._alternative(self._in_place(choice, said)))
        events += [event for event in said if isinstance(event, Note)]

    def _settle(self, events: list[ModelEvent]) -> None:
        """Take the lowest choice that says something for the answer, where the first one never did."""
        if self._held:
            speaking = [choice for choice in self._held if says(choice)] or self._held
            self._tell_held(min(map(index_of, speaking)), events)

    def _tell_held(self, answer: int, events: list[ModelEvent]) -> None:
        """Tell what was held, the choice of the index `answer` as the answer."""
        held, self._held = self._held or [], None
        self._answer_index, self._is_plain = answer, answer == 0
        for choice in held:
            if self._is_first(choice, events):
                self._choice(choice, events)

    def _alternative(self, choice: Json) -> Alternative:
        """A further choice; the first one has the index of the answer where that took its place."""
        return Alternative(choice=choice if index_of(choice) else {**choice, "index": self._answer_index})

    def _choice(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        place = len(events)
        try:
            within, beside = self._read_content(choice, events), None
            if choice.get("logprobs") is not None or not _OF_PLAIN_CHOICES.issuperset(choice):
                beside = _unread_beside(choice)
        except RoundedNumber:
            del events[place:]
            raise
        except ProviderInvalidOutput:  # unusable beside an error, or half of what broke off, is that
            raise_error_of(choice, choice.get("delta"), choice.get("message"))
            read_reason(reason_of(choice))
            raise
        if within is not None or beside is not None:
            if beside is not None and self._usage is None and isinstance(beside.get("usage"), dict):
                self._usage = read_usage(beside["usage"])
            if len(events) == place:
                raise_lost_words(within, beside)
            events[place:] = self._passed_before(within, beside, events[place:])
        reason = choice.get("finish_reason") or (beside and beside.get(OTHER_REASON))
        if reason:
            read_reason(beside and beside.get(NATIVE_REASON))
            if "message" in choice and self._pieces and read_reason(reason):
                self._read_last(choice, events)
        if self._reason is not None:
            self._go_on(events[place:], has_reason=bool(reason))
        if reason:
            self._take_reason(reason)

    @abstractmethod
    def _read_last(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        """Append what the message of the last piece of a choice says beyond the pieces."""

    def _rest_of(self, whole: str) -> str:
        """What a whole text says beyond the pieces, of which it becomes one. Raises ProviderInvalidOutput."""
        rest = rest_of(whole, self._pieces, is_all=len(self._pieces) < _MOST_PIECES)
        self._pieces.append(rest)
        return rest

    def _go_on(self, events: Sequence[ModelEvent], *, has_reason: bool) -> None:
        """Take words behind a reason: that was no end, and what could not be read before them is a hole."""
        if not all(isinstance(event, Passed | Note) for event in events):
            self._goes_on = True
            self.check_hole()
        elif has_reason:
            self._goes_on = False

    def _take_reason(self, reason: object) -> None:
        """Keep the reason of the end; one that says more replaces `stop`, which some servers write in each chunk."""
        told = read_reason(reason)
        self._is_unended = is_unended(reason)
        if self._reason in (None, "stop"):
            self._reason = told or self._reason

    def _passed_before(self, within: Json | None, beside: Json | None, events: list[ModelEvent]) -> list[ModelEvent]:
        """The events behind the members that are not read, among which no error may be."""
        raise_error_of(beside, within)
        passed = Passed(route=self.route, choice=_without_error(beside), message=_without_error(within))
        return events if passed.choice is passed.message is None else [passed, *events]

    def _finish(self, events: list[ModelEvent]) -> None:
        if self._beside is not None and not self._has_words:
            raise_words_beside(self._beside)
        for further in self._further.values():
            further._finish([])
        if self._usage is not None:
            events.append(self._usage)
        events.append(Finished(reason=finish_reason(self._reason, has_calls=self._has_calls)))
        self.finished = True
