"""Whether a host is this machine: what alone may be asked, and told a key, in the clear without being allowed."""

from __future__ import annotations


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name: 127.0.0.0/8, ::1, localhost. Asks no name server."""
    import ipaddress

    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address == ipaddress.IPv6Address("::1") or address in ipaddress.ip_network("127.0.0.0/8")
