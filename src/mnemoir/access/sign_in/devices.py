"""Devices that signed in before: each keeps a signed cookie for its person, which tells nothing but that.

Such a device is let through where too many tries for a name have failed, from wherever they came: else anybody could
lock that person out. The cookie is no credential, opens nothing by itself, and counts for 90 days.
"""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta

from mnemoir.access.access_file import AccessFile
from mnemoir.core.clock import Clock, utc_now

KNOWN_FOR = timedelta(days=90)
_NONCE, _TIME, _SIGNATURE = 8, 5, 19  # bytes: 43 characters of base64 in all, as a session's token has
_LENGTH = 43


class Devices:
    """The devices of a data directory. Blocking; every method may raise StorageUnavailable."""

    def __init__(self, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock

    def name_of(self, user_id: str) -> str:
        """What tells the cookies of several people of one device apart; "" of nobody has a name, too."""
        return hmac.digest(self._secret, b"name " + user_id.encode(), "sha256")[:4].hex()

    def new_token(self, user_id: str) -> str:
        """The token for a device on which a person signs in now."""
        head = secrets.token_bytes(_NONCE) + int(self._clock().timestamp()).to_bytes(_TIME)
        return _text_of(head + self._signature(user_id, head))

    def has_signed_in(self, user_id: str, token: str) -> bool:
        """Whether the token is one of the last 90 days for that person; False for nobody, after the same time."""
        try:
            content = urlsafe_b64decode(f"{token}=") if len(token) == _LENGTH else b""
        except ValueError:
            content = b""
        head, signature = content[: _NONCE + _TIME], content[_NONCE + _TIME :]
        is_signed = hmac.compare_digest(signature, self._signature(user_id, head)) and _text_of(content) == token
        made_at, now = int.from_bytes(head[_NONCE:]), int(self._clock().timestamp())
        return is_signed and bool(user_id) and 0 <= now - made_at < KNOWN_FOR.total_seconds()

    def _signature(self, user_id: str, head: bytes) -> bytes:
        return hmac.digest(self._secret, b"device " + head + user_id.encode(), "sha256")[:_SIGNATURE]

    @property
    def _secret(self) -> bytes:
        return self._file.secret_for("devices")


def _text_of(content: bytes) -> str:
    """The one text of a token; base64 reads some others as the same bytes, whose tries would count apart."""
    return urlsafe_b64encode(content).decode().rstrip("=")
