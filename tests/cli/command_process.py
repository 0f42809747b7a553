"""The command `mnemoir` in a process of its own."""

import subprocess
import sys
from pathlib import Path

from tests.serving import clean_environment


def run(*arguments: str, cwd: Path, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """`mnemoir` with these arguments, to its end; no settings but those given, `cwd` as home too."""
    return subprocess.run(
        [sys.executable, "-m", "mnemoir", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env=clean_environment(**{"HOME": str(cwd), **environment}),
        input=stdin or "",
    )
