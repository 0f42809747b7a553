"""Opening of an object store by its address: a directory or a URL."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mnemoir.core.errors import SettingsError
from mnemoir.ports.objects import ConditionalStore
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.remote import remote_objects


def open_objects(place: str | Path, options: Mapping[str, Any] | None = None) -> ConditionalStore:
    """The store at `place`: a local directory or a `file://` URL, `memory://`, `s3://…`, `gs://…`, `az://…`.

    Each `memory://` is a separate store. `options` belong to the kind of store; a directory has none. Nothing is
    opened or created before its first use. Raises SettingsError.
    """
    if isinstance(place, Path) or "://" not in place:
        return LocalObjects(place)
    parts = urlsplit(place)
    if parts.scheme != "file":
        return remote_objects(place, options)
    if parts.netloc not in ("", "localhost"):
        raise SettingsError(
            f"Object store {place} names another machine; a file URL has three slashes: file:///path."
        )
    return LocalObjects(unquote(parts.path))
