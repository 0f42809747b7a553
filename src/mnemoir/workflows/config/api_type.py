"""API types: the protocol of an endpoint, and the names of properties in it."""

from collections.abc import Mapping

from pydantic import Field

from mnemoir.ports.llm import ModelServerKind
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


class ThinkingSwitch(ConfigModel):
    """The form in which `thinkingMode` is sent to a server. With any other `mode` than these two it is not sent."""

    mode: Line = Field("unsupported", description="bool writes true or false, effort writes low, medium or high.")
    field: Line = Field("", description="The member that is written.")
    location: Line = Field("top", description="top, or chat_template_kwargs for a member within that object.")


class ApiType(ConfigModel):
    """The file `ApiTypes/<Name>.json`. A property with an empty name is not sent."""

    type: Line = Field(description="The protocol, for example openAIChatCompletion.")
    preset_type: Line = Field("", alias="presetType", description="The folder below Presets/.")
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
