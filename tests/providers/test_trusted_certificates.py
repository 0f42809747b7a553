"""`SSL_CERT_FILE` names the certificates that are trusted, as for other programs."""

import asyncio
import datetime
import os
import ssl
import subprocess
import sys
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

pytestmark = pytest.mark.slow  # it starts programs
ASK = """
import asyncio, sys
from mnemoir.providers.http import new_session
async def ask():
    async with new_session() as session, session.get(sys.argv[1]) as answer:
        print(answer.status)
asyncio.run(ask())
"""


@pytest.fixture
def certificate(tmp_path):
    """Files of a certificate of 127.0.0.1 that nobody signed but itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "here")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    kept = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *kept))
    return tmp_path / "certificate.pem", tmp_path / "key.pem"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_a_certificate_is_trusted_where_the_variable_names_it(certificate, is_trusted):
    file, key = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    environ = os.environ | ({"SSL_CERT_FILE": str(file)} if is_trusted else {})
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        command = [sys.executable, "-c", ASK, url]
        done = await asyncio.to_thread(
            subprocess.run, command, env=environ, capture_output=True, text=True, timeout=60
        )
    assert (done.stdout == "204\n", "CERTIFICATE_VERIFY_FAILED" in done.stderr) == (is_trusted, not is_trusted)
