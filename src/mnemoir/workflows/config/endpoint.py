"""Endpoints: the server of a model, and the processing of its prompts and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mnemoir.wire.forwarding import Forwarding
from mnemoir.wire.passed_members import Forward
from mnemoir.workflows.config.model import ConfigModel, Flag, Line


def _listed(raw: object) -> object:
    """The list; a single text becomes a list of one."""
    return [raw] if isinstance(raw, str) else raw


class EndpointDefinition(ConfigModel):
    """The file `Endpoints/<sub>/<Name>.json`. An injected text needs both its flag and a text that is not empty."""

    url: Line = Field(alias="endpoint", description="Base URL of the server, without /v1.", repr=False)
    api_type: Line = Field(alias="apiTypeConfigFileName", description="Name of a file in ApiTypes/.")
    api_key: Line = Field("", alias="apiKey", description="Sent as a bearer key; empty sends none.", repr=False)
    model: Line = Field("", alias="modelNameToSendToAPI", description="The model's name at that server.")
    leaves_model_out: Flag = Field(False, alias="dontIncludeModel", description="Send none (chat protocols only).")
    context_tokens: int | None = Field(
        None, alias="maxContextTokenSize", description="Size of the model's context in tokens."
    )
    template: Line | None = Field(
        None, alias="promptTemplate", description="A file in PromptTemplates/; null takes the user's."
    )
    adds_generation_prompt: Flag = Field(
        False, alias="addGenerationPrompt", description="Let nodes append the assistant's prefix to a text prompt."
    )
    trims: Flag = Field(
        False, alias="trimBeginningAndEndLineBreaks", description="Cut white space from both ends of answers."
    )
    removes_thinking: Flag = Field(
        False, alias="removeThinking", description="Cut the thinking block out of answers."
    )
    start_think_tag: Line = Field("", alias="startThinkTag", description="Where thinking begins, like <think>.")
    end_think_tag: Line = Field("", alias="endThinkTag", description="Where thinking ends.")
    think_tag_text: Line = Field("", alias="thinkTagText", description="Older spelling: the name within both tags.")
    grace_characters: int = Field(
        100, alias="openingTagGracePeriod", description="Characters within which the start tag must begin."
    )
    only_closing_tag: Flag = Field(
        False, alias="expectOnlyClosingThinkTag", description="Answers begin thinking, without a start tag."
    )
    adds_to_system: Flag = Field(False, alias="addTextToStartOfSystem", description="Put a text before the system.")
    system_text: Line = Field("", alias="textToAddToStartOfSystem", description="That text.")
    adds_to_prompt: Flag = Field(False, alias="addTextToStartOfPrompt", description="Put a text before the prompt.")
    prompt_text: Line = Field("", alias="textToAddToStartOfPrompt", description="That text.")
    adds_to_completion: Flag = Field(
        False, alias="addTextToStartOfCompletion", description="Begin the answer with a text."
    )
    completion_text: Line = Field("", alias="textToAddToStartOfCompletion", description="That text.")
    ensures_assistant: Flag = Field(
        False,
        alias="ensureTextAddedToAssistantWhenChatCompletion",
        description="Put it into an assistant message of its own, if the last message is none.",
    )
    removes_beginnings: Flag = Field(
        False,
        alias="removeCustomTextFromResponseStartEndpointWide",
        description="Cut one of the texts below from the beginning of answers.",
    )
    beginnings: Annotated[Sequence[Line], BeforeValidator(_listed)] = Field(
        (), alias="responseStartTextToRemoveEndpointWide", description="The first of them that fits is cut off."
    )
    samplers: Mapping[str, Any] | None = Field(
        None,
        alias="presetSamplers",
        description="Sampler settings by llama.cpp's names; a node's preset may name this endpoint for them.",
    )
    appended_preset: Line = Field(
        "", alias="appendPresetName", description="A file in Presets/, laid over the preset of each call."
    )
    backup: Line = Field("", alias="backupEndpointName", description="Asked when this one fails at the start.")
    most_at_once: int = Field(
        0, alias="maxConcurrentRequests", description="Most calls under way; 0 takes the server's setting. Ours."
    )

    forwards: Flag | Forward = Field(
        False,
        alias="forwardClientParameters",
        description="Send on what the client set, below the preset: true, false, all, listed or none. Ours.",
    )

    def forwarding(self, of_server: Forwarding) -> Forwarding | None:
        """The rule for forwarding a client's members to this endpoint; None to forward nothing."""
        if isinstance(self.forwards, str):
            return replace(of_server, forward=self.forwards)
        return of_server if self.forwards else None

    @property
    def think_tags(self) -> tuple[str, str] | None:
        """Start and end tag of thinking to remove, or None if it stays or a tag is missing.

        The older spelling `thinkTagText` gives both tags.
        """
        start, end = self.start_think_tag, self.end_think_tag
        if self.think_tag_text and not start and not end:
            start, end = f"<{self.think_tag_text}>", f"</{self.think_tag_text}>"
        return (start, end) if self.removes_thinking and start and end else None
