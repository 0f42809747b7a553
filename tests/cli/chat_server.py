"""A running server for chats of the command line, its scripted model, and chats without a terminal."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mnemoir.cli import main
from tests.cli.command_process import Done
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess, clean_environment


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """A running server; `environment` directs commands to it, `data_dir` is its data directory."""

    llm: ThreadedLLM
    environment: dict[str, str]
    data_dir: Path


def asking(llm: ThreadedLLM) -> dict[str, str]:
    """Settings that lead to the scripted model."""
    return {
        "OPENAI_BASE_URL": llm.openai_url,
        "OPENAI_API_KEY": "sk-test",
        "MNEMOIR_LLM__PROVIDER": "openai-chat",
        "MNEMOIR_LLM__MODEL": "scripted",
        "MNEMOIR_LLM__TRIES": "1",
    }


def told(llm: ThreadedLLM) -> list[list[str]]:
    """The messages of each chat that the model was asked, without instructions, and without what was recalled.

    Facts of earlier chats may be looked for meanwhile, which is no chat.
    """
    chats = [one.body["messages"] for one in llm.requests if one.body.get("stream")]
    return [
        [one["content"].rpartition("</recalled_memories>\n\n")[2] for one in messages if one["role"] != "system"]
        for messages in chats
    ]


@contextmanager
def chat_server(folder: Path) -> Iterator[ChatServer]:
    """A server whose model remembers each turn as a fact."""
    with ScriptedLLM.in_thread() as llm:
        learn_every_turn(llm)
        with ServerProcess(folder / "data", environment=asking(llm)) as server:
            environment = {"MNEMOIR_SERVER__PORT": str(server.port)}
            yield ChatServer(llm=llm, environment=environment, data_dir=server.data_dir)


def piped(*arguments: str, said: str, cwd: Path, capsys: pytest.CaptureFixture[str], **environment: str) -> Done:
    """`mnemoir chat` within this process, to the end of a file that holds what is `said`."""
    file = cwd / "said.txt"
    file.write_text(said, encoding="utf-8")
    with file.open(encoding="utf-8") as stdin, pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(os, "environ", clean_environment(**{"HOME": str(cwd), **environment}))
        patch.setattr(sys, "argv", ["mnemoir", "chat", *arguments])
        patch.setattr(sys, "stdin", stdin)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
    told = capsys.readouterr()
    return Done(returncode=int(ended.value.code or 0), stdout=told.out, stderr=told.err)
