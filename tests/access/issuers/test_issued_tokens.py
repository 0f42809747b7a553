"""Tokens of an identity provider: which count, and which never do."""

import asyncio
import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mnemoir.core.errors import Forbidden, IssuerUnavailable, Unauthorized
from mnemoir.core.scope import Principal, Role
from tests.access.issuers.issuer_kit import taking
from tests.scripted_issuer import RSA_KEYS, WEAK_KEY

DAY_S = 24 * 3600


def part(body: object) -> str:
    return urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")


WRITE: tuple[Role, ...] = ("write",)


async def refusal(view, token):
    with pytest.raises(Unauthorized) as caught:
        await view.take(token)
    return caught.value


async def test_a_token_tells_whose_it_is_and_the_audit_log_tells_for_whom_its_short_name_stands(view):
    bearer = await view.take()
    assert bearer == Principal(key=bearer.key, roles=WRITE, user="248289761001")
    assert bearer.key.startswith("token:")
    assert (await view.take(view.token(jti="another"))).key == bearer.key
    [entry] = await view.audit.newest(None, limit=10, before=None, action="tokens.use")
    assert (entry.actor, entry.target) == (bearer.key, f"{view.issuer.url} 248289761001")


async def test_claims_name_tenant_user_roles_and_projects(tmp_path, issuer):
    claims = {"tenant": "https://idp.example/org", "user": "email", "role": "realm.roles", "projects": "teams"}
    role_map = {"staff": "write", "ops": "operator", "boss": "admin"}
    said: dict[str, Any] = {
        "https://idp.example/org": "acme",
        "email": "mira@acme.example",
        "teams": ["kitchen", "hall"],
    }
    async with taking(tmp_path, issuer, claims=claims, role_map=role_map) as view:
        bearer = await view.take(view.token(realm={"roles": ["staff", "ops", "tea"]}, **said))
        with pytest.raises(Forbidden, match=r"realm\.roles"):
            await view.take(view.token(realm={"roles": ["tea"]}, **said))
        for missing in ("https://idp.example/org", "email", "teams"):
            exc = await refusal(view, view.token(realm={"roles": ["staff"]}, **said | {missing: None}))
            assert (exc.code, repr(missing) in exc.message) == ("token_without_tenant", True)
        assert (await refusal(view, view.token(**said))).code == "token_without_tenant"
        unfit = await refusal(view, view.token(realm={"roles": ["boss"]}, **said | {"teams": ["../hall"]}))
    assert bearer == Principal(
        tenant="acme",
        key=bearer.key,
        roles=("write", "operator"),
        user="mira@acme.example",
        projects=("hall", "kitchen"),
    )
    assert "../hall" in unfit.message


async def test_whoever_has_no_other_role_has_the_one_for_everybody(tmp_path, issuer):
    async with taking(tmp_path, issuer, claims={"role": "groups"}, role_map={"*": "read", "boss": "admin"}) as view:
        for groups, role in ((["boss"], "admin"), (["tea"], "read"), ([], "read"), (None, "read"), (["*"], "read")):
            assert (await view.take(view.token(groups=groups))).roles == (role,)


async def test_a_token_can_stand_for_all_users_of_a_tenant(tmp_path, issuer):
    async with taking(tmp_path, issuer, claims={"user": None, "role": "role"}) as view:
        assert (await view.take(view.token(role="admin"))).user is None


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_every_usual_algorithm_counts(view, algorithm):
    view.issuer.rotate("own", algorithm)
    assert await view.take()


def unsigned(view):
    return f"{part({'alg': 'none', 'kid': 'first'})}.{view.token().split('.')[1]}."


