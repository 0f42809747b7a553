"""The exception with which a module reports its failure."""

from typing import Any


class DynamicModuleError(Exception):
    """Failure of a module. The node's output becomes the module's name, the message and the details, if any."""

    def __init__(self, message: str, module_name: str | None = None, details: Any = None) -> None:
        super().__init__(message)
        self.module_name = module_name
        self.details = details
