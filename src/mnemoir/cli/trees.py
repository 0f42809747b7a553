"""`mnemoir init`, `check` and `schema`: example workflows, problems of a config tree, and schemas of its files."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import orjson
import typer

from mnemoir.cli.output import Config, Json, count_with_noun, note, print_json, print_row
from mnemoir.core.errors import Conflict, InvalidRequest, StorageUnavailable

if TYPE_CHECKING:
    from mnemoir.workflows.checking import Problem

_MOST_NAMED = 5  # existing files that the error names


def init(
    directory: Annotated[Path, typer.Argument(help="A new or an empty directory.", show_default=False)],
    endpoint_url: Annotated[
        str | None, typer.Option(help="Address of your model's server; http://127.0.0.1:11434 unless given.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model, for all examples.")] = None,
    api_type: Annotated[
        str | None, typer.Option(help="Protocol of that server, for example Open-AI-API; OllamaApiChat unless given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write example workflows into a directory, to run and to change."""
    from mnemoir.workflows import starter

    server = starter.StarterServer(url=_checked_url(endpoint_url), model=model, api_type=_checked_type(api_type))
    place = Path(os.path.abspath(directory.expanduser()))
    tree = starter.starter_files(server)
    _refuse_what_is_there(place)
    try:
        _write(place, tree, starter.FOLDERS)
    except OSError as exc:
        raise StorageUnavailable(
            f"{place} could not be written: {exc.strerror or exc}. Free some space, or name another directory."
        ) from exc
    _print_next(place, tree, server.first_endpoint, as_json=as_json)


def _checked_url(url: str | None) -> str | None:
    try:
        parts = urlsplit(url or "")
        is_sound = not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:  # an invalid port or IPv6 address
        is_sound = False
    if not is_sound:
        raise typer.BadParameter(
            "Write the address of the server like http://127.0.0.1:8080.", param_hint="--endpoint-url"
        )
    return url


def _checked_type(name: str | None) -> str | None:
    from mnemoir.workflows.starter import api_types

    known = {known.lower(): known for known in api_types()}
    if name and name.lower() not in known:
        raise typer.BadParameter(
            f"There is no API type {name!r}. Use one of: {', '.join(known.values())}.", param_hint="--api-type"
        )
    return known[name.lower()] if name else None


def _refuse_what_is_there(place: Path) -> None:
    try:
        names = sorted(os.listdir(place))
    except FileNotFoundError:
        return
    except OSError as exc:
        raise Conflict(f"{place} cannot be used: {exc.strerror or exc}. Name a new directory.") from exc
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        held = f"{', '.join(names[:_MOST_NAMED])}{more}"
        raise Conflict(f"{place} is not empty: it holds {held}. Name a new or an empty directory.")


def _write(place: Path, tree: Mapping[str, bytes], folders: tuple[str, ...]) -> None:
    """Write all files to a temporary folder and then move them, so that a full disk leaves an empty directory.

    The temporary folder is inside `place`, because `place` may be a mount point, which a rename cannot replace.
    """
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".mnemoir-init-", dir=place) as unfinished:
        for folder in folders:
            Path(unfinished, folder).mkdir()
        for path, content in tree.items():
            file = Path(unfinished, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for name in sorted(os.listdir(unfinished)):
            os.rename(Path(unfinished, name), place / name)


def _print_next(place: Path, tree: Mapping[str, bytes], endpoint: str, *, as_json: bool) -> None:
    import orjson

    from mnemoir.workflows.starter import FIRST_USER, users

    first = orjson.loads(tree[endpoint])
    command = shlex.join(["mnemoir", "serve", "--config-dir", str(place), "--user", FIRST_USER])
    if as_json:
        print_json({"directory": str(place), "endpoint": str(place / endpoint), "users": users(), "next": command})
        return
    print_row(f"Wrote {len(tree)} files to {place}")
    print_row("endpoint ", f"{endpoint}: {first['modelNameToSendToAPI']} at {first['endpoint']}")
    print_row("users    ", ", ".join(users()))
    print_row("read     ", str(place / "README.md"))
    print_row("next     ", command)


def check(
    config_dir: Annotated[Path, typer.Option(help="The Configs folder, or the Public folder around it.")],
    user: Annotated[
        list[str] | None, typer.Option("--user", "-u", help="Check only what this user reaches; may be repeated.")
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check a config tree; exit 1 if something in it cannot work."""
    from dataclasses import asdict

    from mnemoir.settings import load_settings
    from mnemoir.trees.served import outside
    from mnemoir.workflows.checking import check_with_hints
    from mnemoir.workflows.config.tree import ConfigTree
    from mnemoir.workflows.node import installed_nodes

    for left_out in installed_nodes().problems:
        note(f"Warning: {left_out}")
    tree = ConfigTree.open(config_dir)
    settings = load_settings(config, {"workflows.config_dir": config_dir})
    problems, hints = check_with_hints(tree, user or [], installed_nodes().types, outside(settings, tree))
    errors = sum(problem.level == "error" for problem in problems)
    warnings = len(problems) - errors
    if as_json:
        told = {"problems": [asdict(problem) for problem in problems], "hints": [asdict(hint) for hint in hints]}
        print_json({**told, "errors": errors, "warnings": warnings})
    else:
        _print_problems(problems)
        for hint in hints:
            print_row("hint   ", hint.file, hint.path, hint.text)
        print_row(f"{count_with_noun(errors, 'error')}, {count_with_noun(warnings, 'warning')}")
    if errors:
        raise typer.Exit(1)


def _print_problems(problems: Sequence["Problem"]) -> None:
    for problem in problems:
        print_row(f"{problem.level:<7}", problem.file, problem.path, problem.cause, problem.fix)


def schema(
    name: Annotated[str | None, typer.Argument(help="Kind of file; without it, the kinds are listed.")] = None,
    output_dir: Annotated[
        Path | None, typer.Option(help="Write NAME.schema.json there, or one file for each kind.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of a kind of config file, which is JSON with or without --json."""
    from mnemoir.workflows.node import installed_nodes
    from mnemoir.workflows.schemas import schemas

    known = schemas(installed_nodes().types)
    if name is not None and name not in known:
        raise InvalidRequest(f"There is no schema {name!r}. Name one of {', '.join(known)}.")
    wanted = {name: known[name]} if name else known
    if output_dir is not None:
        _write_schema(
            output_dir, {kind: orjson.dumps(made, option=orjson.OPT_INDENT_2) for kind, made in wanted.items()}
        )
    elif name:
        print_json(known[name])
    elif as_json:
        print_json(list(known))
    else:
        for kind in known:
            print_row(kind)


def _write_schema(folder: Path, files: dict[str, bytes]) -> None:
    """Write one file per schema. Raises InvalidRequest when the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, content in files.items():
            (folder / f"{kind}.schema.json").write_bytes(content + b"\n")
    except OSError as exc:
        raise InvalidRequest(f"{folder} cannot be written: {exc.strerror}. Name another with --output-dir.") from exc
    note(f"Wrote {', '.join(sorted(files))} to {folder}.")
