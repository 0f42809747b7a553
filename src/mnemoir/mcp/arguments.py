"""The arguments of the tools. Each describes itself to the model, and is refused in plain words.

Other memory servers name the text to remember `content` or `messages`; agents that know those use these names here.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

_ROLES = frozenset({None, "user"})  # a message without a role counts as the person's


def one_text(given: Any) -> Any:  # JSON
    """The person's words as one text; a value of an unknown shape is returned unchanged and refused later.

    From a list of messages those of the role `user` are joined, each as a paragraph. Raises ValueError when there is
    none.
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


def _no_truth(given: Any) -> Any:  # JSON
    if isinstance(given, bool):
        raise ValueError("must be a whole number")
    return given


_Number = Annotated[int, BeforeValidator(_no_truth)]
MemoryId = Annotated[str, Field(description="`id` of a memory, as search and list give it", min_length=1)]
Few = Annotated[_Number, Field(description="Maximum number of results", ge=1, le=100)]
Offset = Annotated[_Number, Field(ge=0)]
Tokens = Annotated[_Number, Field(description="About how many tokens the block may have", ge=1, le=20_000)]
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
