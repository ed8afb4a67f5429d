# SPDX-License-Identifier: Apache-2.0

"""Servers that get leases by being booted, on an unmodified Nova."""

from __future__ import annotations

import json
from typing import Any

from tests.cloud.house import PREFIX
from tests.cloud.people import soon
from tests.cloud.people import within
from tests.cloud.settings import BootedLeasesTest
from tests.cloud.settings import MANAGER
from tests.cloud.waiting import until
from tools.cloud import services

DEFAULT = MANAGER + 'default_lease = 30d\ndefault_lease_on_end = delete\ndefault_lease_projects = '
PATIENCE = 60.0


class BootingTest(BootedLeasesTest):
    """Alice boots servers, and never asks Climate for a lease."""

    # What begins at once needs no room on reservable hosts.
    hosts = 0

    # All Climates are notified of all servers: one of them may make leases of those
    # that ask for one.
    site = 1

    def server(self, hint: Any = None, **said: str) -> str:
        """Boot a server that says something of a lease, and return its id."""
        sdk = self.alice.sdk
        hints = {} if hint is None else {'lease_params': json.dumps(hint)}
        return str(
            sdk.compute.create_server(
                name=f'{PREFIX}alice',
                flavor_id=sdk.compute.find_flavor(self.cloud.flavor).id,
                image_id=sdk.image.find_image(self.cloud.image).id,
                networks='none',
                scheduler_hints=hints,
                metadata={f'climate:{key}': value for key, value in said.items()},
            ).id
        )

    def metadata(self, server: str, key: str = 'lease_id') -> str:
        """Return a value in the metadata of a server, as soon as it is there."""

        def found() -> str:
            metadata = self.alice.sdk.compute.get_server(server).metadata
            return str(metadata.get(f'climate:{key}', ''))

        return until(found, PATIENCE, f'{server} has its {key}')

    def active(self, server: str) -> dict[str, Any]:
        """Return the lease of a server, as soon as it is active."""
        lease_id = self.metadata(server)
        until(lambda: self.alice.knows(lease_id), PATIENCE, f'{lease_id} is there')
        return self.await_status(self.alice, {'id': lease_id}, 'ACTIVE', PATIENCE)

    def test_by_metadata(self) -> None:
        server = self.server(
            lease_duration='1h', lease_name=f'{PREFIX}mine', on_end='snapshot,delete'
        )
        lease = self.active(server)
        self.assertEqual(f'{PREFIX}mine', lease['name'])
        self.assertEqual(self.alice.project_id, lease['project_id'])
        self.assertEqual(self.alice.sdk.current_user_id, lease['user_id'])
        (line,) = lease['reservations']
        self.assertEqual(
            ('virtual:server', server, ['snapshot', 'delete']),
            (line['resource_type'], line['server_id'], line['on_end']),
        )
        # It is hers to change, as any other, and all managers were notified of it.
        end = soon(20).isoformat()
        lease = self.alice.update_lease(lease['id'], end_date=end)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        until(lambda: self.alice.status(server) == 'GONE', PATIENCE, f'{server} is gone')
        mine = [
            each
            for each in self.alice.leases()
            if each['reservations'][0].get('server_id') == server
        ]
        self.assertEqual([lease['id']], [each['id'] for each in mine])
        found = self.alice.sdk.image.images(owner=self.alice.project_id)
        images = [each.name for each in found]
        self.assertTrue(any(f'{PREFIX}alice' in name for name in images), images)

    def test_by_the_hint_of_2014(self) -> None:
        end = within(3600).strftime('%Y-%m-%d %H:%M')
        server = self.server({'name': f'{PREFIX}then', 'start': 'now', 'end': end})
        lease = self.active(server)
        self.assertEqual(f'{PREFIX}then', lease['name'])
        # She deletes her server, and the lease is over.
        self.alice.sdk.compute.delete_server(server)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)

    def test_what_cannot_be_is_reported(self) -> None:
        server = self.server(lease_end='tomorrow')
        self.assertIn('is not a time', self.metadata(server, 'lease_error'))
        self.assertEqual('ACTIVE', self.alice.status(server))

    def test_a_server_that_no_manager_was_notified_of(self) -> None:
        for name in services.managers(self.cloud):
            self.house.stop(name)
        server = self.server(lease_duration='1h', lease_name=f'{PREFIX}missed', on_end='stop')
        self.assertEqual('ACTIVE', self.alice.settled(server))
        for name in services.managers(self.cloud):
            self.house.start(name)
        self.active(server)

    def test_by_default(self) -> None:
        self.addCleanup(self.configure, MANAGER)
        self.configure(DEFAULT + self.alice.project_id)
        server = self.server()
        lease = self.active(server)
        self.assertEqual(['delete'], lease['reservations'][0]['on_end'])
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease, PATIENCE)
        until(lambda: self.alice.status(server) == 'GONE', PATIENCE, f'{server} is gone')
