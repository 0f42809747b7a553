"""The language model that the web UI or `mnemoir model` saved: below file, environment and command line.

Two files below `settings` in the data directory, both mode 0600: `model.json` with protocol, address and name, and a
file with the key alone, which `model.json` names. Each save writes the key under a new name first, so replacing
`model.json` is the one step that puts both in force; the former key's file is removed behind it.

A key belongs to scheme, host and port: with another address, the key is not sent.
"""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import orjson
import structlog
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.core.network import is_off_limits
from mnemoir.settings.addresses import http_url, ollama_address
from mnemoir.settings.tree import Key, Llm, Settings

FOLDER = "settings"
SavedProvider = Literal["openai-responses", "openai-chat", "ollama"]
_FILE = "model.json"
_KEY_FILES = "key-*"  # with what a killed writer leaves
_MOST_BYTES = 64 * 1024
_PORTS = {"http": 80, "https": 443}
LONGEST_MODEL = 256
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """A language model: protocol, address and name. `key` is for `url` alone."""

    provider: SavedProvider
    url: str
    model: str
    key: SecretStr | None = field(default=None, repr=False)


class _InFile(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)
    provider: SavedProvider
    url: str
    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)]
    key_file: Annotated[str, Field(pattern=r"^key-[0-9a-f]{16}[.]json$")] | None = None


class _KeyInFile(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)
    origin: str
    key: Key


def checked_url(provider: SavedProvider, raw: str) -> str:
    """The normalised address of a model's server. Raises ValueError with the reason for a refusal."""
    url = ollama_address(raw) if provider == "ollama" else http_url(raw)
    if is_off_limits(urlsplit(url).hostname or ""):
        raise ValueError("must not be a link-local address, where clouds keep the keys of their machines")
    return url


def origin_of(url: str) -> str:
    """Scheme, host and port of a valid address; a key belongs to these."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def effective(settings: Settings, saved: SavedModel | None) -> Llm:
    """The language model's settings with what was saved, where neither file, environment nor command line says more.

    A protocol given there, other than `auto`, makes a saved model of another protocol have no effect. A key given
    there goes to the address given there only.
    """
    llm, given = settings.llm, settings.source.given
    if saved is None or not is_in_force(settings, saved):
        return llm
    changes: dict[str, object] = {"provider": saved.provider}
    if "llm.model" not in given:
        changes["model"] = saved.model
    if saved.provider == "ollama":
        return llm.model_copy(update=changes | ({} if "llm.ollama_url" in given else {"ollama_url": saved.url}))
    url = llm.base_url if "llm.base_url" in given else saved.url
    changes["base_url"] = url
    if llm.api_key is None or origin_of(url) != origin_of(llm.base_url):
        changes["api_key"] = saved.key if origin_of(url) == origin_of(saved.url) else None
    return llm.model_copy(update=changes)


def is_in_force(settings: Settings, saved: SavedModel) -> bool:
    """False when file, environment or command line name another protocol."""
    return fixed_provider(settings) in (None, saved.provider)


def fixed_provider(settings: Settings) -> str | None:
    """The protocol that file, environment or command line name; None for none and for `auto`."""
    provider = settings.llm.provider
    return provider if "llm.provider" in settings.source.given and provider != "auto" else None


def read_saved(data_dir: Path) -> SavedModel | None:
    """What was saved last; None when nothing was. Raises SettingsError for a file that is damaged or unreadable."""
    path = data_dir / FOLDER / _FILE
    raw = _read(path)
    if raw is None:
        return None
    try:
        found = _InFile.model_validate(orjson.loads(raw))
        url = checked_url(found.provider, found.url)
    except (ValueError, ValidationError):
        raise _damaged(path) from None
    key = None if found.key_file is None else _read_key(data_dir / FOLDER / found.key_file, url)
    return SavedModel(provider=found.provider, url=url, model=found.model, key=key)


def save(data_dir: Path, saved: SavedModel) -> None:
    """Replace what was saved, durably. Raises StorageUnavailable; what was saved before stays then."""
    from mnemoir.storage.sqlite.data_file import prepare_folder  # local: who only reads settings needs no database

    folder = data_dir / FOLDER
    try:
        prepare_folder(folder)
        key_file = None
        if saved.key is not None:
            key_file = f"key-{secrets.token_hex(8)}.json"
            _write(folder / key_file, {"origin": origin_of(saved.url), "key": saved.key.get_secret_value()})
        told = {"provider": saved.provider, "url": saved.url, "model": saved.model, "key_file": key_file}
        _write(folder / _FILE, told)
    except OSError as exc:
        drop_former_keys(data_dir)
        raise _not_saved(folder, exc) from exc
    drop_former_keys(data_dir)


def forget(data_dir: Path) -> None:
    """Remove what was saved, with its key. Raises StorageUnavailable."""
    folder = data_dir / FOLDER
    try:
        if folder.is_dir():
            (folder / _FILE).unlink(missing_ok=True)
            sync_folder(folder)
    except OSError as exc:
        raise _not_saved(folder, exc) from exc
    drop_former_keys(data_dir)


def drop_former_keys(data_dir: Path) -> None:
    """Remove the files of keys that are not in use any more; one that cannot be removed is tried again next time.

    Beside a damaged `model.json` all stay, for a copy of it may be put back.
    """
    folder = data_dir / FOLDER
    try:
        raw = _read(folder / _FILE)
        in_use = None if raw is None else _InFile.model_validate(orjson.loads(raw)).key_file
        former = [path for path in folder.glob(_KEY_FILES) if path.name != in_use]
        for path in former:
            path.unlink(missing_ok=True)
        if former:
            sync_folder(folder)
    except (OSError, ValueError, SettingsError) as exc:
        _log.warning("former keys of models could not be looked through", folder=str(folder), kind=type(exc).__name__)


def _write(path: Path, value: object) -> None:
    with replacing(path, is_locked=True) as file:
        file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise SettingsError(f"{path}: cannot be read: {exc.strerror}. Make it readable for the server.") from exc


def _read_key(path: Path, url: str) -> SecretStr | None:
    """The key in the file, if it is for this address. A missing file means no key, as in a copy without secrets."""
    raw = _read(path)
    if raw is None:
        return None
    try:
        found = _KeyInFile.model_validate(orjson.loads(raw))
    except (ValueError, ValidationError):
        raise _damaged(path) from None
    return found.key if found.origin == origin_of(url) else None


def _damaged(path: Path) -> SettingsError:
    return SettingsError(
        f"{path}: is damaged, so the language model saved in it is unknown. Put a copy in its place, or remove it "
        "and connect the model again: on the page Connect, or with `mnemoir model set`."
    )


def _not_saved(folder: Path, exc: OSError) -> StorageUnavailable:
    return StorageUnavailable(f"{folder}: the language model could not be saved there: {exc.strerror or exc}.")
