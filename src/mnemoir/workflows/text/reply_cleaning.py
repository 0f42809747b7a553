"""Cleaning of models' answers: thinking, and unwanted beginnings such as names, phrases and an echoed time.

Each is removed by a stage, a function of the answer's beginning. While more of the answer could change its result, a
stage waits. A whole answer passes through the same stages without waiting.

A client that asks for the next turn of one speaker ends the conversation with the name and a colon. Some models
repeat the name; to the replies of others it is added. A name has up to three words: a longer beginning with a colon
is a sentence.

The order is: thinking, leading white space, the node's beginnings, the endpoint's, an echoed time, the assistant's
name, and white space at both ends. In a group chat the speaker's name is then put in front. A stream is cleaned the
same way, but text already sent cannot be changed: white space at its end stays, and so does white space at its
beginning if nothing else is to be removed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from mnemoir.core import first_use
from mnemoir.core.thinking import ThinkingFilter, ThinkingRule, remove_thinking
from mnemoir.workflows.config.endpoint import EndpointDefinition

MOST_HELD = 100  # characters held back for matching one list of beginnings
_TIMESTAMP_ECHO = "[Sent less than a minute ago]"
_ASSISTANT = "Assistant:"

# takes the beginning, and True for a whole answer; gives the rest, and the stages that replace this one, or None
# when the stage must see more
Stage: TypeAlias = Callable[[str, bool], "tuple[str, Sequence[Stage] | None]"]
_FIRST = r"\s*[^\W\d_][\w'.-]{0,40}"
_MORE = r" [\w'.-]{1,40}"
_SPEAKER = first_use.pattern(rf"{_FIRST}(?:{_MORE}){{0,2}}:")
_MAY_BECOME_SPEAKER = first_use.pattern(rf"\s*|{_FIRST}(?:{_MORE}){{0,2}}|{_FIRST}(?:{_MORE})? ")
_TAGS_MISSING = "removeThinking is on, but startThinkTag or endThinkTag is empty: thinking stays in the answer."


def white_space(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
    """Remove leading white space."""
    left = text.lstrip()
    return left, () if left or whole else None


def one_of(beginnings: Sequence[str]) -> Stage:
    """A stage that removes the first matching text, and white space after it. Case-sensitive; ignores empty texts."""
    texts = [text for text in beginnings if text]

    def stage(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
        may_wait = not whole and len(text) < MOST_HELD
        for beginning in texts:
            if text.startswith(beginning):
                return text[len(beginning) :], (white_space,)
            if may_wait and beginning.startswith(text):
                return text, None
        return text, ()

    return stage


speaker_name = one_of([_ASSISTANT])


def timestamp_echo(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
    """Remove the relative time of a message sent just now, which models that are shown times often repeat."""
    if text.startswith(_TIMESTAMP_ECHO):
        left = text[len(_TIMESTAMP_ECHO) :]
        return (left.removeprefix(" "), ()) if left or whole else (text, None)
    return text, None if not whole and _TIMESTAMP_ECHO.startswith(text) else ()


def strip_beginning(text: str, stages: Sequence[Stage]) -> str:
    """A whole answer after all stages."""
    return _through(text, stages, whole=True)[0]


class BeginningFilter:
    """`strip_beginning` for a streamed answer."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self._held = ""

    @property
    def passes(self) -> bool:
        """True once all further text is passed on unchanged."""
        return not self._stages

    def feed(self, text: str) -> str:
        """Add a piece; the text that can be passed on now, possibly ""."""
        if not self._stages:
            return text
        self._held, self._stages = _through(self._held + text, self._stages, whole=False)
        return "" if self._stages else self._release()

    def end(self) -> str:
        """The rest of the text at the end of the answer."""
        self._held, self._stages = _through(self._held, self._stages, whole=True)
        return self._release()

    def _release(self) -> str:
        released, self._held = self._held, ""
        return released


def _through(text: str, stages: Sequence[Stage], *, whole: bool) -> tuple[str, Sequence[Stage]]:
    """The rest of the text, and the stages that must see more."""
    while stages:
        text, following = stages[0](text, whole)
        if following is None:
            return text, stages
        stages = (*following, *stages[1:])
    return text, stages


def has_speaker(reply: str) -> bool:
    """True when a reply begins with a name and a colon."""
    return _SPEAKER.match(reply) is not None


