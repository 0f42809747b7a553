"""Prompt templates: the prefixes and suffixes of turns for models that take one flat text."""

from pydantic import Field

from mnemoir.core.messages import Role
from mnemoir.workflows.config.model import ConfigModel, Line


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
