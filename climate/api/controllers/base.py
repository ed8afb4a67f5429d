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

"""What every controller has: the services, and the scope of a request."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from climate import exceptions
from climate.api import bodies
from climate.api.scope import Scope
from climate.api.services import ApiSettings
from climate.api.services import Services

_LEASE_ID = re.compile(r'[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')
_RESOURCE_ID = re.compile(r'[0-9]{1,10}', re.ASCII)
_LARGEST_RESOURCE_ID = 2**31 - 1


class Controller:
    """Base of the controllers."""

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        self._services = services
        self._settings = settings

    def _scope(self, request: Any) -> Scope:
        return Scope(request.environ, self._services.enforcer, self._services.clock)


def empty(response: Any) -> Any:
    """Return *response* as the answer that says nothing but that it is done.

    Handed back to pecan whole: it would write ``null``, the JSON of nothing,
    into a response that clients expect to have no body.
    """
    response.status = HTTPStatus.NO_CONTENT
    return response


def lease_id(text: str) -> str:
    """Return the id of a lease as it is stored.

    :raises climate.exceptions.NotFound: if no lease can have this id
    """
    if _LEASE_ID.fullmatch(text) is None:
        raise exceptions.NotFound(object={'lease_id': bodies.printable(text)})
    return text.lower()


def maintenance_id(text: str) -> str:
    """Return the id of a maintenance as it is stored.

    :raises climate.exceptions.NotFound: if none can have this id
    """
    if _LEASE_ID.fullmatch(text) is None:
        raise exceptions.NotFound(object={'maintenance_id': bodies.printable(text)})
    return text.lower()


def resource_id(text: str, word: str = 'resource_id') -> int:
    """Return the id of a resource as it is stored.

    :param word: what clients call it
    :raises climate.exceptions.NotFound: if no resource can have this id
    """
    if _RESOURCE_ID.fullmatch(text) is None or int(text) > _LARGEST_RESOURCE_ID:
        raise exceptions.NotFound(object={word: bodies.printable(text)})
    return int(text)


def host_id(text: str) -> int:
    """Return the id of a host as it is stored.

    :raises climate.exceptions.NotFound: if no host can have this id
    """
    return resource_id(text, 'host_id')
