"""The `memory` property of a node: the history that its model is shown, and its length."""

from pydantic import ConfigDict, Field

from mnemoir.conversations.memory_config import MemoryConfig, MemoryMode
from mnemoir.workflows.config.model import ConfigModel, Flag, Line

_CLOSED = ConfigDict(extra="forbid")  # a misspelled member would otherwise be noticed only in the answers


class NodeWindow(ConfigModel):
    """The number of finished turns shown; in mode `node`, of finished rounds of the node."""

    model_config = _CLOSED

    enabled: Flag = Field(True, description="Whether `size` counts.")
    size: int | None = Field(None, description="So many of the newest, if above 0; else as many as fit, at most 500.")


class NodeRolePrefix(ConfigModel):
    """The prefixes of both sides' messages, for endpoints that complete a text."""

    model_config = _CLOSED

    user: Line = Field(description="In front of the user's.")
    assistant: Line = Field(description="In front of the model's.")


class NodeMemory(ConfigModel):
    """The memory of a Standard node."""

    model_config = _CLOSED

    mode: MemoryMode = Field(
        MemoryMode.CONVERSATION,
        description="`conversation` shows the turns of the stored conversation, `node` what this node was asked and "
        "answered itself.",
    )
    window: NodeWindow | None = Field(None, description="How much is shown; else as much as fits.")
    role_prefix: NodeRolePrefix | None = Field(
        None, description="How both sides are called in a text; must be given for endpoints that complete a text."
    )
    query_prompt_template: Line | None = Field(
        None, description="Takes the place of the user's last message; #sys.query# in it stands for that message."
    )

    @property
    def config(self) -> MemoryConfig:
        """The same settings as the type of the node memories."""
        return MemoryConfig.model_validate(self.model_dump())
