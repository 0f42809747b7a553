"""Endpoints, the API types of their servers, and the prompt templates of their models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BeforeValidator, Field

from mnemoir.core.messages import Role
from mnemoir.ports.llm import PATHS, ModelServerKind
from mnemoir.wire.forwarding import Forwarding
from mnemoir.wire.passed_members import Forward
from mnemoir.workflows.config.model import ConfigModel, Flag, Line

KINDS: Mapping[str, ModelServerKind] = {
    "openAIChatCompletion": "openai-chat",
    "openAIApiChatImageSpecific": "openai-chat",
    "openAIV1Completion": "openai-completions",
    "koboldCppGenerate": "koboldcpp",
    "koboldCppGenerateImageSpecific": "koboldcpp",
    "ollamaApiChat": "ollama-chat",
    "ollamaApiChatImageSpecific": "ollama-chat",
    "ollamaApiGenerate": "ollama-generate",
    # names of the files, which the guide of the format also uses as types
    "KoboldCpp": "koboldcpp",
    "KoboldCppImageSpecific": "koboldcpp",
    "LlamaCppServer": "openai-chat",
    "OllamaApiChat": "ollama-chat",
    "OllamaApiChatImageSpecific": "ollama-chat",
    "OllamaApiGenerate": "ollama-generate",
    "Open-AI-API": "openai-chat",
    "OpenAI-Compatible-Completions": "openai-completions",
    "OpenAIApiChatImageSpecific": "openai-chat",
    "Text-Generation-WebUI": "openai-chat",
    "mlx-lm": "openai-chat",
}
_BY_LOWER = {name.lower(): kind for name, kind in KINDS.items()}

# types of the format with endpoints that Mnemoir does not ask, and their purpose
NOT_OFFERED: Mapping[str, str] = {
    "claudemessages": "Anthropic's protocol",
    "openaiembeddings": "embeddings",
    "ollamaembeddings": "embeddings",
}


OPENAI_PRESETS = "OpenAiCompatibleApis"  # below Presets/; API types of 2024 name no folder, and mean this one


class ThinkingSwitch(ConfigModel):
    """The form in which `thinkingMode` is sent to a server. With any other `mode` than these two it is not sent."""

    mode: Line = Field("unsupported", description="bool writes true or false, effort writes low, medium or high.")
    field: Line = Field("", description="The member that is written.")
    location: Line = Field("top", description="top, or chat_template_kwargs for a member within that object.")


class ApiType(ConfigModel):
    """The file `ApiTypes/<Name>.json`. A property with an empty name is not sent."""

    type: Line = Field(description="The protocol, for example openAIChatCompletion.")
    preset_type: Line = Field(
        "", alias="presetType", description="The folder below Presets/; without one, OpenAiCompatibleApis."
    )
    truncate_property: Line = Field(
        "", alias="truncateLengthPropertyName", description="The member that tells the size of the context."
    )
    max_tokens_property: Line = Field(
        "", alias="maxNewTokensPropertyName", description="The member that limits the answer."
    )
    stream_property: Line = Field("", alias="streamPropertyName", description="The member that asks for a stream.")
    sampler_names: Mapping[str, Line | None] = Field(
        default_factory=dict,
        alias="samplerFieldMap",
        description="What the samplers of `presetSamplers` are called there; others are not sent.",
    )
    takes_template_arguments: Flag = Field(
        False, alias="supportsChatTemplateKwargs", description="The server takes chat_template_kwargs."
    )
    thinking: ThinkingSwitch | None = Field(None, description="How thinkingMode is written; without it, it is not.")

    @property
    def kind(self) -> ModelServerKind | None:
        """The protocol by Mnemoir's name; None for an unknown type."""
        return _BY_LOWER.get(self.type.strip().lower())


class PromptTemplate(ConfigModel):
    """The file `PromptTemplates/<Name>.json`. Members that are not given are empty."""

    system_prefix: Line = Field("", alias="promptTemplateSystemPrefix", description="Before the system prompt.")
    system_suffix: Line = Field("", alias="promptTemplateSystemSuffix", description="Behind the system prompt.")
    user_prefix: Line = Field("", alias="promptTemplateUserPrefix", description="Before a user's turn.")
    user_suffix: Line = Field("", alias="promptTemplateUserSuffix", description="Behind a user's turn.")
    assistant_prefix: Line = Field("", alias="promptTemplateAssistantPrefix", description="Before the model's turn.")
    assistant_suffix: Line = Field("", alias="promptTemplateAssistantSuffix", description="Behind the model's turn.")
    end_token: Line = Field("", alias="promptTemplateEndToken", description="Behind an appended assistant prefix.")
    later_system_prefix: Line = Field(
        "", alias="promptTemplateSystemmesPrefix", description="Before a system message within the conversation."
    )
    later_system_suffix: Line = Field(
        "", alias="promptTemplateSystemmesSuffix", description="Behind a system message within the conversation."
    )

    def around(self, role: Role) -> tuple[str, str]:
        """Prefix and suffix of a turn of `role`; two empty texts for other roles."""
        return {
            "system": (self.system_prefix, self.system_suffix),
            "user": (self.user_prefix, self.user_suffix),
            "assistant": (self.assistant_prefix, self.assistant_suffix),
            "systemMes": (self.later_system_prefix, self.later_system_suffix),
        }.get(role, ("", ""))


def _as_list(raw: object) -> object:
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
    beginnings: Annotated[Sequence[Line], BeforeValidator(_as_list)] = Field(
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

    def repeated_path(self, kind: ModelServerKind) -> str:
        """The end of the address that a path of the protocol begins with, such as `/v1`; "" for none."""
        try:
            steps = urlsplit(self.url.strip()).path.rstrip("/").split("/")
        except ValueError:
            return ""
        ends = ("/".join(["", *steps[-count:]]) for count in range(len(steps) - 1, 0, -1))
        return next((end for end in ends if any(f"{path}/".startswith(f"{end}/") for path in PATHS[kind])), "")

    def base_url(self, kind: ModelServerKind) -> str:
        """The address of the server, without what a path of the protocol would repeat."""
        repeated = self.repeated_path(kind)
        if not repeated:
            return self.url.rstrip("/")
        parts = urlsplit(self.url.strip())
        return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix(repeated)))

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
