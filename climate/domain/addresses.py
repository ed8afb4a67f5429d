# SPDX-License-Identifier: Apache-2.0

"""Checks of network addresses, and links to the page."""

from __future__ import annotations

import ipaddress
import urllib.parse


def is_loopback(host: str) -> bool:
    """Whether traffic to a host stays on this machine.

    :param host: a host name or an IP address; IPv6 with or without brackets
    """
    if host.lower().rstrip('.') == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host.strip('[]')).is_loopback
    except ValueError:
        return False


def lease_page(page_url: str, lease_id: str) -> str:
    """Return the link to a lease on the page, for mails and calendars.

    :param page_url: the public URL of the page, without a slash at its end
    """
    return f'{page_url}/#/lease/{urllib.parse.quote(lease_id, safe="")}'
