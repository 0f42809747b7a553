"""API types: the protocol of an endpoint, and what its properties are called there."""

from collections.abc import Mapping

from pydantic import Field

from mnemoir.ports.back_ends import BackEndKind
from mnemoir.workflows.config.model import ConfigModel, Line

KINDS: Mapping[str, BackEndKind] = {
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

    @property
    def kind(self) -> BackEndKind | None:
        """The protocol in our words; None for a type nobody knows."""
        return _BY_LOWER.get(self.type.strip().lower())
