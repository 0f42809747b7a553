"""How a module says that it failed, and of what."""

from typing import Any


class DynamicModuleError(Exception):
    """Becomes the output of the node: the module's name, the message, and the details where there are any."""

    def __init__(self, message: str, module_name: str | None = None, details: Any = None) -> None:
        super().__init__(message)
        self.module_name = module_name
        self.details = details
