"""The logins of the command line: for each server one token, in a file that only this user may read."""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from mnemoir.core.atomic_file import replacing
from mnemoir.core.errors import StorageUnavailable
from mnemoir.settings.addresses import user_config_dir

_FILE = "logins.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A name at a server, and the token that stands for it."""

    name: str
    token: str = field(repr=False)


def login_at(url: str) -> Login | None:
    """The login at that server; None for none. Raises StorageUnavailable."""
    return _stored_logins().get(_place(url))


def keep(url: str, login: Login) -> None:
    """Keep a login in place of the one before. Raises StorageUnavailable."""
    _store(_stored_logins() | {_place(url): login})


def drop(url: str) -> None:
    """Forget the login at that server. Raises StorageUnavailable."""
    _store({place: login for place, login in _stored_logins().items() if place != _place(url)})


def _place(url: str) -> str:
    return url.rstrip("/").lower()


def _path() -> Path:
    return user_config_dir(os.environ) / _FILE


def _stored_logins() -> dict[str, Login]:
    path = _path()
    try:
        found = orjson.loads(path.read_bytes())
        return {str(url): Login(name=str(one["name"]), token=str(one["token"])) for url, one in found.items()}
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise StorageUnavailable(f"{path} cannot be read: {exc.strerror}.") from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise StorageUnavailable(f"{path} is damaged. Remove it, and log in again.") from exc


def _store(logins: dict[str, Login]) -> None:
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(orjson.dumps({url: asdict(login) for url, login in logins.items()}))
    except OSError as exc:
        raise StorageUnavailable(f"{path} cannot be written: {exc.strerror}.") from exc
