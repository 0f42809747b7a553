"""PythonModule: calls a function of the user in a file of the allowed directories."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from mnemoir.ports.node_services import ModuleCall
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a PythonModule node."""

    module_path: Line = Field(
        "", description="The file, with variables; ~ and paths below the public folder are known."
    )
    args: Sequence[Any] = Field((), description="Arguments of Invoke: each as its text, with variables.")  # any JSON
    kwargs: Mapping[str, Any] = Field(default_factory=dict, description="The same, by name.")  # any JSON


class PythonModule(ValueNode[Properties]):
    """Calls `Invoke` of the module and outputs the value it returns, of any type."""

    kind = "PythonModule"
    properties_type = Properties
    filled = ("module_path", "args", "kwargs")

    async def value(self, step: Step) -> object:
        """The returned value, or a text that begins with `Error`. Raises SettingsError or ModuleFailed."""
        said, user, variables = self.properties, step.user, step.variables()
        return await self.services.modules.call(
            ModuleCall(
                path=step.fill(said.module_path, variables),
                args=[step.fill(str(value), variables) for value in said.args],
                kwargs={name: step.fill(str(value), variables) for name, value in said.kwargs.items()},
                config_root=user.tree.root,
                user=user.name,
                timeout_s=said.timeout_s or self.services.limits.module_timeout_s,
            )
        )
