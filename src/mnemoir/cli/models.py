"""`mnemoir model …` and `mnemoir model embedding …`: show, list, test, set and forget a model.

Both are the same five commands; a key is never an argument.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Command, Session, asking
from mnemoir.core.errors import InvalidRequest

_OPENAI, _OLLAMA = "https://api.openai.com/v1", "http://127.0.0.1:11434"
# what people call a server -> its protocol and its usual address
_SERVERS: Mapping[str, tuple[str, str | None]] = {
    "ollama": ("ollama", _OLLAMA),
    "openai": ("openai-responses", _OPENAI),
    "llama.cpp": ("openai-chat", "http://127.0.0.1:8080/v1"),
    "lm-studio": ("openai-chat", "http://127.0.0.1:1234/v1"),
    "vllm": ("openai-chat", "http://127.0.0.1:8000/v1"),
    "compatible": ("openai-chat", None),
}
_NAMES = ", ".join(_SERVERS)

Server = Annotated[str, typer.Argument(help=f"Where it runs: {_NAMES}.", show_default=False)]
AnyServer = Annotated[str | None, typer.Argument(help=f"Where it runs: {_NAMES}.", show_default=False)]
Model = Annotated[str | None, typer.Argument(help="Its name.", show_default=False)]
Address = Annotated[str | None, typer.Option(help="Address of its server; else the usual one.")]
AsksForKey = Annotated[
    bool, typer.Option("--key", help="Ask for its API key; without a terminal, read it from standard input.")
]
KeyFrom = Annotated[str | None, typer.Option(help="Name of the environment variable with its API key.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Role:
    """What the commands of one role have of their own. `helps` are by command; `tested` is the result of a test."""

    command: str
    path: str
    provider_key: str  # the setting that names the protocol
    protocol: Callable[[str], str]
    openai_model: str
    helps: Mapping[str, str]
    tested: Callable[[Mapping[str, Any]], list[str]]


class _Add(Protocol):
    """Makes a function the command of that name; `help` is in place of that of the role."""

    def __call__(self, name: str, help: str = "") -> Callable[[Command], Command]:
        """What decorates the function."""
        ...


_CHAT = _Role(
    command="mnemoir model",
    path="/api/model",
    provider_key="llm.provider",
    protocol=lambda protocol: protocol,
    openai_model="gpt-5-mini",
    helps={
        "show": "Print the model in use, the saved one, and what is set elsewhere.",
        "test": "Ask one question of a model, by default of the one in use; exit 1 without an answer.",
        "set": "Save a model; it is in use at once, also by a running server.",
        "forget": "Remove the saved model and its key; the settings decide again.",
    },
    tested=lambda tested: [f"answered in {tested['latency_ms']:.0f} ms"],
)
_EMBEDDING = _Role(
    command="mnemoir model embedding",
    path="/api/model/embedding",
    provider_key="embedding.provider",
    protocol=lambda protocol: "ollama" if protocol == "ollama" else "openai",
    openai_model="text-embedding-3-small",
    helps={
        "show": "Print the embedding model in use, that of the next start, and what is set elsewhere.",
        "test": "Embed one short text, by default with the model in use; exit 1 without a vector.",
        "set": "Save an embedding model; it is in use after a restart, "
        "and all memories and messages are embedded again.",
        "forget": "Remove the saved embedding model and its key; "
        "after a restart the settings decide, built-in by default.",
    },
    tested=lambda tested: [f"{tested['dimension']} dimensions", f"{tested['latency_ms']:.0f} ms"],
)


def _commands(help: str, role: _Role) -> typer.Typer:
    """The group of the five commands of a role."""
    commands = group(help)
    asks = asking(commands)

    def add(name: str, help: str = "") -> Callable[[Command], Command]:
        def with_help(command: Command) -> Command:
            command.__doc__ = help or role.helps[name]
            return asks(name)(command)

        return with_help

    @add("show")
    def show(session: Session) -> None:
        answer = session.ask("GET", role.path)
        if not session.printed_as_json(answer):
            _print_setup(role, answer)

    _add_questions(add, role)

    @add("set")
    def set_model(
        session: Session,
        server: Server,
        model: Model = None,
        address: Address = None,
        key: AsksForKey = False,
        key_from: KeyFrom = None,
    ) -> None:
        body = _server(role, server, address) | _model(role, server, model) | _key(key, key_from)
        _print_changed(session, session.ask("PUT", role.path, body=body))

    @add("forget")
    def forget(session: Session) -> None:
        _print_changed(session, session.ask("DELETE", role.path))

    return commands


def _add_questions(add: _Add, role: _Role) -> None:
    """Add the commands that ask a model's server and change nothing."""

    @add("list", "Print the models that a server has.")
    def list_models(
        session: Session,
        server: Server = "ollama",
        address: Address = None,
        key: AsksForKey = False,
        key_from: KeyFrom = None,
    ) -> None:
        body = _server(role, server, address) | _key(key, key_from)
        answer = session.ask("POST", f"{role.path}/list", body=body)
        if not session.printed_as_json(answer):
            _print_offered(body["url"], answer)

    @add("test")
    def test(
        session: Session,
        server: AnyServer = None,
        model: Model = None,
        address: Address = None,
        key: AsksForKey = False,
        key_from: KeyFrom = None,
    ) -> None:
        body: dict[str, Any] = {}
        if server is not None:
            body = _server(role, server, address) | _model(role, server, model) | _key(key, key_from)
        tested = session.ask("POST", f"{role.path}/test", body=body)
        if not session.printed_as_json(tested):
            _print_tested(role, tested)
        if not tested["ok"]:
            raise typer.Exit(1)


