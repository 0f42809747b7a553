"""Passkeys: key pairs of people's authenticators, each for one host name.

An authenticator signs a challenge, which counts once and within five minutes, for what it was made. It has to check
who uses it, by a finger or a PIN, as a passkey is all that a user signs in with.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog

from mnemoir.access.access_file import AccessFile
from mnemoir.core import first_use
from mnemoir.core.api_keys import label_text
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import InvalidRequest, NotFound, places_of
from mnemoir.core.users import Passkey, User, new_id, new_token, token_hash
from mnemoir.storage.sql.access.passkeys import Challenge, SqlPasskeys
from mnemoir.storage.sql.access.users import NewPasskey

if TYPE_CHECKING:
    import webauthn
    from webauthn import helpers
    from webauthn.helpers import structs
else:
    webauthn = first_use.module("webauthn")
    helpers = first_use.module("webauthn.helpers")
    structs = first_use.module("webauthn.helpers.structs")

_log = structlog.get_logger(__name__)
_ANSWERED_WITHIN = timedelta(minutes=5)
_MOST_CHALLENGES = 1000
_SIGN_IN = "sign in"
_LONGEST_CREDENTIAL = 1023  # bytes of an id, as the standard bounds it


@dataclass(frozen=True, slots=True)
class Site:
    """What passkeys are for: a host name, and the origin of its pages."""

    host: str
    origin: str


class Passkeys:
    """The passkeys of a data directory. Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(self, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock

    def ask_to_sign_in(self, site: Site) -> tuple[str, Mapping[str, Any]]:
        """The id of a new challenge, and the options for a browser to sign it by any passkey that it has."""
        asked, challenge = self._new_challenge(_SIGN_IN)
        options = webauthn.generate_authentication_options(
            rp_id=site.host, challenge=challenge, user_verification=structs.UserVerificationRequirement.REQUIRED
        )
        return asked, json.loads(webauthn.options_to_json(options))

    def signed_in(self, site: Site, challenge_id: str, credential: Mapping[str, Any]) -> str | None:
        """The id of the user whose passkey signed that challenge; None for anything else."""
        challenge = self._take_challenge(challenge_id, _SIGN_IN)
        known = self._passkey_of(credential)
        if challenge is None or known is None:
            return None
        try:
            verified = webauthn.verify_authentication_response(
                credential=dict(credential),
                expected_challenge=challenge,
                expected_rp_id=site.host,
                expected_origin=site.origin,
                credential_public_key=known.public_key,
                credential_current_sign_count=known.sign_count,
                require_user_verification=True,
            )
        except Exception as exc:  # noqa: BLE001  # the library raises many kinds for bytes that were made up
            _log.warning("passkey not accepted", passkey=known.id, error=type(exc).__name__, where=places_of(exc))
            return None
        return known.user if self._rows.note_use(known, verified.new_sign_count, self._clock()) else None

    def ask_for_new(
        self, site: Site, purpose: str, name: str, handle: str, user: User | None = None
    ) -> tuple[str, Mapping[str, Any]]:
        """The id of a new challenge for a purpose, and the options for a browser to make a passkey for that name.

        `handle` tells people apart in an authenticator. One that has a passkey of the `user` makes no second one.
        """
        asked, challenge = self._new_challenge(purpose)
        had = () if user is None else self._rows.of_user(user.id)
        options = webauthn.generate_registration_options(
            rp_id=site.host,
            rp_name="Mnemoir",
            user_name=name,
            user_id=handle.encode(),
            challenge=challenge,
            exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=one.credential) for one in had],
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
        )
        return asked, json.loads(webauthn.options_to_json(options))

    def verify_new_passkey(
        self, site: Site, purpose: str, challenge_id: str, credential: Mapping[str, Any], label: str
    ) -> NewPasskey:
        """The passkey that signed a challenge of that purpose. Raises InvalidRequest."""
        named = label_text(label) or "Passkey"
        challenge = self._take_challenge(challenge_id, purpose)
        if challenge is None:
            raise _passkey_refusal("it answers a question that was not asked, or has expired")
        try:
            made = webauthn.verify_registration_response(
                credential=dict(credential),
                expected_challenge=challenge,
                expected_rp_id=site.host,
                expected_origin=site.origin,
                require_user_verification=True,
            )
        except Exception as exc:  # the library raises many kinds for bytes that were made up
            raise _passkey_refusal("what the browser sent is not its own answer to this server") from exc
        if len(made.credential_id) > _LONGEST_CREDENTIAL:
            raise _passkey_refusal("its id is too long")
        return NewPasskey(
            id=new_id("p"),
            credential=made.credential_id,
            public_key=made.credential_public_key,
            sign_count=made.sign_count,
            label=named,
        )

    def add(self, user: User, new: NewPasskey) -> Passkey:
        """Store a passkey of a user. Raises Conflict for one that is known."""
        note = self._file.note("passkeys.create", user.grant.tenant, user.id)
        self._rows.add(user.id, new, self._clock(), note)
        return next(one for one in self._rows.of_user(user.id) if one.id == new.id)

    def of_user(self, user: User) -> Sequence[Passkey]:
        """The passkeys of a user, oldest first."""
        return self._rows.of_user(user.id)

    def remove(self, passkey_id: str, user: User) -> None:
        """Remove a passkey of a user. Raises NotFound."""
        note = self._file.note("passkeys.remove", user.grant.tenant, user.id)
        if not self._rows.remove(passkey_id[:64], user.id, note):
            raise NotFound(f"You have no passkey {passkey_id[:64]!r}.", code="passkey_not_found")

    def _new_challenge(self, purpose: str) -> tuple[str, bytes]:
        asked, challenge, now = new_token(), helpers.generate_challenge(), self._clock()
        new = Challenge(challenge=challenge, purpose=purpose, expires_at=now + _ANSWERED_WITHIN)
        self._rows.ask(new, token_hash(asked), now=now, most=_MOST_CHALLENGES)
        return asked, challenge

    def _take_challenge(self, challenge_id: str, purpose: str) -> bytes | None:
        found = self._rows.take_challenge(token_hash(challenge_id), self._clock()) if self._file.version else None
        return found.challenge if found is not None and found.purpose == purpose else None

    def _passkey_of(self, credential: Mapping[str, Any]) -> Passkey | None:
        try:
            sent = helpers.base64url_to_bytes(str(credential.get("rawId", "")))
        except ValueError:
            return None
        return self._rows.of_credential(sent) if self._file.version else None

    @property
    def _rows(self) -> SqlPasskeys:
        return SqlPasskeys(self._file.open_or_create())


def _passkey_refusal(why: str) -> InvalidRequest:
    return InvalidRequest(f"The passkey was not taken: {why}. Try again.", code="passkey_refused", field="credential")