def signed_by_the_public_key(view):
    public = RSA_KEYS[0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = f"{part({'alg': 'HS256', 'kid': 'first'})}.{view.token().split('.')[1]}"
    signature = hmac.digest(public, head.encode(), "sha256")  # the library refuses to
    return f"{head}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


def with_a_key_of_its_own(view):
    other = {"kty": "RSA"} | jwt.algorithms.RSAAlgorithm.to_jwk(RSA_KEYS[1].public_key(), as_dict=True)
    view.issuer.keys["first"] = ("RS256", RSA_KEYS[1])
    token = view.token(headers={"jwk": other, "jku": f"{view.issuer.url}/keys2", "x5u": f"{view.issuer.url}/x5u"})
    view.issuer.keys["first"] = ("RS256", RSA_KEYS[0])
    return token


def changed(view):
    head, _, signature = view.token().split(".")
    return f"{head}.{view.token(sub='somebody else').split('.')[1]}.{signature}"


WRONG = {
    "no signature": unsigned,
    "signed by the public key": signed_by_the_public_key,
    "a key in its head": with_a_key_of_its_own,
    "changed": changed,
    "another audience": lambda view: view.token(aud="other"),
    "no audience": lambda view: view.token(aud=None),
    "another issuer": lambda view: view.token(iss="https://evil.example"),
    "the issuer with a slash": lambda view: view.token(iss=view.issuer.url + "/"),
    "no issuer": lambda view: view.token(iss=None),
    "an issuer that is a list": lambda view: view.token(iss=None, issuer=[view.issuer.url]),
    "no subject": lambda view: view.token(sub=None),
    "no expiry": lambda view: view.token(exp=None),
    "no time of issue": lambda view: view.token(iat=None),
    "an expiry that is no number": lambda view: view.token(exp="tomorrow"),
    "an endless expiry": lambda view: view.token(exp=float("nan")),
    "an infinite expiry": lambda view: view.token(exp=float("inf")),
    "expired 31 s ago": lambda view: view.token(off_s=-3631),
    "issued in 31 s": lambda view: view.token(off_s=31),
    "not before in 31 s": lambda view: view.token(nbf=view.now.timestamp() + 31),
    "longer than a day": lambda view: view.token(exp=view.now.timestamp() + DAY_S + 1),
    "a demand that is not known": lambda view: view.token(headers={"crit": ["exp"], "exp": 1}),
    "a demand that is no text": lambda view: f"{part({'alg': 'RS256', 'crit': [chr(0xD800)]})}.{part({})}.AAAA",
    "longer than 8 KiB": lambda view: view.token(filler="x" * 8192),
    "no token": lambda view: "a.b.c",
    "no JSON object": lambda view: f"{part({'alg': 'RS256'})}.{part([1])}.AAAA",
    "deep JSON": lambda view: f"{part({'alg': 'RS256'})}.{urlsafe_b64encode(b'[' * 5000).decode().rstrip('=')}.AAAA",
    "lone surrogates": lambda view: "\ud800.b.c",
}


@pytest.mark.parametrize("kind", WRONG)
async def test_a_wrong_token_is_refused(view, kind):
    exc = await refusal(view, WRONG[kind](view))
    assert exc.code == "invalid_token"
    assert view.issuer.asked["/keys"] <= 1
    assert view.issuer.asked["/keys2"] + view.issuer.asked["/x5u"] == 0
    assert not await view.audit.newest(None, limit=10, before=None, action="tokens.use")


async def test_clocks_may_differ_by_half_a_minute(view):
    assert await view.take(view.token(off_s=-3629))
    assert await view.take(view.token(off_s=29, nbf=view.now.timestamp() + 29))
    assert await view.take(view.token(exp=int(view.now.timestamp()) + DAY_S))


async def test_a_token_that_was_taken_ends_like_any_other(view):
    token = view.token()
    await view.take(token)
    view.later(seconds=3629)
    await view.take(token)
    view.later(seconds=1)
    assert (await refusal(view, token)).code == "invalid_token"


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")  # of the token made here
async def test_a_weak_key_and_keys_for_other_purposes_count_for_nothing(view):
    view.issuer.keys = {"weak": ("RS256", WEAK_KEY)}
    view.issuer.kid = "weak"
    assert (await refusal(view, view.token())).code == "invalid_token"
    for change in ({"use": "enc"}, {"key_ops": ["encrypt"]}, {"alg": "RS512"}, {"kty": "oct", "k": "c2VjcmV0"}):
        good = view.issuer.key_set["keys"][0] | {"kid": "other"}
        view.issuer.documents["/keys"] = {"keys": [good | change, {**good, "kid": "good"}, 5, {"kty": 1}]}
        view.later(seconds=31)
        assert (await refusal(view, view.token(headers={"kid": "other"}))).code == "invalid_token"


async def test_the_tenant_of_a_token_can_be_suspended(view):
    token = view.token()
    await view.take(token)
    await asyncio.to_thread(view.tenants.put, "default", suspended=True)
    assert "suspended" in (await refusal(view, token)).message
    await asyncio.to_thread(view.tenants.put, "default", suspended=False)
    await view.take(token)


async def test_an_issuer_that_was_never_there_makes_its_tokens_wait_not_pass(view):
    view.issuer.is_away = True
    for _ in range(3):
        with pytest.raises(IssuerUnavailable):
            await view.take()
    assert view.issuer.asked["/keys"] == 1
    view.issuer.is_away = False
    view.later(seconds=5)
    assert await view.take()
