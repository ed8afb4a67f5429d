# SPDX-License-Identifier: Apache-2.0

"""How requests are sent: their microversion, and what refusals become."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import TypeVar

import requests
from keystoneauth1 import discover
from openstack import proxy

from climate.allocation import requirements
from climate.client import fields
from climate.client.sdk import bases
from climate.client.sdk import errors
from climate.client.sdk import leases

T = TypeVar('T', bound=bases.ReservationResource)


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
        newest = bases.ReservationResource._get_microversion(self)
        return newest or '1.0'

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
        for field, since in leases.SINCE.items():
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
        content: dict[str, Any] = response.json()
        return content

    def answered(self, kind: type[T], method: str, path: str, body: Any = None, **kwargs: Any) -> T:
        """Send a request, and return the object that is in its response.

        :param path: below that of the objects; empty for that path itself
        """
        answer = self.json(method, kind.base_path + path, body, **kwargs)
        found: T = kind.existing(**answer[str(kind.resource_key)])
        return found


def path_of(item: str | bases.ReservationResource, action: str = '') -> str:
    """Return the path of an object, or of an action on it, below that of the objects."""
    return f'/{bases.ReservationResource._get_id(item)}{action}'
