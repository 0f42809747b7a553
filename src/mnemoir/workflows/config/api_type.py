"""API types: the protocol of an endpoint, and what its properties are called there."""

from collections.abc import Mapping

from pydantic import Field

from mnemoir.ports.model_servers import ModelServerKind
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
    # the names of the files, which the format's own guide gives as types
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

# types of the format whose endpoints Mnemoir does not ask, by what they are for
NOT_OFFERED: Mapping[str, str] = {
    "claudemessages": "Anthropic's protocol",
    "openaiembeddings": "embeddings",
    "ollamaembeddings": "embeddings",
}


class ThinkingSwitch(ConfigModel):
    """How a server is told whether, and how much, to think; any other `mode` than these two cannot tell it."""

    mode: Line = Field("unsupported", description="bool writes true or false, effort writes low, medium or high.")
    field: Line = Field("", description="The member that is written.")
    location: Line = Field("top", description="top, or chat_template_kwargs for a member within that object.")


class ApiType(ConfigModel):
    """`ApiTypes/<Name>.json`. An empty property name means that the property is not sent."""

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
        """The protocol in our words; None for a type nobody knows."""
        return _BY_LOWER.get(self.type.strip().lower())
