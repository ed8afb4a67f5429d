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

"""How python-novaclient is used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from novaclient import client as nova_client

from climate.clients.errors import Errors


@contextlib.contextmanager
def _no_cache(*_args: object, **_kwargs: object) -> Iterator[None]:
    """Stand in for novaclient's cache of names for the completion of shells.

    A service has no use for files in its home directory.
    """
    yield


class Library:
    """Makes clients of python-novaclient.

    :param microversion: of those that need no other
    :param connect_retries: how often a request without an answer is repeated
    :param adapter: arguments of the keystoneauth adapter
    """

    def __init__(self, microversion: str, connect_retries: int, adapter: Mapping[str, Any]) -> None:
        self._microversion = microversion
        self._connect_retries = connect_retries
        self._adapter = adapter

    def client(self, microversion: str | None = None) -> Any:
        """Return a client; of this microversion, or of that of the configuration."""
        return self._client(microversion, self._connect_retries)

    def once(self, microversion: str | None = None) -> Any:
        """Return one for requests that must not be sent twice."""
        return self._client(microversion, 0)

    def adapter(self, microversion: str) -> ksa_adapter.Adapter:
        """Return a bare adapter, for what the library is too old for."""
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
    """What the verbs about every noun need."""

    def __init__(self, library: Library, errors: Errors) -> None:
        self._errors = errors
        self._nova = library.client()
        # For requests that must not be sent twice.
        self._nova_once = library.once()
