"""ImageProcessor: has a vision model describe pictures of the conversation, for models without vision."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from mnemoir.core.messages import ImagePart, Message, text_message
from mnemoir.workflows.asking import ask, question_of
from mnemoir.workflows.config.model import Flag, Line
from mnemoir.workflows.node import ModelProperties, ValueNode
from mnemoir.workflows.prompting.images import check_image, without_images
from mnemoir.workflows.run import last_user_message
from mnemoir.workflows.step import Step

_MOST_IMAGES = 20  # each is a call to a model
_BETWEEN = "\n-------------\n"
_PLACE = "[IMAGE_BLOCK]"
_MESSAGE = (
    "[SYSTEM: There are pictures in this conversation. A model that can see them describes them as "
    f"follows.\n<vision_llm_response>\n{_PLACE}\n</vision_llm_response>]"
)


class Properties(ModelProperties):
    """Properties of an ImageProcessor node."""

    adds_message: Flag = Field(
        False,
        alias="addAsUserMessage",
        description="Put the descriptions into the conversation, before its last message.",
    )
    message: Line = Field(
        _MESSAGE, description="That message, with variables; the descriptions take the place of [IMAGE_BLOCK]."
    )


class ImageProcessor(ValueNode[Properties]):
    """Asks its model about each picture separately, without streaming."""

    kind = "ImageProcessor"
    properties_type = Properties
    filled = ("systemPrompt", "prompt", "message")

    async def value(self, step: Step) -> str:
        """The descriptions. Raises InvalidRequest or TooLarge for a picture that must not be sent on."""
        images = await self._checked_images(step)
        if not images:
            return "There were no images attached to the message"
        question = replace(question_of(step, self.properties), messages=_texts(step.messages))
        said = [await ask(step, replace(question, images=(image,))) for image in images]
        descriptions = _BETWEEN.join(text for text in said if text)
        if self.properties.adds_message and descriptions:
            self._insert(step, descriptions)
        return descriptions

    async def _checked_images(self, step: Step) -> Sequence[ImagePart]:
        """The newest pictures, all checked before the first call, so that no call is wasted."""
        images = [part for message in step.messages for part in message.parts if isinstance(part, ImagePart)]
        left_out = max(0, len(images) - _MOST_IMAGES)
        if left_out:
            step.note(
                f"{left_out} of {len(images)} pictures were left out, oldest first; {_MOST_IMAGES} are described."
            )
        for number, image in enumerate(images[left_out:], left_out + 1):
            await asyncio.to_thread(check_image, image, number)
        return images[left_out:]

    def _insert(self, step: Step, descriptions: str) -> None:
        """Insert the message into the turn, where all following nodes see it, also those of parents and children."""
        messages = step.run.turn.messages
        message = self.properties.message
        # a person's text may contain the mark too; if the author's text has it, only that one is replaced
        mark = uuid.uuid4().hex if _PLACE in message else _PLACE
        text = step.fill(message.replace(_PLACE, mark)).replace(mark, descriptions)
        place = len(messages) - 1 if len(messages) > 1 else len(messages)
        told, last = text_message("user", text), messages[place:]
        if last:  # the blank messages in front of it are now in front of the descriptions
            told, last = replace(told, blanks=last[0].blanks), [replace(last[0], blanks=())]
        step.run.turn.messages = [*messages[:place], told, *last]


def _texts(messages: Sequence[Message]) -> list[Message]:
    """The conversation without pictures. Messages of pictures only are removed, except the user's last message."""
    texts, kept = without_images(messages), last_user_message(messages)
    return [
        text
        for index, (text, message) in enumerate(zip(texts, messages, strict=True))
        if text is message or text.text.strip() or index == kept
    ]
