"""A public folder with modules in it, and calls of them."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent
from typing import Any

from mnemoir.ports.node_services import ModuleCall, ModuleRunner


@dataclass(frozen=True, kw_only=True)
class PublicFolder:
    """The folder named Public, as a server is pointed at it."""

    root: Path

    def write(self, source: str, path: str = "modules/tool.py") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(source))
        return file

    def write_config(self, path: str, content: dict[str, Any]) -> None:
        self.write(json.dumps(content), f"Configs/{path}")

    def call(self, *args: str, path: str = "modules/tool.py", timeout_s: float = 30, **kwargs: str) -> ModuleCall:
        return ModuleCall(
            path=path,
            args=args,
            kwargs=kwargs,
            config_root=self.root / "Configs",
            user="Some-One",
            timeout_s=timeout_s,
        )

    async def run(self, runner: ModuleRunner, source: str, *args: str, **changes: Any) -> Any:
        """What a module of this source returns."""
        self.write(source)
        return await runner.call(replace(self.call(*args), **changes))
