"""Parsers of addresses that people write (URLs, hosts to listen on, Ollama's short forms), and default paths.

Paths follow the XDG rules; a relative XDG path is ignored. A parser returns the normalised address, or raises
ValueError with a message that never contains a password.
"""

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

OLLAMA_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a server listens on these, but a client cannot call them
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f]")
CONFIG_NAME = "mnemoir.yaml"


def http_url(raw: str) -> str:
    """An http or https URL without a final slash; user names and passwords in it are refused."""
    url = raw.strip().rstrip("/")
    if _UNFIT.search(url):
        raise ValueError("must be a URL without spaces")
    parts = urlsplit(url)
    if parts.scheme not in _SCHEME_PORTS or not parts.hostname:
        raise ValueError("must be a URL that starts with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or password; give the key as api_key")
    if parts.query or parts.fragment:
        raise ValueError("must end with its path, without ? or #")
    _port_of(parts.netloc)
    return url


def proxy_url(raw: str) -> str:
    """The URL of a proxy that speaks HTTP, perhaps with user and password; without a scheme it is http."""
    url = raw.strip().rstrip("/")
    if "://" not in url:
        url = f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme.lower().startswith("socks"):
        raise ValueError("must be a proxy that speaks HTTP, as http://proxy.example:3128; SOCKS is not supported")
    if parts.scheme not in _SCHEME_PORTS or not parts.hostname or _UNFIT.search(url):
        raise ValueError("must be the URL of a proxy, as http://proxy.example:3128")
    if parts.path or parts.query or parts.fragment:
        raise ValueError("must be the URL of a proxy without a path, as http://proxy.example:3128")
    _port_of(parts.netloc.rpartition("@")[2])
    return url


def without_password(url: str) -> str:
    """Scheme, host and port of a URL, for messages."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def listening_host(raw: str) -> str:
    """A name or IP address to listen on, without scheme, port or brackets."""
    host = raw.strip().removeprefix("[").removesuffix("]")
    if "/" in host or _UNFIT.search(host):
        raise ValueError("must be a host name or an IP address alone, such as 127.0.0.1")
    if ":" in host and not _is_ip(host):
        raise ValueError("must be a host name or an IP address alone; the port is a setting of its own")
    return host


def network(raw: str) -> str:
    """An IP address, or a network such as 10.0.0.0/8."""
    try:
        return str(ipaddress.ip_network(raw.strip()))
    except ValueError:
        raise ValueError("must be IP addresses, or networks such as 10.0.0.0/8") from None


def is_loopback(host: str) -> bool:
    """True when only this machine can reach `host`, a name or an IP address without brackets."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ollama_address(raw: str) -> str:
    """The URL that OLLAMA_HOST means: `host`, `host:port`, `:port`, an IP address, or a URL.

    Same rules as Ollama: port 11434 unless the scheme has its own; without a host, this machine.
    """
    scheme, found, rest = raw.strip().partition("://")
    if not found:
        scheme, rest = "http", raw.strip()
    if scheme not in _SCHEME_PORTS:
        raise ValueError("must be host, host:port, :port or a URL that starts with http:// or https://")
    netloc, _, path = rest.partition("/")
    if "@" in netloc or _UNFIT.search(rest):
        raise ValueError("must not hold spaces, a user name or a password")
    if _is_ip(netloc.strip("[]")):  # an IPv6 address may come without brackets
        host, port = netloc.strip("[]"), None
    else:
        host, port = urlsplit(f"//{netloc}").hostname or "", _port_of(netloc)
    host = _ANY.get(host, host) or "127.0.0.1"
    port = port if port is not None else _SCHEME_PORTS[scheme] if found else OLLAMA_PORT
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}/{path}".rstrip("/")


def _port_of(netloc: str) -> int | None:
    try:
        return urlsplit(f"//{netloc}").port
    except ValueError:
        raise ValueError("must have a port between 0 and 65535") from None


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """The folder `mnemoir` in the user's data directory."""
    return _user_dir(environ, "XDG_DATA_HOME", ".local/share")


def user_config_dir(environ: Mapping[str, str]) -> Path:
    """The folder `mnemoir` in the user's directory of settings."""
    return _user_dir(environ, "XDG_CONFIG_HOME", ".config")


def config_file(environ: Mapping[str, str]) -> Path | None:
    """The settings file to read when none is named: in the working directory, else the user's, else None."""
    candidates = (Path(CONFIG_NAME), user_config_dir(environ) / CONFIG_NAME)
    return next((path for path in candidates if path.is_file()), None)


def _user_dir(environ: Mapping[str, str], variable: str, fallback: str) -> Path:
    chosen = Path(environ.get(variable, ""))
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (chosen if chosen.is_absolute() else home / fallback) / "mnemoir"
