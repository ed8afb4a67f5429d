# SPDX-License-Identifier: Apache-2.0

"""The use of python-novaclient that the other modules share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from novaclient import client as nova_client

from climate.cloud.errors import Errors


@contextlib.contextmanager
def _no_cache(*_args: object, **_kwargs: object) -> Iterator[None]:
    """Replace the cache that novaclient keeps for the completion of names in shells.

    The cache would write files to the home directory of the service.
    """
    yield


class ClientFactory:
    """Creates clients of python-novaclient.

    :param microversion: the default microversion
    :param connect_retries: how often to repeat a request without a response
    :param adapter: arguments of the keystoneauth adapter
    """

    def __init__(self, microversion: str, connect_retries: int, adapter: Mapping[str, Any]) -> None:
        self._microversion = microversion
        self._connect_retries = connect_retries
        self._adapter = adapter

    def client(self, microversion: str | None = None) -> Any:
        """Return a client for this microversion, or for the default one."""
        return self._client(microversion, self._connect_retries)

    def once(self, microversion: str | None = None) -> Any:
        """Return a client for requests that must not be sent twice."""
        return self._client(microversion, 0)

    def adapter(self, microversion: str) -> ksa_adapter.Adapter:
        """Return a bare adapter, for a microversion that the library does not know."""
        options = dict(self._adapter)
        return ksa_adapter.Adapter(
            interface=options.pop('endpoint_type'),
            default_microversion=microversion,
            connect_retries=self._connect_retries,
            **options,
        )

    def _client(self, microversion: str | None, connect_retries: int) -> Any:
        nova = nova_client.Client(
            microversion or self._microversion, connect_retries=connect_retries, **self._adapter
        )
        for manager in vars(nova).values():
            if hasattr(manager, 'completion_cache'):
                manager.completion_cache = _no_cache
        return nova


class NovaVerbs:
    """The clients and the error translation that all operations on Nova need."""

    def __init__(self, clients: ClientFactory, errors: Errors) -> None:
        self._errors = errors
        self._nova = clients.client()
        self._nova_once = clients.once()
