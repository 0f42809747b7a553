"""The `memory` of a node: which history its model is shown, and how much of it."""

from pydantic import ConfigDict, Field

from mnemoir.conversations.memory_config import MemoryConfig, MemoryMode
from mnemoir.workflows.config.model import ConfigModel, Flag, Line

_CLOSED = ConfigDict(extra="forbid")  # a member with a slip of the pen would only be missed in the answers


class NodeWindow(ConfigModel):
    """How many finished turns are shown; in mode `node`, finished rounds of the node."""

    model_config = _CLOSED

    enabled: Flag = Field(True, description="Whether `size` counts.")
    size: int | None = Field(None, description="So many of the newest, if above 0; else as many as fit, at most 500.")


class NodeRolePrefix(ConfigModel):
    """What stands in front of each side's words, for endpoints that complete a text."""

    model_config = _CLOSED

    user: Line = Field(description="In front of the user's.")
    assistant: Line = Field(description="In front of the model's.")


class NodeMemory(ConfigModel):
    """What a Standard node remembers."""

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
        """The same for the memories themselves."""
        return MemoryConfig.model_validate(self.model_dump())
