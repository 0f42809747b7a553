"""Addresses that no model has: link-local ones, where machines in a cloud find the keys of their account."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_REFUSED = tuple(
    ip_network(block)
    for block in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254/128",  # the metadata of Amazon's machines over IPv6
        "100.100.100.200/32",  # and of Alibaba's
    )
)
_NAT64 = ip_network("64:ff9b::/96")


def is_off_limits(host: str) -> bool:
    """True for a link-local address or one that serves a cloud's metadata; False for every other text."""
    try:
        address = ip_address(host.partition("%")[0].strip("[]"))
    except ValueError:
        return False
    meant = embedded_address(address)
    return any(meant.version == block.version and meant in block for block in _REFUSED)


def embedded_address(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address
