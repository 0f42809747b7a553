"""Checks the address, name and key of a model that somebody wants to try or to save."""

import asyncio
from urllib.parse import urlsplit

from pydantic import SecretStr

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.network import is_off_limits
from mnemoir.settings.saved_model import LONGEST_MODEL, SavedModel, checked_url, origin_of


async def checked_address(provider: str, raw: str) -> str:
    """The normalised address. Raises InvalidRequest for one that is malformed or link-local."""
    try:
        url = checked_url(provider, raw)
    except ValueError as exc:
        raise InvalidRequest(f"The address {exc}.", code="address_refused", field="url") from None
    await _check_name(url)
    return url


def checked_name(raw: str) -> str:
    """The name of a model. Raises InvalidRequest for none, or for one that is too long."""
    if not raw.strip() or len(raw) > LONGEST_MODEL:
        raise InvalidRequest("Name the model, in at most 256 characters.", code="missing_model", field="model")
    return raw.strip()


def key_for(url: str, given: str | None, before: SavedModel | None) -> SecretStr | None:
    """The key to save for `url`: the one given, None where it is "", else the key saved for the same address.

    Raises InvalidRequest for a key that no HTTP header can carry.
    """
    if given is not None:
        return _checked_key(given)
    return before.key if before is not None and origin_of(before.url) == origin_of(url) else None


def set_elsewhere(key: str, set_by: str) -> InvalidRequest:
    """The refusal of a value that contradicts file, environment or command line."""
    return InvalidRequest(
        f"{key} is set by {set_by}, which comes first. Change it there.", code="set_elsewhere", field=key
    )


async def _check_name(url: str) -> None:
    """Raise InvalidRequest for a name that leads to a link-local address; one without an address passes."""
    parts = urlsplit(url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, parts.port or 80)
    except OSError:
        return
    if any(is_off_limits(str(address[0])) for *_, address in found):
        raise InvalidRequest(
            f"The address {parts.hostname} leads to a link-local address, where clouds keep the keys of their "
            "machines. Name another.",
            code="address_refused",
            field="url",
        )


def _checked_key(text: str) -> SecretStr | None:
    key = text.strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key or len(key) > 4096:
        raise InvalidRequest(
            "The key must be printable ASCII without spaces, for it travels in an HTTP header.",
            code="invalid_key",
            field="api_key",
        )
    return SecretStr(key)
