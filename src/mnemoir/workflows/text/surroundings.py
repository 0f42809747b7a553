"""What a node's texts are written among: the conversation, the time, and what workflow and user say of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemoir.core.messages import Message
from mnemoir.workflows.config.template import PromptTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """All that variables are made of.

    `now` is local and aware. `endpoint_template` is set for an endpoint that takes a text prompt: turns are then
    written by it, and by the user's `chat_template`, which is asked for only when needed. `delimiter` joins turns in
    chat_* variables; with `adds_role_names` each says who speaks. The numbers bound the variables that are named
    after them: messages, or estimated tokens.
    """

    messages: Sequence[Message]
    now: datetime
    endpoint_template: PromptTemplate | None = None
    chat_template: Callable[[], PromptTemplate] = lambda: PromptTemplate.model_validate({})
    user_wide: Mapping[str, Any] = field(default_factory=dict)  # JSON
    custom: Mapping[str, Any] = field(default_factory=dict)  # JSON: the keys of the workflow file beside its nodes
    discussion: str | None = None
    time_context: str = ""
    inputs: Sequence[object] = ()
    outputs: Mapping[int, object] = field(default_factory=dict)
    categories: Mapping[str, object] = field(default_factory=dict)
    delimiter: str = "\n"
    adds_role_names: bool = False
    n_messages: int = 5
    token_limit: int = 2048
    min_messages: int = 5
    max_tokens: int = 2048
