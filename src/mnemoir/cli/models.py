"""`mnemoir model …`: show, list, test, set and forget the language model. A key is never an argument."""

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Session, asking
from mnemoir.core.errors import InvalidRequest

commands = group("Show, test and connect the language model and the embedding model.")
asks = asking(commands)

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
Address = Annotated[str | None, typer.Option(help="Address of its server; else the usual one.")]
AsksForKey = Annotated[
    bool, typer.Option("--key", help="Ask for its API key; without a terminal, read it from standard input.")
]
KeyFrom = Annotated[str | None, typer.Option(help="Name of the environment variable with its API key.")]


@asks()
def show(session: Session) -> None:
    """Print the model in use, the saved one, and what is set elsewhere."""
    answer = session.ask("GET", "/api/model")
    if session.printed_as_json(answer):
        return
    setup = answer["setup"]
    used, saved = setup["in_use"], setup["saved"]
    print_row("in use", f"{used['model']} ({used['provider']})", *place_of(used))
    if saved:
        aside = "" if saved["in_force"] else "not in force: llm.provider is set elsewhere"
        print_row("saved ", f"{saved['model']} ({saved['provider']})", *place_of(saved), *filter(None, [aside]))
    for fixed in setup["fixed"]:
        print_row("fixed ", fixed["key"], *filter(None, [fixed["value"]]), f"by {fixed['set_by']}")
    if answer["locked"]:
        note(answer["locked"])


@asks("list")
def list_models(
    session: Session,
    server: Server = "ollama",
    address: Address = None,
    key: AsksForKey = False,
    key_from: KeyFrom = None,
) -> None:
    """Print the models that a server has."""
    body = server_of(server, address) | key_of(key, key_from)
    answer = session.ask("POST", "/api/model/list", body=body)
    if session.printed_as_json(answer):
        return
    for name in answer["models"]:
        print_row(name)
    if answer["problem"]:
        note(f"{body['url']}: {answer['problem']}. {answer['to_do']}")
        raise typer.Exit(1)


@asks("test")
def ask_once(
    session: Session,
    server: AnyServer = None,
    model: Annotated[str | None, typer.Argument(help="Its name.", show_default=False)] = None,
    address: Address = None,
    key: AsksForKey = False,
    key_from: KeyFrom = None,
) -> None:
    """Ask one question of a model, by default of the one in use; exit 1 without an answer."""
    body: dict[str, Any] = {}
    if server is not None:
        body = server_of(server, address) | {"model": model_of(server, model)} | key_of(key, key_from)
    tested = session.ask("POST", "/api/model/test", body=body)
    if not session.printed_as_json(tested):
        place = f"{tested['model']}{f' at {url}' if (url := tested['url']) else ''}"
        if tested["ok"]:
            print_row(place, f"answered in {tested['latency_ms']:.0f} ms")
        else:
            note(f"{place}: {tested['problem']}. {tested['to_do']}")
    if not tested["ok"]:
        raise typer.Exit(1)


@asks("set")
def set_model(
    session: Session,
    server: Server,
    model: Annotated[str | None, typer.Argument(help="Its name.", show_default=False)] = None,
    address: Address = None,
    key: AsksForKey = False,
    key_from: KeyFrom = None,
) -> None:
    """Save a model; it is in use at once, also by a running server."""
    body = server_of(server, address) | {"model": model_of(server, model)} | key_of(key, key_from)
    answer = session.ask("PUT", "/api/model", body=body)
    if not session.printed_as_json(answer):
        used = answer["setup"]["in_use"]
        print_row("in use", f"{used['model']} ({used['provider']})", *place_of(used))


@asks()
def forget(session: Session) -> None:
    """Remove the saved model and its key; the settings decide again."""
    answer = session.ask("DELETE", "/api/model")
    if not session.printed_as_json(answer):
        used = answer["setup"]["in_use"]
        print_row("in use", f"{used['model']} ({used['provider']})", *place_of(used))


def server_of(name: str, address: str | None) -> dict[str, Any]:
    """Protocol and address of a server, as members of the body. Raises InvalidRequest."""
    if name not in _SERVERS:
        raise InvalidRequest(f"{name!r} is no server of models. Name one of {_NAMES}.")
    provider, usual = _SERVERS[name]
    url = address or usual
    if url is None:
        raise InvalidRequest("Say where the server is, with --address http://host:port/v1.")
    return {"provider": provider, "url": url}


def model_of(
    server: str, model: str | None, *, of_openai: str = "gpt-5-mini", lists: str = "mnemoir model list"
) -> str:
    """The model's name; without one, `of_openai` at OpenAI. Raises InvalidRequest that names the list command."""
    if model is None and server == "openai":
        return of_openai
    if model is None:
        raise InvalidRequest(f"Name the model behind {server}; `{lists} {server}` prints those it has.")
    return model


def key_of(is_asked_for: bool, variable: str | None) -> dict[str, str]:
    """The key as a member of the body, {} to keep the stored one."""
    if variable is not None:
        if not os.environ.get(variable):
            raise InvalidRequest(f"The environment variable {variable} is not set.")
        return {"api_key": os.environ[variable]}
    if not is_asked_for:
        return {}
    is_typed = sys.stdin.isatty()
    key = typer.prompt("API key", hide_input=True, err=True) if is_typed else sys.stdin.readline()
    return {"api_key": str(key).strip()}


def place_of(model: Mapping[str, Any]) -> list[str]:
    """Address and key of a model, as the ends of a row; [] for one in the server's own process."""
    return [] if model["url"] is None else [model["url"], "with a key" if model["has_key"] else "without a key"]
