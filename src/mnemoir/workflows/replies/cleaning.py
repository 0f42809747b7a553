"""A model's answer as its reader gets it: what an endpoint and a node ask to be taken off, in a fixed order.

First the thinking, then leading white space, the node's beginnings, the endpoint's, an echoed time, the assistant's
name, and at last white space at both ends. In a group chat what is left is put under its speaker's name. A stream is
treated the same, but what has been passed on cannot be taken back: white space at its end stays, and so does white
space at its beginning where nothing else is asked for.
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
    """What a node says of its answer; the properties of every node that asks a model fit."""

    @property
    def removes_beginnings(self) -> bool: ...
    @property
    def beginnings(self) -> Sequence[str] | str: ...
    @property
    def adds_timestamps(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """What is taken off. `problem` says what was asked for and cannot be done; None when there is nothing to say.

    `speaker` is the name, with its colon, that a reply without one is put under; "" for none.
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
        """Whether a stream is passed on as it comes."""
        takes_off = self.node_beginnings or self.endpoint_beginnings or self.timestamp_echo or self.assistant_prefix
        return not (self.thinking or takes_off or self.trims or self.speaker)


def cleaning_for(
    endpoint: EndpointDefinition, properties: ReplyProperties, *, assistant_prefix: bool = False, speaker: str = ""
) -> Cleaning:
    """What one node's answer from one endpoint needs.

    `assistant_prefix` is for users whose turns carry the names of roles and whose conversations are opened for the
    assistant: its answers repeat that opening. `speaker` is whose turn a group chat asks for, as `Cleaning` has it.
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
    """A whole answer, cleaned; it never begins with white space."""
    if cleaning.thinking:
        text = remove_thinking(text, cleaning.thinking)
    text = strip_beginning(text, tuple(_stages(cleaning)))
    return text.strip() if cleaning.trims else text


class CleaningStream:
    """An answer, cleaned piece by piece."""

    def __init__(self, cleaning: Cleaning) -> None:
        self._thinking = ThinkingFilter(cleaning.thinking) if cleaning.thinking else None
        self._beginning = BeginningFilter(() if cleaning.is_idle else tuple(_stages(cleaning)))
        self._passes = cleaning.is_idle

    @property
    def passes_through(self) -> bool:
        """Whether nothing that comes will be changed any more, and nothing is held."""
        return self._passes

    def feed(self, text: str) -> str:
        """What may be passed on now that `text` has come; the same object once nothing is changed any more."""
        if self._passes:
            return text
        shown = self._beginning.feed(self._thinking.feed(text) if self._thinking else text)
        self._passes = self._beginning.passes and (self._thinking is None or self._thinking.passes)
        return shown

    def end(self) -> str:
        """What was still held when the answer ended."""
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
