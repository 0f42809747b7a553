"""`make test-clients`: released clients, as they are, against real servers.

    python -m tests.clients                    every client, lowest and newest version
    python -m tests.clients openai litellm     some of them
    python -m tests.clients --version newest   one version of each
    python -m tests.clients --direct NAME      without Mnemoir: what fails here is no fault of Mnemoir's
    python -m tests.clients --lock [NAME]      renew the locks, within what each client's requirements say

Each client has an environment of its own, made once from its lock and kept in `.clients`.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.clients.calling import Outcome, call
from tests.clients.environments import Client, Release, clients, make, renew
from tests.clients.servers import running

_INSTALLS_AT_ONCE = 3  # they wait for the registry more than they compute


def main() -> int:
    """Run what the arguments name; 0 when every call of every client passed."""
    asked = _arguments()
    chosen = [client for client in clients() if not asked.names or client.name in asked.names]
    if asked.lock:
        return _renew(chosen)
    begun = time.monotonic()
    releases = [
        release for client in chosen for release in client.releases if asked.version in (None, release.version)
    ]
    with ThreadPoolExecutor(_INSTALLS_AT_ONCE) as installing:
        folders = list(installing.map(make, releases))
    outcomes = _called(releases, folders, directly=asked.direct)
    passed, failed = sum(one.passed for one in outcomes), sum(one.failed for one in outcomes)
    told = f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
    print(f"{told} in {time.monotonic() - begun:.2f}s")
    return 1 if failed or not passed else 0


def _called(releases: Sequence[Release], folders: Sequence[Path], *, directly: bool) -> list[Outcome]:
    outcomes = []
    with (
        tempfile.TemporaryDirectory(prefix="mnemoir-clients-") as place,
        running(Path(place), directly=directly) as addresses,
    ):
        for release, folder in zip(releases, folders, strict=True):
            outcome = call(release, folder, addresses)
            print(outcome, flush=True)
            outcomes.append(outcome)
    return outcomes


def _renew(chosen: Sequence[Client]) -> int:
    for client in chosen:
        renew(client)
        print(f"{client.name}: {' and '.join(release.label for release in client.releases)}", flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    names = [client.name for client in clients()]
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description="Run released clients.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"clients, of {', '.join(names)}")
    parser.add_argument("--version", choices=["lowest", "newest"], help="one version of each client")
    parser.add_argument("--direct", action="store_true", help="call the scripted model itself, to compare")
    parser.add_argument("--lock", action="store_true", help="renew the locks and run nothing")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(names):
        parser.error(f"there is no client {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return asked


sys.exit(main())
