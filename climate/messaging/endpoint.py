# SPDX-License-Identifier: Apache-2.0

"""The RPC methods of a manager, and their form on the message bus."""

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
from climate.context import WorkContext
from climate.context import Working
from climate.domain.origins import RequestOrigin
from climate.domain.resources import Inventory
from climate.domain.resources import ResourceDraft
from climate.tracing import spans
from climate.tracing.spans import SpanKind

LOG = logging.getLogger(__name__)

VERSION: Final = '1.2'


class ManagerEndpoint(Protocol):
    """The methods that a manager offers over RPC."""

    def wake(self, reason: str) -> None:
        """Check for due leases and unsent notifications now; does not block.

        :param reason: the kinds of work, joined by commas
        """

    def register_resource(self, draft: ResourceDraft) -> int:
        """Register a resource; return its id.

        :raises climate.exceptions.ClimateError: if it was refused
        """

    def delete_resource(self, resource_id: int) -> None:
        """Unregister a resource.

        :raises climate.exceptions.ClimateError: if it was refused
        """

    def refresh_resource(self, resource_id: int) -> None:
        """Read a resource again from the cloud.

        :raises climate.exceptions.ClimateError: if it was refused
        """

    def rename_resource(self, resource_id: int, name: str) -> None:
        """Give a resource the name that the cloud now uses for it.

        :raises climate.exceptions.ClimateError: if it was refused
        """


def _sent(error: type[exceptions.ClimateError]) -> type[exceptions.ClimateError]:
    """Return the class as which an error is sent.

    An API looks up the class of a refusal in :mod:`climate.exceptions`, even that of a
    plugin: the previous release defines them there. Server errors keep their class,
    because their text is not for callers.
    """
    home = exceptions.__name__
    if error.__module__.startswith(home) or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return error
    return type(error.__name__, (error,), {'__module__': home})


@contextlib.contextmanager
def _only_climate_errors() -> Iterator[None]:
    # The client would raise any other exception as if it were its own OSError or KeyError.
    try:
        yield
    except exceptions.ClimateError as error:
        error.__class__ = _sent(type(error))
        raise
    except Exception:
        LOG.exception('Unexpected error in a request over RPC')
        raise exceptions.ClimateError from None


def _work(ctxt: Mapping[str, Any]) -> WorkContext:
    """Return the work for a request, with its ids.

    :param ctxt: with the ids; empty from an API of a previous release
    """
    names = ('request_id', 'global_request_id', 'traceparent')
    known = {name: str(ctxt[name]) for name in names if ctxt.get(name)}
    return WorkContext('', origin=RequestOrigin(**known))


@contextlib.contextmanager
def _request(ctxt: Mapping[str, Any]) -> Iterator[None]:
    """Carry out a request with the ids of that to the API, and raise only errors of Climate."""
    work = _work(ctxt)
    with Working(work), _only_climate_errors():
        with spans.span('rpc', SpanKind.SERVER, work.known_origin.traceparent):
            yield


class Adapter:
    """Exposes only the RPC methods of an endpoint to oslo.messaging."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, endpoint: ManagerEndpoint) -> None:
        self._endpoint = endpoint

    @oslo_messaging.expose
    def wake(self, ctxt: Mapping[str, Any], reason: str = 'lease') -> None:
        # No span: the work that follows is in the trace of the request by itself.
        with Working(_work(ctxt)):
            LOG.debug('Woken up for: %s', reason)
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
        with _request(ctxt):
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
        with _request(ctxt):
            self._endpoint.delete_resource(resource_id)

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def refresh_resource(self, ctxt: Mapping[str, Any], resource_id: int) -> None:
        with _request(ctxt):
            self._endpoint.refresh_resource(resource_id)

    @oslo_messaging.expose
    @oslo_messaging.expected_exceptions(exceptions.ClimateError)
    def rename_resource(self, ctxt: Mapping[str, Any], resource_id: int, name: str) -> None:
        with _request(ctxt):
            self._endpoint.rename_resource(resource_id, name)

    @oslo_messaging.expose
    def ping(self, ctxt: Mapping[str, Any]) -> str:
        return 'pong'
