"""`mnemoir model embedding …`: show, list, test, set and forget the embedding model. A key is never an argument."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.models import Address, AnyServer, AsksForKey, KeyFrom, Server, key_of, model_of, place_of, server_of
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Session, asking

commands = group("Show, test and save the embedding model, which makes the vectors for search by meaning.")
asks = asking(commands)

_PATH = "/api/model/embedding"
_OPENAI_MODEL = "text-embedding-3-small"
Model = Annotated[str | None, typer.Argument(help="Its name.", show_default=False)]


@asks()
def show(session: Session) -> None:
    """Print the embedding model in use, that of the next start, and what is set elsewhere."""
    answer = session.ask("GET", _PATH)
    if session.printed_as_json(answer):
        return
    setup = answer["setup"]
    _print_used(setup)
    if setup["saved"] and not setup["saved"]["in_force"]:
        print_row("saved ", *_told(setup["saved"]), "not in force: embedding.provider is set elsewhere")
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
    body = _server(server, address) | key_of(key, key_from)
    answer = session.ask("POST", f"{_PATH}/list", body=body)
    if session.printed_as_json(answer):
        return
    for name in answer["models"]:
        print_row(name)
    if answer["problem"]:
        note(f"{body['url']}: {answer['problem']}. {answer['to_do']}")
        raise typer.Exit(1)


@asks("test")
def embed_once(
    session: Session,
    server: AnyServer = None,
    model: Model = None,
    address: Address = None,
    key: AsksForKey = False,
    key_from: KeyFrom = None,
) -> None:
    """Embed one short text, by default with the model in use; exit 1 without a vector."""
    body: dict[str, Any] = {}
    if server is not None:
        body = _server(server, address) | {"model": _model(server, model)} | key_of(key, key_from)
    tested = session.ask("POST", f"{_PATH}/test", body=body)
    if not session.printed_as_json(tested):
        place = f"{tested['model']}{f' at {url}' if (url := tested['url']) else ''}"
        if tested["ok"]:
            print_row(place, f"{tested['dimension']} dimensions", f"{tested['latency_ms']:.0f} ms")
        else:
            note(f"{place}: {tested['problem']}. {tested['to_do']}")
    if not tested["ok"]:
        raise typer.Exit(1)


@asks("set")
def set_model(
    session: Session,
    server: Server,
    model: Model = None,
    address: Address = None,
    key: AsksForKey = False,
    key_from: KeyFrom = None,
) -> None:
    """Save an embedding model; it is in use after a restart, and all memories and messages are embedded again."""
    body = _server(server, address) | {"model": _model(server, model)} | key_of(key, key_from)
    _print_changed(session, session.ask("PUT", _PATH, body=body))


@asks()
def forget(session: Session) -> None:
    """Remove the saved embedding model and its key; after a restart the settings decide, built-in by default."""
    _print_changed(session, session.ask("DELETE", _PATH))


def _print_changed(session: Session, answer: Mapping[str, Any]) -> None:
    if session.printed_as_json(answer):
        return
    setup = answer["setup"]
    _print_used(setup)
    if setup["restart_needed"]:
        note("Restart the server to use it. Memories and messages are then embedded again in the background.")


def _print_used(setup: Mapping[str, Any]) -> None:
    print_row("in use", *_told(setup["in_use"]))
    if setup["restart_needed"]:
        print_row("next  ", *_told(setup["after_restart"]))


def _told(model: Mapping[str, Any]) -> list[str]:
    return [f"{model['model']} ({model['provider']})", *place_of(model)]


def _server(name: str, address: str | None) -> dict[str, Any]:
    """As `server_of`, with the protocol of embedding."""
    body = server_of(name, address)
    return body | {"provider": "ollama" if body["provider"] == "ollama" else "openai"}


def _model(server: str, model: str | None) -> str:
    return model_of(server, model, of_openai=_OPENAI_MODEL, lists="mnemoir model embedding list")
