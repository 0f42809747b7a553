"""The command `mnemoir`, in a process of its own or, where only its answer matters, in this one."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

from mnemoir.cli import main
from tests.serving import clean_environment

_built = cache(typer.main.get_command)  # all commands, which are otherwise built for each of them anew


def run(
    *arguments: str, cwd: Path, stdin: str | None = None, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`mnemoir` with these arguments, to its end; no settings but those given, `cwd` as home too."""
    return subprocess.run(
        [sys.executable, "-m", "mnemoir", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        cwd=cwd,
        env=clean_environment(**{"HOME": str(cwd), **environment}),
        input=stdin or "",
    )


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run_here(
    *arguments: str, cwd: Path, capsys: pytest.CaptureFixture[str], stdin: str | None = None, **environment: str
) -> Done:
    """The same within this process, which saves half a second each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(os, "environ", clean_environment(**{"HOME": str(cwd), **environment}))
        patch.setattr(typer.main, "get_command", _built)
        patch.setattr(sys, "argv", ["mnemoir", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((stdin or "").encode())))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
    said = capsys.readouterr()
    return Done(returncode=int(ended.value.code or 0), stdout=said.out, stderr=said.err)
