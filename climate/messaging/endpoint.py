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

"""What a manager answers over RPC: the verbs, and how they look on the bus."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from typing import Final
from typing import Protocol

import oslo_messaging
from oslo_log import log as logging

from climate import exceptions
from climate.domain.resources import Inventory
from climate.domain.resources import ResourceDraft

LOG = logging.getLogger(__name__)

VERSION: Final = '1.1'
"""1.1 brought register_resource and delete_resource."""
OLDEST: Final = '1.0'


class ManagerEndpoint(Protocol):
    """What a manager does when it is asked over RPC."""

    def wake(self, reason: str) -> None:
        """Look for due leases and unsent notifications now; returns at once.

        :param reason: what there is to do, for the log
        """
        ...

    def register_resource(self, draft: ResourceDraft) -> int:
        """Take a resource in and return its id.

        :raises climate.exceptions.ClimateError: why it was refused
        """
        ...

    def register_host(self, name: str, capabilities: Mapping[str, str]) -> int:
        """Take a host in, for an API of the release before; return its id.

        :raises climate.exceptions.ClimateError: why it was refused
        """
        ...

    def delete_resource(self, resource_id: int) -> None:
        """Let a resource go.

        :raises climate.exceptions.ClimateError: why it was refused
        """
        ...


def _sent(error: type[exceptions.ClimateError]) -> type[exceptions.ClimateError]:
    """Return the class under which an error is sent.

    An API looks the class of a refusal up in :mod:`climate.exceptions`, those of plugins
    too: there they are in the release before. Faults stay what they are, because what
    they say is not for callers.
    """
    home = exceptions.__name__
    if error.__module__.startswith(home) or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return error
    return type(error.__name__, (error,), {'__module__': home})


@contextlib.contextmanager
def _only_climate_errors() -> Iterator[None]:
    # Others would arrive at the client as an OSError or KeyError of its own.
    try:
        yield
    except exceptions.ClimateError as error:
        error.__class__ = _sent(type(error))
        raise
    except Exception:
        LOG.exception('Unexpected error in a request over RPC')
        raise exceptions.ClimateError from None


class Adapter:
    """What oslo.messaging sees of an endpoint: its verbs and nothing else."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, endpoint: ManagerEndpoint) -> None:
        self._endpoint = endpoint

    @oslo_messaging.expose
    def wake(self, ctxt: Mapping[str, Any], reason: str = 'lease') -> None:
        self._endpoint.wake(reason)

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def register_resource(
        self,
        ctxt: Mapping[str, Any],
        resource_type: str,
        name: str,
        attributes: Mapping[str, str | int | None],
        capabilities: Mapping[str, str],
        inventories: Sequence[Mapping[str, Any]],
    ) -> int:
        with _only_climate_errors():
            return self._endpoint.register_resource(
                ResourceDraft(
                    resource_type=resource_type,
                    name=name,
                    attributes=attributes,
                    capabilities=capabilities,
                    inventories=tuple(Inventory(**item) for item in inventories),
                )
            )

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def delete_resource(self, ctxt: Mapping[str, Any], resource_id: int) -> None:
        with _only_climate_errors():
            self._endpoint.delete_resource(resource_id)

    # What an API of the release before asks, while all are being upgraded.

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def register_host(
        self, ctxt: Mapping[str, Any], name: str, capabilities: Mapping[str, str]
    ) -> int:
        with _only_climate_errors():
            return self._endpoint.register_host(name, capabilities)

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def delete_host(self, ctxt: Mapping[str, Any], host_id: int) -> None:
        self.delete_resource(ctxt, host_id)

    @oslo_messaging.expose
    def ping(self, ctxt: Mapping[str, Any]) -> str:
        return 'pong'
