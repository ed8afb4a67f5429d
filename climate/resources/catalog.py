# SPDX-License-Identifier: Apache-2.0

"""The resource types that are served: those of plugins, and those that operators declare."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.db.transactions.store import Store
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import PREFIX
from climate.plugins.contract import Plugin
from climate.plugins.custom.plugin import Custom


class Catalog(Mapping[str, Plugin[Any]]):
    """The plugins by type, including types that another process declared.

    A lookup as in any mapping may return a declared type as it was read earlier.
    That is enough for existing reservations, which hold all that they need of their
    type. Readers of a new request use :meth:`current`.

    It reads in a transaction of its own, and no engine makes a reader wait for a
    writer: looking a type up inside a transaction that writes is safe.

    :param declared: what the operator declared in a file
    :ivar fixed: the types that exist as long as the process runs
    """

    def __init__(
        self, store: Store, plugins: Mapping[str, Plugin[Any]], declared: Iterable[Declaration] = ()
    ) -> None:
        self._store = store
        self.fixed: Mapping[str, Plugin[Any]] = {
            **plugins,
            **{item.name: Custom(item) for item in declared},
        }
        self._read: dict[str, Custom] = {}

    def __getitem__(self, name: str) -> Plugin[Any]:
        """Return the plugin of a type, for existing reservations."""
        plugin = self.fixed.get(name) or self._read.get(name) or self.current(name)
        if plugin is None:
            raise KeyError(name)
        return plugin

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all types."""
        yield from self.fixed
        with self._store.reading() as tx:
            stored = tx.resource_types.all()
        yield from (item.name for item in stored if item.name not in self.fixed)

    def __len__(self) -> int:
        """Return the number of types."""
        return sum(1 for _ in self)

    def current(self, name: str) -> Plugin[Any] | None:
        """Return the plugin of a type as it is declared now; None if there is none."""
        plugin = self.fixed.get(name)
        if plugin is not None or not name.startswith(PREFIX):
            return plugin
        with self._store.reading() as tx:
            declaration = tx.resource_types.find(name)
        if declaration is None:
            return None
        known = self._read.get(name)
        if known is None or known.declaration != declaration:
            known = self._read[name] = Custom(declaration)
        return known


def fixed(plugins: Mapping[str, Plugin[Any]]) -> Mapping[str, Plugin[Any]]:
    """Return the plugins of the types that exist as long as the process runs."""
    return plugins.fixed if isinstance(plugins, Catalog) else plugins


def host_types(plugins: Mapping[str, Plugin[Any]]) -> list[str]:
    """Return the types whose resources are hosts of Nova."""
    return [name for name, plugin in fixed(plugins).items() if plugin.compute_hosts]


def host_type(plugins: Mapping[str, Plugin[Any]]) -> str:
    """Return the type that registers hosts of Nova.

    :raises climate.exceptions.UnsupportedResourceType: if there is none
    """
    for name in host_types(plugins):
        return name
    raise exceptions.UnsupportedResourceType(resource_type='host')


def current(plugins: Mapping[str, Plugin[Any]], name: str) -> Plugin[Any] | None:
    """Return the plugin that reads new requests of a type; None if there is none."""
    return plugins.current(name) if isinstance(plugins, Catalog) else plugins.get(name)
