"""The failure of a module, at the newer of its two places."""

from ...failures import DynamicModuleError  # noqa: TID252 - the package's full name differs between here and there

__all__ = ["DynamicModuleError"]
