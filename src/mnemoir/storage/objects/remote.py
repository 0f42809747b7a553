"""Object stores of obstore by URL: memory, S3, Google Cloud Storage, Azure.

obstore signs requests, reads listings page by page, and retries after 5xx and broken connections. Keys and secrets
come from the options, or from the usual locations of the cloud's own tools.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.ports.objects import ConditionalStore, ObjectEntry, ObjectNotFound, StoredObject
from mnemoir.storage.objects.local import steps_of

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode
    from obstore.store import ObjectStore as ObstoreStore

_RETRY_FOR = timedelta(seconds=30)
_MOST_RETRIES = 5


class RemoteObjects:
    """The objects of one obstore store; messages show `name`."""

    def __init__(self, store: "ObstoreStore", name: str) -> None:
        self._store = store
        self._name = name

    def save(self, key: str, content: bytes) -> None:
        """Store the bytes under the key."""
        with self._errors(key, "written"):
            self._store.put(_checked_key(key), content)

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        """Save when the object's entity tag is `version`, or with None when there is no object; False otherwise."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        mode: PutMode = "create" if version is None else {"e_tag": version}
        try:
            with self._errors(key, "written", AlreadyExistsError, PreconditionError):
                self._store.put(_checked_key(key), content, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def load(self, key: str) -> StoredObject | None:
        """The object with its entity tag as version; None when there is none."""
        try:
            with self._errors(key, "read", FileNotFoundError):
                answer = self._store.get(_checked_key(key))
                return StoredObject(content=bytes(answer.bytes()), version=answer.meta["e_tag"] or "")
        except FileNotFoundError:
            return None

    def load_once(self, key: str) -> bytes:
        """The whole content of an object. Raises ObjectNotFound."""
        if (found := self.load(key)) is None:
            raise ObjectNotFound(f"There is no object {key!r} in {self._name}.")
        return found.content

    def exists(self, key: str) -> bool:
        """True when the object exists; requests its metadata only."""
        return self._head(key) is not None

    def modified_at(self, key: str) -> datetime | None:
        """The store's time of the last write (S3: whole seconds); None when there is no object."""
        head = self._head(key)
        return None if head is None else head["last_modified"]

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        try:
            with self._errors(key, "deleted", FileNotFoundError):
                self._store.delete(_checked_key(key))
        except FileNotFoundError:
            return

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        """All objects below `prefix`, read page by page."""
        below = _checked_key(prefix.removesuffix("/")) if prefix else None
        with self._errors(prefix or "All objects", "listed"):
            for page in self._store.list(below):
                for meta in page:
                    yield ObjectEntry(key=meta["path"], size_bytes=meta["size"], last_modified=meta["last_modified"])

    def _head(self, key: str) -> "ObjectMeta | None":
        try:
            with self._errors(key, "read", FileNotFoundError):
                return self._store.head(_checked_key(key))
        except FileNotFoundError:
            return None

    @contextmanager
    def _errors(self, key: str, doing: str, *let_through: type[Exception]) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except let_through:
            raise
        except (BaseError, OSError) as exc:
            cause = str(exc).split("\n", 1)[0]  # further lines repeat the error with internals
            raise StorageUnavailable(
                f"{key} in {self._name} could not be {doing}: {cause}. Check the store and its settings."
            ) from exc


def remote_objects(url: str, options: Mapping[str, Any] | None = None) -> RemoteObjects:
    """The store that a URL such as `s3://bucket/folder` or `memory://` names.

    `options` are obstore's settings of that kind of store, such as `aws_access_key_id`, `aws_endpoint`. Raises
    SettingsError for an unknown URL or option, or when obstore is not installed.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as exc:
        raise SettingsError(
            f"Object store {_url_without_secrets(url)} needs obstore: pip install 'mnemoir[objects]'."
        ) from exc
    settings = dict(options or {})
    if not url.startswith("memory:"):
        settings.setdefault("retry_config", {"max_retries": _MOST_RETRIES, "retry_timeout": _RETRY_FOR})
    try:
        return RemoteObjects(from_url(url, **settings), _url_without_secrets(url))
    except (BaseError, ValueError, TypeError) as exc:
        raise SettingsError(
            f"Object store {_url_without_secrets(url)} cannot be used: {str(exc).splitlines()[0]}."
        ) from exc


def _url_without_secrets(url: str) -> str:
    """The URL without a user, a password or a query, any of which may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _checked_key(key: str) -> str:
    return "/".join(steps_of(key))


_: type[ConditionalStore] = RemoteObjects  # checked, never run
