# SPDX-License-Identifier: Apache-2.0

"""A read-only cloud: changes are recorded and not made."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.wrapped import WrappedCloud

_READ_ONLY_PREFIXES = ('find_', 'list_')
# Read-only methods without such a prefix.
_READ_ONLY = frozenset(
    {
        'compute.scheduler_hints',
        'placement.allocations',
        'placement.inventories',
        'placement.traits',
        'placement.usages',
        'orchestration.preview_stack',
    }
)


class WouldChange(exceptions.ClimateError):
    """A method would change the cloud, and its result cannot be known without that."""

    error_name = 'WITHHELD'
    template = 'This would change the cloud'


class ReadOnlyCloud(WrappedCloud):
    """A cloud that changes nothing.

    A method that would change the cloud and returns nothing is recorded and skipped. One
    that returns a result raises :class:`WouldChange`, because the following calls depend
    on the result.

    :ivar calls: the skipped or withheld calls, such as
        ``compute.delete_aggregate(7)``
    """

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.calls: list[str] = []

    def _method(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        return real if is_read_only(name) else functools.partial(self._record, name)

    def _record(self, name: str, *arguments: Any, **named: Any) -> None:
        given = [*map(repr, arguments), *(f'{key}={value!r}' for key, value in named.items())]
        self.calls.append(f'{name}({", ".join(given)})')
        if not _returns_nothing()[name]:
            raise WouldChange(self.calls[-1])


def is_read_only(verb: str) -> bool:
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
