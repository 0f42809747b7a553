"""`mnemoir discussions …`: list, show, search, rebuild, export, import and delete memories of discussions."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import Advance, Config, DataDir, Json, count_with_noun, note, print_json, print_row, progress
from mnemoir.cli.session import Session, asking, named_in_path, run
from mnemoir.cli.transfer import output
from mnemoir.core.errors import InvalidRequest, MnemoirError

commands = group("List, search, rebuild, export, import and delete memories of discussions.")
asks = asking(commands)

Id = Annotated[str, typer.Argument(help="Id of the discussion, as list prints it.")]
User = Annotated[
    str | None, typer.Option("--user", "-u", help="User of the config tree; else the first one that is served.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]

_DISCUSSIONS = "/api/discussions"


async def rebuilt(session: Session, target: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Run a rebuild and show its progress; the last line of its answer. Raises MnemoirError when it is incomplete."""
    last: dict[str, Any] = {}
    with _bar() as tell:
        async with (
            session.connect_to_server() as connection,
            aclosing(connection.lines(target, "POST", body)) as lines,
        ):
            async for line in lines:
                last = orjson.loads(line)
                if "error" in last:
                    raise MnemoirError(last["error"], code=last["code"])
                tell(last["done"], last["all"])
    if not last.get("finished"):
        raise MnemoirError("The server ended the rebuild before it was done, so the old memories stay. Try again.")
    return last


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A function that shows done and total chunks: as a bar on a terminal, else as lines on standard error."""
    with ExitStack() as shown:
        at: list[Advance] = []
        done_before = 0

        def show_progress(done: int, all_chunks: int) -> None:
            nonlocal done_before
            if not sys.stderr.isatty():
                if done != done_before:
                    note(f"{done} of {all_chunks} chunks")
            else:
                if not at:
                    at.append(shown.enter_context(progress("Rebuilding", all_chunks)))
                at[0](done - done_before)
            done_before = done

        yield show_progress


@asks("list")
def list_discussions(
    session: Session,
    user: User = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=1000)] = 100,
    after: Annotated[str | None, typer.Option(help="Continue after the discussion with this id.")] = None,
) -> None:
    """Print the discussions that have memories, by id."""
    answer = session.ask("GET", _DISCUSSIONS, query={"user": user, "limit": limit, "after": after})
    if session.printed_as_json(answer):
        return
    for one in answer["results"]:
        print_row(one["id"], one["updated_at"], _counts(one))
    if not answer["results"]:
        note("No more discussions have memories." if after else "No discussion has memories.")
    if answer["next"]:
        note(f"More follow with --after {shlex.quote(answer['next'])}")


@asks()
def show(
    session: Session,
    id: Id,
    user: User = None,
) -> None:
    """Print the memories of a discussion: counts, the rolling summary, the last chunk summaries."""
    told = session.ask("GET", _path(id), query={"user": user})
    if session.printed_as_json(told):
        return
    for line in _lines_of(told):
        print_row(line)


@asks()
def search(
    session: Session,
    id: Id,
    words: Annotated[list[str], typer.Argument(help="Words to look for; several in quotes are a phrase.")],
    user: User = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=100)] = 5,
    hybrid: Annotated[bool, typer.Option("--hybrid", help="By meaning as well as by words.")] = False,
) -> None:
    """Find records of a discussion that hold any of the words, best first."""
    query = {"user": user, "q": ";".join(words), "limit": limit, "mode": "hybrid" if hybrid else "keyword"}
    answer = session.ask("GET", _path(id, "search"), query=query)
    if session.printed_as_json(answer):
        return
    for record in answer["results"]:
        print_row(record["id"], str(record["created_at"])[:10], record["text"])
    if not answer["results"]:
        note("Nothing was found.")


@asks()
def rebuild(
    session: Session,
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
) -> None:
    """Rebuild all memories of a discussion; the old ones stay until all new ones are made."""
    body = {} if messages is None else {"messages": _messages(messages)}
    if dry_run or not yes:
        plan = session.ask("POST", _path(id, "rebuild"), query={"user": user, "dry_run": "true"}, body=body)
        of = f"{count_with_noun(plan['chunks'], 'chunk')} of {count_with_noun(plan['messages'], 'message')}"
        told = f"{of}, about {plan['tokens']} tokens"
        if dry_run:
            if not session.printed_as_json(plan):
                print_row(told)
            return
        typer.confirm(f"Make memories of {told} anew?", abort=True, err=True)
    last = run(rebuilt(session, session.target(_path(id, "rebuild"), {"user": user}), body))
    session.printed_as_json(last)
    for text in last["notes"]:
        note(text)
    if last["done"] < last["all"]:
        raise MnemoirError(
            f"Only {last['done']} of {last['all']} chunks were done, so the old memories stay. Try again to go on."
        )
    note(f"Made memories of {count_with_noun(last['done'], 'chunk')}.")


@asks("export")
def export_discussion(
    session: Session,
    id: Id,
    file: Annotated[Path | None, typer.Argument(help="File to write; else standard output.")] = None,
    user: User = None,
) -> None:
    """Write all memories of a discussion as one JSON object, with their source messages."""
    told = session.ask("GET", _path(id, "export"), query={"user": user})
    with output(file) as write:
        write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    counts = {
        "chunk_summaries": len(told["chunk_summaries"]),
        "records": sum(len(chunk["records"]) for chunk in told["record_chunks"]),
    }
    if file:
        session.printed_as_json(counts)
    note(f"Exported {counts['chunk_summaries']} chunk summaries and {counts['records']} records.")


@asks("import")
def import_discussion(
    session: Session,
    id: Annotated[str, typer.Argument(help="Id that the discussion gets.")],
    file: Annotated[Path, typer.Argument(help="A file that export wrote.", exists=True, dir_okay=False)],
    replace: Annotated[bool, typer.Option("--replace", help="Even where something is remembered of it.")] = False,
    user: User = None,
) -> None:
    """Import a file of export as a discussion, completely or not at all."""
    query = {"user": user, "replace": "true" if replace else None}
    answer = session.ask("POST", _path(id, "import"), query=query, body=file.read_bytes())
    if session.printed_as_json(answer):
        return
    note(f"{answer['message']}.")


@asks()
def forget(
    session: Session,
    id: Id,
    key: Annotated[str, typer.Argument(help="`id` of a chunk summary, or `chunk` of a record.")],
    records: Annotated[bool, typer.Option("--records", help="Of the records; else of the chunk summaries.")] = False,
    yes: Yes = False,
    user: User = None,
) -> None:
    """Delete one chunk: its messages and memories, and the rolling summary if it may contain them."""
    path = _path(id, f"memories/{named_in_path(key, 'id of a chunk')}")
    if not yes:
        typer.confirm(f"Forget chunk {key!r} of discussion {id!r}?", abort=True, err=True)
    session.ask("DELETE", path, query={"user": user, "kind": "records" if records else None})
    if session.printed_as_json({"forgotten": key}):
        return
    note("The chunk is forgotten.")


@asks()
def delete(
    session: Session,
    id: Id,
    yes: Yes = False,
    user: User = None,
) -> None:
    """Delete all memories of a discussion, and the source messages stored with them."""
    path = _path(id)
    if not yes:
        typer.confirm(f"Forget all of discussion {id!r}?", abort=True, err=True)
    session.ask("DELETE", path, query={"user": user})
    if session.printed_as_json({"deleted": id}):
        return
    note("The discussion is forgotten.")


@commands.command()
def rekey(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of discussions; else all of the former key.")] = None,
    user: User = None,
    from_plain: Annotated[bool, typer.Option("--from-plain", help="Take discussions that have no key yet.")] = False,
    to_plain: Annotated[bool, typer.Option("--to-plain", help="Take the key away, and leave plain files.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Encrypt discussions by another key of their client. The keys are asked for, or in two variables."""
    import asyncio

    from mnemoir.settings import load_settings
    from mnemoir.upkeep.rekeying import rekey as rekeyed

    if from_plain and to_plain:
        raise InvalidRequest("--from-plain and --to-plain exclude each other.")
    old = None if from_plain else _key("MNEMOIR_PREVIOUS_KEY", "Key that they have")
    new = None if to_plain else _key("MNEMOIR_NEW_KEY", "Key that they get")
    if old == new:
        raise InvalidRequest("Both keys are the same, so there is nothing to do.")
    settings = load_settings(config, {"storage.data_dir": data_dir})
    done = asyncio.run(rekeyed(settings, user, old, new, ids or ()))
    if as_json:
        print_json({"moved": done.moved, "left": done.left})
    else:
        for id, why in done.left.items():
            print_row(id, why)
        note(f"Moved {count_with_noun(len(done.moved), 'discussion')}.")
    if done.left:
        raise typer.Exit(1)


def _key(variable: str, asked: str) -> str:
    """The key in an environment variable, else as it is typed; never an argument, which others could read."""
    key = os.environ.get(variable) or typer.prompt(asked, hide_input=True, err=True)
    return str(key).strip()


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
    named = f"{_DISCUSSIONS}/{named_in_path(id, 'id of a discussion')}"
    return f"{named}/{below}" if below else named


def _counts(one: Mapping[str, Any]) -> str:
    summary = ", rolling summary" if one["has_summary"] else ""
    return f"{one['chunk_summaries']} chunk summaries, {one['records']} records{summary}, {one['bytes']} bytes"


def _lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    yield told["id"]
    yield f"{told['updated_at']}  {_counts(told)}"
    if told["summary"]:
        yield "Rolling summary:"
        yield from _indented_lines(told["summary"]["text"])
    if told["latest"]:
        yield "Last chunk summaries:"
    for summary in told["latest"]:
        yield from _indented_lines(summary["text"])


def _indented_lines(text: str) -> Iterator[str]:
    """The lines of the text, indented; the first one has a dash."""
    for at, line in enumerate(text.splitlines()):
        yield f"{'    ' if at else '  - '}{line}"
