"""Cleaning of a model's answer: removing what endpoint and node ask for, in a fixed order.

The order is: thinking, leading white space, the node's beginnings, the endpoint's, an echoed time, the assistant's
name, and white space at both ends. In a group chat the speaker's name is then put in front. A stream is cleaned the
same way, but text already sent cannot be changed: white space at its end stays, and so does white space at its
beginning if nothing else is to be removed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.thinking import ThinkingFilter, ThinkingRule, remove_thinking
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.replies import beginnings
from mnemoir.workflows.replies.beginnings import BeginningFilter, Stage, strip_beginning
from mnemoir.workflows.replies.speaker import under

_TAGS_MISSING = "removeThinking is on, but startThinkTag or endThinkTag is empty: thinking stays in the answer."


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
        node_beginnings=_listed(properties.beginnings) if properties.removes_beginnings else (),
        endpoint_beginnings=_listed([text.strip() for text in endpoint.beginnings])
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
    yield beginnings.white_space
    if cleaning.node_beginnings:
        yield beginnings.one_of(cleaning.node_beginnings)
    if cleaning.endpoint_beginnings:
        yield beginnings.one_of(cleaning.endpoint_beginnings)
    if cleaning.timestamp_echo:
        yield beginnings.timestamp_echo
    if cleaning.assistant_prefix:
        yield beginnings.speaker_name
    if cleaning.trims:
        yield beginnings.white_space
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


def _listed(given: Sequence[str] | str) -> Sequence[str]:
    texts = (given,) if isinstance(given, str) else given
    return tuple(text for text in texts if text)
