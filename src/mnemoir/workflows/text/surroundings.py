"""The data behind a node's variables: the conversation, the time, and variables of workflow and user."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemoir.core.messages import Message
from mnemoir.workflows.config.template import PromptTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The data from which variables are computed.

    `now` is local and aware. `endpoint_template` is set for an endpoint that takes a text prompt: turns are then
    formatted by it, and by the user's `chat_template`, which is called only when needed. `delimiter` joins turns in
    chat_* variables; with `adds_role_names` each turn begins with its role. The numbers are the limits of variables
    with the same names, in messages or estimated tokens.
    """

    messages: Sequence[Message]
    now: datetime
    endpoint_template: PromptTemplate | None = None
    chat_template: Callable[[], PromptTemplate] = lambda: PromptTemplate.model_validate({})
    user_wide: Mapping[str, Any] = field(default_factory=dict)  # JSON
    custom: Mapping[str, Any] = field(default_factory=dict)  # JSON: members of the workflow file beside its nodes
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