def _print_setup(role: _Role, answer: Mapping[str, Any]) -> None:
    setup = answer["setup"]
    _print_used(setup)
    saved = setup["saved"]
    if saved and not saved["in_force"]:
        print_row("saved ", *_description(saved), f"not in force: {role.provider_key} is set elsewhere")
    elif saved and "after_restart" not in setup:
        print_row("saved ", *_description(saved))
    for fixed in setup["fixed"]:
        print_row("fixed ", fixed["key"], *filter(None, [fixed["value"]]), f"by {fixed['set_by']}")
    if answer["locked"]:
        note(answer["locked"])


def _print_offered(url: str, answer: Mapping[str, Any]) -> None:
    """The models of a server; exit 1 where it told none."""
    for name in answer["models"]:
        print_row(name)
    if answer["problem"]:
        note(f"{url}: {answer['problem']}. {answer['to_do']}")
        raise typer.Exit(1)


def _print_tested(role: _Role, tested: Mapping[str, Any]) -> None:
    place = f"{tested['model']}{f' at {url}' if (url := tested['url']) else ''}"
    if tested["ok"]:
        print_row(place, *role.tested(tested))
    else:
        note(f"{place}: {tested['problem']}. {tested['to_do']}")


def _print_changed(session: Session, answer: Mapping[str, Any]) -> None:
    if session.printed_as_json(answer):
        return
    _print_used(answer["setup"])
    if answer["setup"].get("restart_needed"):
        note("Restart the server to use it. Memories and messages are then embedded again in the background.")


def _print_used(setup: Mapping[str, Any]) -> None:
    print_row("in use", *_description(setup["in_use"]))
    if setup.get("restart_needed"):
        print_row("next  ", *_description(setup["after_restart"]))


def _description(model: Mapping[str, Any]) -> list[str]:
    """Name, address and key of a model, as the ends of a row; the name alone for one in the server's own process."""
    place = [] if model["url"] is None else [model["url"], "with a key" if model["has_key"] else "without a key"]
    return [f"{model['model']} ({model['provider']})", *place]


def _server(role: _Role, name: str, address: str | None) -> dict[str, Any]:
    """Protocol and address of a server, as members of the body. Raises InvalidRequest."""
    if name not in _SERVERS:
        raise InvalidRequest(f"{name!r} is no server of models. Name one of {_NAMES}.")
    protocol, usual = _SERVERS[name]
    url = address or usual
    if url is None:
        raise InvalidRequest("Say where the server is, with --address http://host:port/v1.")
    return {"provider": role.protocol(protocol), "url": url}


def _model(role: _Role, server: str, model: str | None) -> dict[str, Any]:
    """The model's name as a member of the body; OpenAI has a usual one. Raises InvalidRequest."""
    if model is None and server != "openai":
        raise InvalidRequest(f"Name the model behind {server}; `{role.command} list {server}` prints those it has.")
    return {"model": role.openai_model if model is None else model}


def _key(is_asked_for: bool, variable: str | None) -> dict[str, Any]:
    """The key as a member of the body, {} to keep the stored one. Raises InvalidRequest."""
    if variable is not None:
        if not os.environ.get(variable):
            raise InvalidRequest(f"The environment variable {variable} is not set.")
        return {"api_key": os.environ[variable]}
    if not is_asked_for:
        return {}
    is_typed = sys.stdin.isatty()
    key = typer.prompt("API key", hide_input=True, err=True) if is_typed else sys.stdin.readline()
    return {"api_key": str(key).strip()}


model = _commands("Show, test and connect the language model and the embedding model.", _CHAT)
embedding = _commands(
    "Show, test and save the embedding model, which makes the vectors for search by meaning.", _EMBEDDING
)
model.add_typer(embedding, name="embedding")
