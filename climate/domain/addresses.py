# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
