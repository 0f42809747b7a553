"""The files of a discussion as they are stored, for a copy that nobody here can decrypt."""

from contextlib import closing

import apsw

from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.places import all_places, file_at
from mnemoir.storage.discussions.record_files import identity_of, open_connection, records_file
from mnemoir.storage.sqlite.transactions import storage_errors


def files_with_content(discussion: Discussion) -> dict[str, bytes]:
    """Name and bytes of each file, without those left by writers. Raises StorageUnavailable. Blocks."""
    found: dict[str, bytes] = {}
    for place in all_places(discussion.file_name, discussion.client):
        if place.file.endswith(".db"):
            continue  # only SQLite opens it while SQLite may have it open
        read = file_at(discussion.root, place).raw()
        if read is not None:
            found[place.file] = read[0]
    path = records_file(discussion)
    with storage_errors(path, OSError):
        if identity_of(path) is not None:
            with closing(open_connection(path, apsw.SQLITE_OPEN_READONLY)) as connection:
                found[path.name] = connection.serialize("main")
    return found
