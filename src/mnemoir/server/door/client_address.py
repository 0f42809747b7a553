"""The address a request comes from: that of its connection, or, behind trusted proxies, what they say.

`X-Forwarded-For` is read from its end, where the nearest proxy wrote: the first address that is not a trusted proxy's
is the client's. All before it may be made up.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import Scope

Address = IPv4Address | IPv6Address
_CLIENTS_BITS = 64  # of an IPv6 address: the part that a provider gives to one client


class Proxies:
    """The proxies whose word on a client's address counts, as addresses and networks."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._networks = [ip_network(network) for network in trusted]

    def client_of(self, scope: Scope) -> Address | None:
        """The client's address; None for a request that came over no network."""
        address = _address_from((scope.get("client") or ("",))[0])
        if address is None:
            return None
        for sent in reversed(_forwarded_addresses(scope) if self._networks else ()):
            before = _address_from(sent)
            if before is None or not any(address in network for network in self._networks):
                break
            address = before
        return address


def network_of(address: Address) -> str:
    """What stands for one client: the address, or the /64 that one client of IPv6 has."""
    return str(address) if address.version == 4 else str(ip_network((int(address), _CLIENTS_BITS), strict=False))


def _forwarded_addresses(scope: Scope) -> Sequence[str]:
    """The addresses of `X-Forwarded-For`, the nearest last. A proxy may add its own in a header of its own."""
    sent = (value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for")
    return ",".join(sent).split(",")


def _address_from(raw: str) -> Address | None:
    """`1.2.3.4`, `::1`, and both with a port: `1.2.3.4:80`, `[::1]:80`. None for anything else."""
    text = raw.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address  # a socket for both protocols writes ::ffff:1.2.3.4
