"""`mnemoir discussions …`: list, show, search, rebuild, export, import and delete memories of discussions."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import orjson
import typer

from mnemoir.cli.options import Config, DataDir, Json, Url
from mnemoir.cli.output import counted, note, print_json, print_row
from mnemoir.cli.rebuild_progress import rebuilt
from mnemoir.cli.session import Session, run
from mnemoir.cli.transfer import output
from mnemoir.core.errors import InvalidRequest, MnemoirError

commands = typer.Typer(
    help="List, search, rebuild, export, import and delete memories of discussions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Id = Annotated[str, typer.Argument(help="Id of the discussion, as list prints it.")]
User = Annotated[
    str | None, typer.Option("--user", "-u", help="User of the config tree; else the first one that is served.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]

_DISCUSSIONS = "/api/discussions"


@commands.command("list")
def list_discussions(
    user: User = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=1000)] = 100,
    after: Annotated[str | None, typer.Option(help="Continue after the discussion with this id.")] = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print the discussions that have memories, by id."""
    session = Session(config=config, data_dir=data_dir, url=url)
    answer = session.ask("GET", _DISCUSSIONS, query=_given(user=user, limit=limit, after=after))
    if as_json:
        print_json(answer)
        return
    for one in answer["results"]:
        print_row(one["id"], one["updated_at"], _counts(one))
    if answer["next"]:
        note(f"More follow with --after {shlex.quote(answer['next'])}")


@commands.command()
def show(
    id: Id,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print the memories of a discussion: counts, the rolling summary, the last chunk summaries."""
    session = Session(config=config, data_dir=data_dir, url=url)
    told = session.ask("GET", _path(id), query=_given(user=user))
    if as_json:
        print_json(told)
        return
    for line in _lines_of(told):
        print_row(line)


@commands.command()
def search(
    id: Id,
    words: Annotated[list[str], typer.Argument(help="Words to look for; several in quotes are a phrase.")],
    user: User = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=100)] = 5,
    hybrid: Annotated[bool, typer.Option("--hybrid", help="By meaning as well as by words.")] = False,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Find records of a discussion that hold any of the words, best first."""
    session = Session(config=config, data_dir=data_dir, url=url)
    query = _given(user=user, q=";".join(words), limit=limit, mode="hybrid" if hybrid else "keyword")
    answer = session.ask("GET", _path(id, "search"), query=query)
    if as_json:
        print_json(answer)
        return
    for record in answer["results"]:
        print_row(record["id"], str(record["created_at"])[:10], record["text"])


@commands.command()
def rebuild(
    id: Id,
    messages: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="JSON file with the messages of the conversation; else the stored ones are used.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the amount of work for the model.")] = False,
    yes: Yes = False,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Rebuild all memories of a discussion; the old ones stay until all new ones are made."""
    session = Session(config=config, data_dir=data_dir, url=url)
    body = {} if messages is None else {"messages": _messages(messages)}
    if dry_run or not yes:
        plan = session.ask("POST", _path(id, "rebuild"), query=_given(user=user, dry_run="true"), body=body)
        of = f"{counted(plan['chunks'], 'chunk')} of {counted(plan['messages'], 'message')}"
        told = f"{of}, about {plan['tokens']} tokens"
        if dry_run:
            print_json(plan) if as_json else print_row(told)
            return
        typer.confirm(f"Make memories of {told} anew?", abort=True, err=True)
    last = run(rebuilt(session, session.target(_path(id, "rebuild"), _given(user=user)), body))
    if as_json:
        print_json(last)
    for text in last["notes"]:
        note(text)
    if last["done"] < last["all"]:
        raise MnemoirError(
            f"Only {last['done']} of {last['all']} chunks were done, so the old memories stay. Try again to go on."
        )
    note(f"Made memories of {counted(last['done'], 'chunk')}.")


@commands.command("export")
def export_discussion(
    id: Id,
    file: Annotated[Path | None, typer.Argument(help="File to write; else standard output.")] = None,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Write all memories of a discussion as one JSON object, with their source messages."""
    session = Session(config=config, data_dir=data_dir, url=url)
    told = session.ask("GET", _path(id, "export"), query=_given(user=user))
    with output(file) as write:
        write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    counts = {
        "chunk_summaries": len(told["chunk_summaries"]),
        "records": sum(len(chunk["records"]) for chunk in told["record_chunks"]),
    }
    if as_json and file:
        print_json(counts)
    note(f"Exported {counts['chunk_summaries']} chunk summaries and {counts['records']} records.")