def under(speaker: str) -> Stage:
    """A stage that puts `speaker`, a name with its colon, before a reply without a name; a blank one stays blank."""

    def stage(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
        if has_speaker(text) or (whole and not text.strip()):
            return text, ()
        if not whole and _MAY_BECOME_SPEAKER.fullmatch(text):
            return text, None
        return f"{speaker} {text.lstrip()}", ()

    return stage


class ReplyProperties(Protocol):
    """The properties of a node for cleaning answers, a part of ModelProperties."""

    @property
    def removes_beginnings(self) -> bool: ...
    @property
    def beginnings(self) -> Sequence[str] | str: ...
    @property
    def adds_timestamps(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """The rules for cleaning one answer. `problem` describes a setting that cannot be applied, None without one.

    `speaker` is the name with its colon that is put in front of a reply without a name; "" for none.
    """

    thinking: ThinkingRule | None = None
    node_beginnings: Sequence[str] = ()
    endpoint_beginnings: Sequence[str] = ()
    timestamp_echo: bool = False
    assistant_prefix: bool = False
    trims: bool = False
    speaker: str = ""
    problem: str | None = None

    @property
    def is_idle(self) -> bool:
        """True when a stream is passed on unchanged."""
        takes_off = self.node_beginnings or self.endpoint_beginnings or self.timestamp_echo or self.assistant_prefix
        return not (self.thinking or takes_off or self.trims or self.speaker)


def cleaning_for(
    endpoint: EndpointDefinition, properties: ReplyProperties, *, assistant_prefix: bool = False, speaker: str = ""
) -> Cleaning:
    """The rules for answers of one endpoint to one node.

    `assistant_prefix` is for users with role names in turns and an open turn of the assistant at the end: answers
    repeat that opening. `speaker` is the speaker a group chat asks for, as in `Cleaning`.
    """
    thinking = _thinking_rule(endpoint)
    return Cleaning(
        thinking=thinking,
        node_beginnings=_nonempty_texts(properties.beginnings) if properties.removes_beginnings else (),
        endpoint_beginnings=_nonempty_texts([text.strip() for text in endpoint.beginnings])
        if endpoint.removes_beginnings
        else (),
        timestamp_echo=properties.adds_timestamps,
        assistant_prefix=assistant_prefix,
        trims=endpoint.trims,
        speaker=speaker,
        problem=_TAGS_MISSING if endpoint.removes_thinking and thinking is None else None,
    )


def clean(text: str, cleaning: Cleaning) -> str:
    """The whole answer, cleaned; it never begins with white space."""
    if cleaning.thinking:
        text = remove_thinking(text, cleaning.thinking)
    text = strip_beginning(text, tuple(_stages(cleaning)))
    return text.strip() if cleaning.trims else text


class CleaningStream:
    """`clean` for a streamed answer."""

    def __init__(self, cleaning: Cleaning) -> None:
        self._thinking = ThinkingFilter(cleaning.thinking) if cleaning.thinking else None
        self._beginning = BeginningFilter(() if cleaning.is_idle else tuple(_stages(cleaning)))
        self._passes = cleaning.is_idle

    @property
    def passes_through(self) -> bool:
        """True once all further text is passed on unchanged, and none is held back."""
        return self._passes

    def feed(self, text: str) -> str:
        """Add a piece; the text that can be passed on now. The same object once text is passed on unchanged."""
        if self._passes:
            return text
        shown = self._beginning.feed(self._thinking.feed(text) if self._thinking else text)
        self._passes = self._beginning.passes and (self._thinking is None or self._thinking.passes)
        return shown

    def end(self) -> str:
        """The text still held back at the end of the answer."""
        rest = self._thinking.end() if self._thinking else ""
        shown = self._beginning.feed(rest) + self._beginning.end()
        self._passes = True
        return shown


def _stages(cleaning: Cleaning) -> Iterator[Stage]:
    yield white_space
    if cleaning.node_beginnings:
        yield one_of(cleaning.node_beginnings)
    if cleaning.endpoint_beginnings:
        yield one_of(cleaning.endpoint_beginnings)
    if cleaning.timestamp_echo:
        yield timestamp_echo
    if cleaning.assistant_prefix:
        yield speaker_name
    if cleaning.trims:
        yield white_space
    if cleaning.speaker:
        yield under(cleaning.speaker)


def _thinking_rule(endpoint: EndpointDefinition) -> ThinkingRule | None:
    tags = endpoint.think_tags
    if tags is None:
        return None
    return ThinkingRule(
        start_tag=tags[0],
        end_tag=tags[1],
        grace_characters=endpoint.grace_characters,
        only_closing_tag=endpoint.only_closing_tag,
    )


def _nonempty_texts(given: Sequence[str] | str) -> Sequence[str]:
    texts = (given,) if isinstance(given, str) else given
    return tuple(text for text in texts if text)
