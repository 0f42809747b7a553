"""DynamicModuleError under the older of its two import paths."""

from ..failures import DynamicModuleError  # noqa: TID252 - the package's full name differs between here and there

__all__ = ["DynamicModuleError"]