@commands.command("import")
def import_discussion(
    id: Annotated[str, typer.Argument(help="Id that the discussion gets.")],
    file: Annotated[Path, typer.Argument(help="A file that export wrote.", exists=True, dir_okay=False)],
    replace: Annotated[bool, typer.Option("--replace", help="Even where something is remembered of it.")] = False,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Import a file of export as a discussion, completely or not at all."""
    session = Session(config=config, data_dir=data_dir, url=url)
    query = _given(user=user, replace="true" if replace else None)
    answer = session.ask("POST", _path(id, "import"), query=query, body=file.read_bytes())
    if as_json:
        print_json(answer)
        return
    note(f"{answer['message']}.")


@commands.command()
def forget(
    id: Id,
    key: Annotated[str, typer.Argument(help="`id` of a chunk summary, or `chunk` of a record.")],
    records: Annotated[bool, typer.Option("--records", help="Of the records; else of the chunk summaries.")] = False,
    yes: Yes = False,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Delete one chunk: its messages and memories, and the rolling summary if it may contain them."""
    if key in ("", ".", ".."):
        raise InvalidRequest(f"{key!r} names no chunk.")
    path = _path(id, f"memories/{quote(key, safe='', errors='replace')}")
    if not yes:
        typer.confirm(f"Forget chunk {key!r} of discussion {id!r}?", abort=True, err=True)
    session = Session(config=config, data_dir=data_dir, url=url)
    session.ask("DELETE", path, query=_given(user=user, kind="records" if records else None))
    if as_json:
        print_json({"forgotten": key})
        return
    note("The chunk is forgotten.")


@commands.command()
def delete(
    id: Id,
    yes: Yes = False,
    user: User = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Delete all memories of a discussion, and the source messages stored with them."""
    path = _path(id)
    if not yes:
        typer.confirm(f"Forget all of discussion {id!r}?", abort=True, err=True)
    session = Session(config=config, data_dir=data_dir, url=url)
    session.ask("DELETE", path, query=_given(user=user))
    if as_json:
        print_json({"deleted": id})
        return
    note("The discussion is forgotten.")


def _messages(file: Path) -> list[Any]:
    """The messages of a JSON file: a list, or an object with the member `messages`, as chat clients send it."""
    try:
        told = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as exc:
        raise InvalidRequest(f"{file} is not valid JSON: {exc.msg}.", code="invalid_json") from exc
    messages = told.get("messages") if isinstance(told, dict) else told
    if not isinstance(messages, list):
        raise InvalidRequest(f"{file} holds no list of messages, each with `role` and `content`.")
    return messages


def _path(id: str, below: str = "") -> str:
    """The route of a discussion. Raises InvalidRequest for an id that a URL cannot contain: "", "." and ".."."""
    if id in ("", ".", ".."):
        raise InvalidRequest(f"{id!r} is not a valid id of a discussion.")
    named = f"{_DISCUSSIONS}/{quote(id, safe='', errors='replace')}"
    return f"{named}/{below}" if below else named


def _given(**query: object) -> dict[str, object]:
    return {name: value for name, value in query.items() if value is not None}


def _counts(one: Mapping[str, Any]) -> str:
    summary = ", rolling summary" if one["has_summary"] else ""
    return f"{one['chunk_summaries']} chunk summaries, {one['records']} records{summary}, {one['bytes']} bytes"


def _lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    yield told["id"]
    yield f"{told['updated_at']}  {_counts(told)}"
    if told["summary"]:
        yield "Rolling summary:"
        yield from _indented(told["summary"]["text"])
    if told["latest"]:
        yield "Last chunk summaries:"
    for summary in told["latest"]:
        yield from _indented(summary["text"])


def _indented(text: str) -> Iterator[str]:
    """The lines of the text, indented; the first one has a dash."""
    for at, line in enumerate(text.splitlines()):
        yield f"{'    ' if at else '  - '}{line}"
