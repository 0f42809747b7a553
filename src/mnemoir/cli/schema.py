"""`mnemoir schema`: the JSON Schemas of config files, for editors that check and complete them."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from mnemoir.cli.options import Json
from mnemoir.cli.output import note, print_json, print_row
from mnemoir.core.errors import InvalidRequest


def schema(
    name: Annotated[str | None, typer.Argument(help="Kind of file; without it, the kinds are listed.")] = None,
    output_dir: Annotated[
        Path | None, typer.Option(help="Write NAME.schema.json there, or one file for each kind.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of a kind of config file, which is JSON with or without --json."""
    from mnemoir.workflows.node_types import loaded
    from mnemoir.workflows.schemas import schemas

    known = schemas(loaded().types)
    if name is not None and name not in known:
        raise InvalidRequest(f"There is no schema {name!r}. Name one of {', '.join(known)}.")
    wanted = {name: known[name]} if name else known
    if output_dir is not None:
        _write(output_dir, {kind: orjson.dumps(made, option=orjson.OPT_INDENT_2) for kind, made in wanted.items()})
    elif name:
        print_json(known[name])
    elif as_json:
        print_json(list(known))
    else:
        for kind in known:
            print_row(kind)


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write one file per schema. Raises InvalidRequest when the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, content in files.items():
            (folder / f"{kind}.schema.json").write_bytes(content + b"\n")
    except OSError as exc:
        raise InvalidRequest(f"{folder} cannot be written: {exc.strerror}. Name another with --output-dir.") from exc
    note(f"Wrote {', '.join(sorted(files))} to {folder}.")
