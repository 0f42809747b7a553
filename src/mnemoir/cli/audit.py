"""`mnemoir audit …`: read the audit log of a data directory, and check that nothing in it was changed."""

from typing import Annotated

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import Config, DataDir, Json, note, print_json, print_row

commands = group("Read and check the log of what was done with keys, settings and all of somebody's data.")


@commands.command("list")
def list_entries(
    limit: Annotated[int, typer.Option(help="Maximum number of entries.", min=1, max=1000)] = 50,
    action: Annotated[str | None, typer.Option(help="Only this action, such as keys.create.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only of this tenant.")] = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print the last entries, newest first."""
    from mnemoir.access.sign_in.users import Users
    from mnemoir.cli.access_file import opened_access_file
    from mnemoir.core.users import PERSON_KEY
    from mnemoir.server.keys.audit import entry_json

    with opened_access_file(config, data_dir) as file:
        found = file.audit_log()[0].newest(tenant, limit=limit, action=action) if file.existing() else []
        people = Users(file).names(set().union(*(entry.people for entry in found)))
    if as_json:
        print_json({"results": [entry_json(entry) for entry in found], "people": people})
        return
    for entry in found:
        times = f" ({entry.count} times)" if entry.count > 1 else ""
        person = people.get(entry.actor.removeprefix(PERSON_KEY))
        by = entry.actor if person is None else f"{PERSON_KEY}{person}"
        print_row(entry.number, entry.at, by, entry.action, entry.result + times, entry.target)
    if not found:
        note("There are no entries: the log begins with the first key.")


@commands.command()
def verify(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Check that no entry was changed or removed, and name acts without a result; exit 1 if there is anything."""
    from mnemoir.access.audit import Audit
    from mnemoir.cli.access_file import opened_access_file
    from mnemoir.settings import load_settings

    with opened_access_file(config, data_dir) as file:
        settings = load_settings(config, {"storage.data_dir": data_dir})
        problems = Audit(settings, file).problems() if file.existing() else []
        head = file.audit_log()[0].head() if file.existing() else (0, b"")
    if as_json:
        print_json({"problems": problems, "entries_to": head[0], "chain": head[1].hex()})
    else:
        for problem in problems:
            print_row(problem)
        note(f"Entries to number {head[0]}, which ends the chain with {head[1].hex()[:16] or 'nothing'}.")
    if problems:
        raise typer.Exit(1)
