# SPDX-License-Identifier: Apache-2.0

"""The addresses on which an API without authentication may listen."""

from __future__ import annotations

import ipaddress

from climate import exceptions


def check(host: str) -> None:
    """Check that an API without authentication cannot be reached over the network.

    :raises climate.exceptions.ConfigurationError: if *host* is not a loopback address
    """
    if not _is_loopback(host):
        raise exceptions.ConfigurationError(
            f'without authentication, every client that reaches {host} can claim to be an '
            'administrator; --i-know listens there anyway'
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'
