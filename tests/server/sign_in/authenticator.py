"""A software authenticator: it makes and uses passkeys as browsers send them, with ES256 and no attestation."""

import json
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from webauthn.helpers import bytes_to_base64url, encode_cbor

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """One device. `origin` is that of the page which asks; `flags` tell whether a person was there and who it was."""

    origin: str
    flags: int = PRESENT | VERIFIED
    count: int = 0
    keys: dict[bytes, EllipticCurvePrivateKey] = field(default_factory=dict)

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to `navigator.credentials.create()`."""
        credential, key = secrets.token_bytes(32), generate_private_key(SECP256R1())
        self.keys[credential] = key
        public = key.public_key().public_numbers()
        cose = encode_cbor({1: 2, 3: -7, -1: 1, -2: public.x.to_bytes(32, "big"), -3: public.y.to_bytes(32, "big")})
        attested = bytes(16) + len(credential).to_bytes(2, "big") + credential + cose
        data = self._data(options["rp"]["id"], WITH_KEY) + attested
        told = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options["challenge"])
        return self._answer(credential, clientDataJSON=client, attestationObject=told)

    def use(self, options: dict[str, Any], credential: bytes | None = None) -> dict[str, Any]:
        """The answer to `navigator.credentials.get()`."""
        chosen = credential or next(iter(self.keys))
        self.count += 1
        data = self._data(options["rpId"], 0)
        client = self._client("webauthn.get", options["challenge"])
        signature = self.keys[chosen].sign(data + sha256(client).digest(), ECDSA(hashes.SHA256()))
        return self._answer(chosen, clientDataJSON=client, authenticatorData=data, signature=signature)

    def _data(self, host: str, more: int) -> bytes:
        return sha256(host.encode()).digest() + bytes([self.flags | more]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps(
            {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        ).encode()

    @staticmethod
    def _answer(credential: bytes, **response: bytes) -> dict[str, Any]:
        encoded = bytes_to_base64url(credential)
        return {
            "id": encoded,
            "rawId": encoded,
            "type": "public-key",
            "response": {name: bytes_to_base64url(value) for name, value in response.items()},
            "clientExtensionResults": {},
        }
