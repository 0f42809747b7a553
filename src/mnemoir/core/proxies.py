"""Which requests to other servers go through a proxy, and which are asked directly."""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from mnemoir.core.network import embedded_address

# beside names of one word: what no server of the internet is called
_PRIVATE_DOMAINS = (".local", ".internal", ".localhost", ".home.arpa")
_OLD_FORM = re.compile(r"[0-9a-fx.]+", re.ASCII)  # 127.1, 2130706433, 0x7f.1: resolvers read these as addresses


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proxies:
    """The proxies for addresses of both schemes, as URLs that may hold a password; None for none.

    `direct` names hosts, domains with all below them, addresses and networks that are asked directly, each perhaps
    with a port; `*` is all. So are this machine and what is private, unless `private_too`.
    """

    http: str | None = None
    https: str | None = None
    direct: Sequence[str] = ()
    private_too: bool = False

    @property
    def are_none(self) -> bool:
        """Whether everything is asked directly."""
        return self.http is None and self.https is None

    def proxy_of(self, scheme: str, host: str, port: int | None, *, is_typed: bool = False) -> str | None:
        """The proxy for an address; None where it is asked directly.

        An address that a person `is_typed` in goes through one only as a name of the internet, so that nobody reaches
        by the proxy what they could not reach from here.
        """
        proxy = self.https if scheme == "https" else self.http
        name = host.lower().strip("[]").rstrip(".")
        if proxy is None or any(_is_named(name, port, one) for one in self.direct):
            return None
        if is_typed and (_address_of(name) is not None or is_private(name)):
            return None
        return None if is_private(name) and not self.private_too else proxy


def is_private(host: str) -> bool:
    """True for this machine and for what only its own network knows, by name or by address."""
    address = _address_of(host)
    if address is not None:
        return not address.is_global
    return "." not in host or host.endswith(_PRIVATE_DOMAINS)


def _address_of(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, in whatever form, else None."""
    try:
        return embedded_address(ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host)) if _OLD_FORM.fullmatch(host) else None
    except OSError:
        return None


def _is_named(host: str, port: int | None, entry: str) -> bool:
    """Whether an entry of `direct` is about the host."""
    named, _, of_port = entry.strip().lower().rpartition(":")
    if named and of_port.isdecimal() and (":" not in named or named.endswith("]")):
        if int(of_port) != port:
            return False
    else:
        named = entry.strip().lower()
    named = named.strip("[]").removeprefix("*.").strip(".")
    if named in ("*", host):
        return True
    address = _address_of(host)
    if address is None:
        return bool(named) and host.endswith(f".{named}")
    try:
        network = ip_network(named, strict=False)
    except ValueError:
        return False
    return address.version == network.version and address in network
