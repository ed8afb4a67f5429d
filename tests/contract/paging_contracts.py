# SPDX-License-Identifier: Apache-2.0

"""Requirements on clients of services whose lists have pages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from unittest import mock

from climate.cloud.nova import pages
from climate.cloud.sdk import SdkService
from tests.contract import backends
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import network_contracts
from tests.contract import volume_contracts

Pages = Callable[[Any], Iterable[Any]]


@contextlib.contextmanager
def deleting(mine: Collection[str], delete: Callable[[str], object]) -> Iterator[list[str]]:
    """Delete the last item of the first page before Climate requests the second page.

    :param mine: the ids of items that may be deleted
    :return: the id of the deleted item
    """
    every = pages.every
    gone: list[str] = []

    def interrupted(fetch: Callable[[str | None], Sequence[Any]]) -> list[Any]:
        def then_delete(marker: str | None) -> Sequence[Any]:
            page = fetch(marker)
            if not gone and page[-1].id in mine:
                delete(page[-1].id)
                gone.append(page[-1].id)
            return page

        return every(then_delete)

    with mock.patch.object(pages, 'every', interrupted):
        yield gone


class PagedServerContract(contracts.Contract):
    """list_servers of a service that returns lists in pages.

    Nova accepts a deleted server as a marker until its database is archived; the stub
    does not.
    """

    def test_a_server_that_disappears_after_its_page_was_read(self) -> None:
        host = self.backend.hosts[0]
        mine = {self.boot(host) for _ in range(2)}
        with deleting(mine, self.gone) as gone:
            found = {server.id for server in self.compute.list_servers(host)}
        self.assertEqual((1, mine), (len(gone), found | set(gone)))


class PagedFlavorContract(flavor_contracts.FlavorCase):
    """list_flavors of a service that returns lists in pages."""

    def test_a_flavor_that_disappears_after_its_page_was_read(self) -> None:
        # The order is that of the ids.
        mine = {self.make(id=f'zz-{name}').id for name in [backends.unique() for _ in range(2)]}
        with deleting(mine, self.compute.delete_flavor) as gone:
            found = {flavor.id for flavor in self.compute.list_flavors()}
        self.assertEqual([max(mine)], gone)
        self.assertLessEqual(mine - set(gone), found)


def read_in_pages(
    service: SdkService, mine: Collection[str], listed: Pages, delete: Callable[[str], object]
) -> tuple[list[str], set[str]]:
    """List items, one in each page, and delete the first of *mine* after its page.

    :param listed: reads the list with the library's proxy
    :return: the deleted item, and the items of *mine* that were found
    """
    gone: list[str] = []

    def read(proxy: Any) -> Iterator[Any]:
        for item in listed(proxy):
            if not gone and item.id in mine:
                delete(item.id)
                gone.append(item.id)
            yield item

    return gone, {item.id for item in service.every('list', read)} & set(mine)


class PagedNetworkContract(network_contracts.NetworkingContract):
    """A list of networks of a service that returns it in pages."""

    def test_a_network_that_disappears_after_its_page_was_read(self) -> None:
        mine = {self.made().id for _ in range(2)}
        gone, found = read_in_pages(
            self.backend.cloud.network._service,
            mine,
            lambda neutron: neutron.networks(limit=1),
            self.network.delete_network,
        )
        self.assertEqual(1, len(gone))
        self.assertEqual(mine - set(gone), found)


class PagedVolumeContract(volume_contracts.StorageContract):
    """A list of volumes of a service that returns it in pages."""

    def test_a_volume_that_disappears_after_its_page_was_read(self) -> None:
        mine = {self.made().id for _ in range(2)}
        gone, found = read_in_pages(
            self.backend.cloud.volume._service,
            mine,
            lambda cinder: cinder.volumes(all_projects=True, limit=1),
            self.clean_volume,
        )
        self.assertEqual(1, len(gone))
        self.assertEqual(mine - set(gone), found)
