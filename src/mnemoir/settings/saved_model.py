"""The models that the web UI or `mnemoir model` saved, in files: below file, environment and command line.

Two files for each below `settings` in the data directory, both mode 0600: `model.json` (`embedding.json` for the
embedding model) with protocol, address and name, and a file with the key alone, which the first one names. Each save
writes the key under a new name first, so replacing `model.json` is the one step that puts both in force; the former
key's file is removed behind it.

A key belongs to scheme, host and port: with another address, the key is not sent.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

import orjson
import structlog
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.data_directory import SAVED_MODELS
from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.core.network import is_off_limits
from mnemoir.settings.addresses import http_url, ollama_address
from mnemoir.settings.values import Key

SavedProvider = Literal["openai-responses", "openai-chat", "ollama"]
SavedEmbedder = Literal["openai", "ollama"]
_MOST_BYTES = 64 * 1024
_PORTS = {"http": 80, "https": 443}
LONGEST_MODEL = 256
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """A model: protocol, address and name. `key` is for `url` alone."""

    provider: str
    url: str
    model: str
    key: SecretStr | None = field(default=None, repr=False)


class _InFile(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)
    provider: str
    url: str
    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)]
    key_file: Annotated[str, Field(pattern=r"^(embedding-)?key-[0-9a-f]{16}[.]json$")] | None = None


class _KeyInFile(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)
    origin: str
    key: Key


def checked_url(provider: str, raw: str) -> str:
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


def told_of(saved: SavedModel) -> dict[str, str]:
    """What is stored of a model beside its key."""
    return {"provider": saved.provider, "url": saved.url, "model": saved.model}


class ModelFile:
    """The place of one saved model: `name` begins its files, `what` names the model in messages."""

    def __init__(self, name: str, key_prefix: str, what: str, providers: Sequence[str], *, to_do: str) -> None:
        self._name = f"{name}.json"
        self._key_prefix = key_prefix
        self._what = what
        self._providers = providers
        self._to_do = to_do

    def read(self, data_dir: Path) -> SavedModel | None:
        """What was saved last; None when nothing was. Raises SettingsError for a damaged or unreadable file."""
        path = data_dir / SAVED_MODELS / self._name
        raw = _read(path)
        if raw is None:
            return None
        found, key_file = self.model_in(raw, str(path))
        if key_file is None:
            return found
        return replace(found, key=self._read_key(data_dir / SAVED_MODELS / key_file, found.url))

    def model_in(self, raw: bytes | str, place: str) -> tuple[SavedModel, str | None]:
        """The model in the JSON of `place` without its key, and the file of that. Raises SettingsError."""
        try:
            found = _InFile.model_validate(orjson.loads(raw))
            if found.provider not in self._providers:
                raise ValueError(found.provider)
            url = checked_url(found.provider, found.url)
        except (ValueError, ValidationError):
            raise self._damage_error(place) from None
        return SavedModel(provider=found.provider, url=url, model=found.model), found.key_file

    def save(self, data_dir: Path, saved: SavedModel) -> None:
        """Replace what was saved, durably. Raises StorageUnavailable; what was saved before stays then."""
        from mnemoir.storage.disk_files import prepare_folder  # local: reading settings needs no database

        folder = data_dir / SAVED_MODELS
        try:
            prepare_folder(folder)
            key_file = None
            if saved.key is not None:
                key_file = f"{self._key_prefix}{secrets.token_hex(8)}.json"
                _write(folder / key_file, {"origin": origin_of(saved.url), "key": saved.key.get_secret_value()})
            _write(folder / self._name, {**told_of(saved), "key_file": key_file})
        except OSError as exc:
            self.drop_former_keys(data_dir)
            raise self._save_error(folder, exc) from exc
        self.drop_former_keys(data_dir)

    def forget(self, data_dir: Path) -> None:
        """Remove what was saved, with its key. Raises StorageUnavailable."""
        folder = data_dir / SAVED_MODELS
        try:
            if folder.is_dir():
                (folder / self._name).unlink(missing_ok=True)
                sync_folder(folder)
        except OSError as exc:
            raise self._save_error(folder, exc) from exc
        self.drop_former_keys(data_dir)

    def drop_former_keys(self, data_dir: Path) -> None:
        """Remove the files of keys that are not in use any more; one that cannot be removed is tried again next time.

        Beside a damaged file of the model all stay, for a copy of it may be put back.
        """
        folder = data_dir / SAVED_MODELS
        try:
            raw = _read(folder / self._name)
            in_use = None if raw is None else _InFile.model_validate(orjson.loads(raw)).key_file
            files = folder.glob(f"{self._key_prefix}*")  # with what a killed writer leaves
            former = [path for path in files if path.name != in_use]
            for path in former:
                path.unlink(missing_ok=True)
            if former:
                sync_folder(folder)
        except (OSError, ValueError, SettingsError) as exc:
            _log.warning(
                "former keys of models could not be looked through", folder=str(folder), kind=type(exc).__name__
            )

    def _read_key(self, path: Path, url: str) -> SecretStr | None:
        """The key in the file, if it is for this address. Without the file no key, as in a copy without secrets."""
        raw = _read(path)
        if raw is None:
            return None
        try:
            found = _KeyInFile.model_validate(orjson.loads(raw))
        except (ValueError, ValidationError):
            raise self._damage_error(str(path)) from None
        return found.key if found.origin == origin_of(url) else None

    def _damage_error(self, place: str) -> SettingsError:
        return SettingsError(
            f"{place}: is damaged, so the {self._what} saved in it is unknown. Restore a copy of it, or remove it "
            f"and connect the model again: on the page Connect, or with `{self._to_do}`."
        )

    def _save_error(self, folder: Path, exc: OSError) -> StorageUnavailable:
        return StorageUnavailable(f"{folder}: the {self._what} could not be saved there: {exc.strerror or exc}.")


LANGUAGE_MODEL = ModelFile("model", "key-", "language model", get_args(SavedProvider), to_do="mnemoir model set")
EMBEDDING_MODEL = ModelFile(
    "embedding", "embedding-key-", "embedding model", get_args(SavedEmbedder), to_do="mnemoir model embedding set"
)


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
