"""Texts that tools take, in the shapes in which agents send them.

Other memory servers call what is to be remembered `content` or `messages`; agents that know those use the names here.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

_ROLES = frozenset({None, "user"})  # a message without a role is the person's own


def one_text(given: Any) -> Any:  # JSON
    """What the person said, as one text; whatever has no known shape stays as it is, to be refused.

    Of messages the ones of the role `user` count, each in a paragraph of its own. Raises ValueError for messages of
    others alone.
    """
    if not isinstance(given, list) or not all(isinstance(message, Mapping) for message in given):
        return given
    said = [_text(message.get("content")) for message in given if message.get("role") in _ROLES]
    if not any(said):
        raise ValueError("must hold a message of the role user with a text")
    return "\n\n".join(text for text in said if text)


def _text(content: Any) -> str:  # JSON
    if isinstance(content, list):
        return "\n".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Query = Annotated[str, Field(description="A question or some words", min_length=1), AfterValidator(_not_blank)]
Words = Annotated[
    str,
    Field(
        description="What the person said, in their own words",
        min_length=1,
        validation_alias=AliasChoices("text", "content", "messages"),
    ),
    BeforeValidator(one_text),
    AfterValidator(_not_blank),
]
NewText = Annotated[
    str,
    Field(
        description="What the memory is to say from now on",
        min_length=1,
        validation_alias=AliasChoices("text", "content"),
    ),
    AfterValidator(_not_blank),
]
