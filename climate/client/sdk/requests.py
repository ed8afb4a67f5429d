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

"""How requests are sent: their microversion, and what refusals become."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

import requests
from keystoneauth1 import discover
from openstack import proxy

from climate.allocation import requirements
from climate.client import fields
from climate.client.sdk import bases
from climate.client.sdk import errors

# The microversion that has a field of a lease. Version 1.0 ignores unknown fields, so that a
# lease without this check would be another one than the user requested.
_SINCE: Final[Mapping[str, str]] = {
    'duration': '1.1',
    'notify_before_start': '1.1',
    'notices': '1.3',
    'offer_id': '1.4',
    'end_reason': '1.5',
}


class ReservationRequests(proxy.Proxy):
    """Sends requests to the service."""

    def request(self, url: str, method: str, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request; see :class:`openstack.proxy.Proxy`.

        :raises RefusedRequest: with the reasons and alternatives of the service
        """
        response = super().request(url, method, *args, **kwargs)
        errors.raise_for(response)
        return response

    def microversion(self) -> str:
        """Return the microversion of requests: the newest that both sides know."""
        found = bases.ReservationResource._get_microversion(self)
        return found or '1.0'

    def supports(self, microversion: str) -> bool:
        """Return whether requests can have a microversion."""
        number = discover.normalize_version_number
        return bool(number(self.microversion()) >= number(microversion))

    def require(self, microversion: str, feature: str) -> None:
        """Check that requests can have a microversion.

        :param feature: what needs it, for the message
        :raises ServiceTooOld: if they cannot
        """
        if self.supports(microversion):
            return
        present = self.microversion()
        chosen = 'you chose' if self.default_microversion else 'the service supports'
        raise errors.ServiceTooOld(
            f'Microversion {microversion} is required for {feature}, but {chosen} {present}'
        )

    def check_fields(self, body: Mapping[str, Any]) -> None:
        """Check that the service knows the fields of a lease.

        :raises ServiceTooOld: if it lacks one
        """
        for field, since in _SINCE.items():
            if body.get(field) is not None:
                self.require(since, field)
        self.check_reservations(body.get('reservations') or ())

    def check_reservations(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Check that the service knows the fields of reservations.

        :raises ServiceTooOld: if it lacks one
        """
        for item in items:
            for field, since in (('part_of', '1.3'), ('placement', '1.4')):
                if field in item:
                    self.require(since, field)
            for field in fields.REQUIREMENTS:
                self.check_requirement(item.get(field))

    def check_requirement(self, requirement: Any) -> None:
        """Check that the service knows what a requirement can name.

        :param requirement: as the API takes it; what is malformed is left to the service
        :raises ServiceTooOld: if the service lacks traits
        """
        try:
            traits = requirements.traits(requirements.parse(requirement))
        except requirements.RequirementError:
            return
        if traits:
            self.require('1.5', f'trait:{min(traits)} in a requirement')

    def json(self, method: str, path: str, body: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Send a request, and return the JSON of its response."""
        response = self.request(path, method, json=body, microversion=self.microversion(), **kwargs)
        found: dict[str, Any] = response.json()
        return found
