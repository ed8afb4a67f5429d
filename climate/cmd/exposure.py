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
