"""An identity provider for tests, over real HTTP on this machine: keys, tokens, and sign-in by code with PKCE.

A test rotates its keys, lets it go away or lie, and counts what it was asked.
"""

import json
import time
from base64 import b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "mnemoir"
SECRET = "a-client-secret"
# made once: an RSA key takes a tenth of a second
RSA_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
WEAK_KEY = rsa.generate_private_key(public_exponent=65537, key_size=1024)
_OPERATIONS: dict[str, type[RSAAlgorithm | ECAlgorithm | OKPAlgorithm]] = {
    "RS256": RSAAlgorithm,
    "PS256": RSAAlgorithm,
    "ES256": ECAlgorithm,
    "EdDSA": OKPAlgorithm,
}


class ScriptedIssuer:
    """The issuer of a test; `url` is its name once it is entered, or any for one that only makes tokens."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.asked: Counter[str] = Counter()
        self.keys: dict[str, tuple[str, Any]] = {"first": ("RS256", RSA_KEYS[0])}
        self.kid = "first"
        self.is_away = False
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.documents: dict[str, Any] = {}  # by path, in place of the true ones
        self.claims: dict[str, Any] = {"sub": "248289761001", "preferred_username": "mira"}
        self.lies: dict[str, Any] = {}  # claims of the next id tokens
        self.way = "client_secret_basic"  # how a client shows its secret, "none" for one without
        self.fails: Mapping[str, str] | None = None  # the error with which a code is refused
        self._codes: dict[str, dict[str, str]] = {}

    async def __aenter__(self) -> "ScriptedIssuer":
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._runner.cleanup()

    def rotate(self, kid: str, algorithm: str = "RS256", key: Any = None, *, keeps: bool = False) -> None:
        """Sign with a new key from now on, and publish it."""
        made = {"ES256": lambda: ec.generate_private_key(ec.SECP256R1()), "EdDSA": ed25519.Ed25519PrivateKey.generate}
        key = key or made.get(algorithm, lambda: RSA_KEYS[1])()
        self.keys = (self.keys if keeps else {}) | {kid: (algorithm, key)}
        self.kid = kid

    def token(self, *, now: float | None = None, headers: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """A token, valid for an hour; a claim of None is left out."""
        at = int(time.time() if now is None else now)
        said = {"iss": self.url, "aud": AUDIENCE, "iat": at, "exp": at + 3600} | self.claims | claims
        algorithm, key = self.keys[self.kid]
        kept = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(kept, key, algorithm, headers={"kid": self.kid} | dict(headers or {}))

    @property
    def key_set(self) -> dict[str, Any]:
        """The public keys."""
        return {
            "keys": [
                _OPERATIONS[algorithm].to_jwk(key.public_key(), as_dict=True)
                | {"kid": kid, "use": "sig", "alg": algorithm}
                for kid, (algorithm, key) in self.keys.items()
            ]
        }

    def sign_in(self, asked: Mapping[str, str]) -> str:
        """The address to which a person is sent back, who agreed to what an authorization request asked."""
        code = f"code-{len(self._codes)}"
        self._codes[code] = dict(asked)
        back = {"code": code, "state": asked["state"], "iss": self.url}
        return asked["redirect_uri"] + "?" + urlencode(back)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        if self.is_away:
            return web.Response(status=503, text="away")
        if request.path in self.documents:
            told = self.documents[request.path]
            return told if isinstance(told, web.StreamResponse) else self._json(told)
        if request.path == "/token":
            return await self._token(request)
        if request.path == "/authorize":  # everybody is signed in here, and agrees
            raise web.HTTPFound(self.sign_in(request.query))
        documents = {"/.well-known/openid-configuration": self.description, "/keys": self.key_set}
        return self._json(documents[request.path]) if request.path in documents else web.Response(status=404)

    @property
    def description(self) -> dict[str, Any]:
        """What it says of itself."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?theme=dark",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": [self.way],
        }

    async def _token(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        if self.fails is not None:
            return self._json(dict(self.fails), 400)
        asked = self._codes.pop(str(form.get("code")), None)
        verifier = str(form.get("code_verifier", "")).encode()
        challenge = urlsafe_b64encode(sha256(verifier).digest()).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return self._json({"error": "invalid_grant", "error_description": "no such code"}, 400)
        pair = request.headers.get("authorization", "").removeprefix("Basic ")
        basic = b64decode(pair).decode() if pair else None
        expected = {
            "none": (None, None),
            "client_secret_basic": (f"{asked['client_id']}:{SECRET}", None),
            "client_secret_post": (None, SECRET),
        }
        if (basic, form.get("client_secret")) != expected[self.way]:
            return self._json({"error": "invalid_client"}, 401)
        id_token = self.token(**{"aud": asked["client_id"], "nonce": asked["nonce"]} | self.lies)
        return self._json({"access_token": "opaque", "token_type": "Bearer", "id_token": id_token})

    def _json(self, body: object, status: int = 200) -> web.Response:
        headers = {"Date": format_datetime(self.clock(), usegmt=True)}
        return web.Response(text=json.dumps(body), status=status, content_type="application/json", headers=headers)
