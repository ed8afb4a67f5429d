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

"""A read-only cloud: changes are recorded and not made."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud

_READ_ONLY_PREFIXES = ('find_', 'list_')
# Read-only methods without such a prefix.
_READ_ONLY = frozenset(
    {
        'compute.scheduler_hints',
        'placement.allocations',
        'placement.inventories',
        'placement.provider_aggregates',
        'placement.traits',
        'placement.usages',
        'orchestration.preview_stack',
    }
)


class Withheld(exceptions.ClimateError):
    """A method would change the cloud, and its result cannot be known without that."""

    error_name = 'WITHHELD'
    template = 'This would change the cloud'


class Rehearsal:
    """Implements :class:`climate.clients.base.Cloud` and changes nothing.

    A method that would change the cloud and returns nothing is recorded and skipped. One
    that returns a result raises :class:`Withheld`, because the following calls depend
    on the result.

    :ivar calls: the skipped or withheld calls, such as
        ``compute.delete_aggregate(7)``
    """

    def __init__(self, cloud: Cloud, calls: list[str] | None = None) -> None:
        self._cloud = cloud
        self.calls: list[str] = [] if calls is None else calls

    def acting_for(self, trust_id: str) -> Rehearsal:
        """Return the cloud as another user sees it, read-only."""
        return Rehearsal(self._cloud.acting_for(trust_id), self.calls)

    def of_caller(self, token: str) -> Rehearsal:
        """Return the cloud as a caller sees it, read-only."""
        return Rehearsal(self._cloud.of_caller(token), self.calls)

    def as_service(self) -> Rehearsal:
        """Return the cloud as the service user sees it, read-only."""
        return Rehearsal(self._cloud.as_service(), self.calls)

    @property
    def compute(self) -> Any:
        """Nova."""
        return _RehearsedService(self, 'compute', self._cloud.compute)

    @property
    def placement(self) -> Any:
        """Placement."""
        return _RehearsedService(self, 'placement', self._cloud.placement)

    @property
    def network(self) -> Any:
        """Neutron."""
        return _RehearsedService(self, 'network', self._cloud.network)

    @property
    def volume(self) -> Any:
        """Cinder."""
        return _RehearsedService(self, 'volume', self._cloud.volume)

    @property
    def image(self) -> Any:
        """Glance."""
        return _RehearsedService(self, 'image', self._cloud.image)

    @property
    def orchestration(self) -> Any:
        """Heat."""
        return _RehearsedService(self, 'orchestration', self._cloud.orchestration)

    @property
    def identity(self) -> Any:
        """Keystone."""
        return _RehearsedService(self, 'identity', self._cloud.identity)


class _RehearsedService:
    def __init__(self, rehearsal: Rehearsal, name: str, real: Any) -> None:
        self._rehearsal = rehearsal
        self._name = name
        self._real = real

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        name = f'{self._name}.{verb}'
        return getattr(self._real, verb) if looks(name) else functools.partial(self._record, name)

    def _record(self, name: str, *arguments: Any, **named: Any) -> None:
        given = [*map(repr, arguments), *(f'{key}={value!r}' for key, value in named.items())]
        self._rehearsal.calls.append(f'{name}({", ".join(given)})')
        if not _returns_nothing()[name]:
            raise Withheld(self._rehearsal.calls[-1])


def looks(verb: str) -> bool:
    """Whether a method, such as ``compute.find_server``, is read-only."""
    return verb in _READ_ONLY or verb.partition('.')[2].startswith(_READ_ONLY_PREFIXES)


@functools.lru_cache(maxsize=1)
def _returns_nothing() -> Mapping[str, bool]:
    """Return whether a method returns nothing, by its name, for all methods."""
    services = {
        name: typing.get_type_hints(getter.fget)['return']
        for name, getter in vars(Cloud).items()
        if isinstance(getter, property)
    }
    return {
        f'{name}.{verb}': typing.get_type_hints(function)['return'] is type(None)
        for name, protocol in services.items()
        for verb, function in inspect.getmembers(protocol, inspect.isfunction)
        if not verb.startswith('_')
    }
