# SPDX-License-Identifier: Apache-2.0

"""What managers and operators do while something is held, and afterwards."""

from __future__ import annotations

import contextlib
import io
import pathlib
from typing import Any

import sqlalchemy as sa
from fixtures import TempDir

from climate.cloud.base import Flavor
from climate.cmd import manage
from climate.db.schema import tables
from climate.enforcement.filters import Filters
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.periodic.repair import Repair
from climate.upkeep.rehoming import Rehoming
from tests.functional.test_holds import ALL_HOSTS
from tests.functional.test_holds import HoldsCase
from tests.functional.test_holds import MINUTE
from tests.functional.test_offers import Counts
from tests.functional.test_offers import HOSTS
from tests.functional.test_offers import PERIOD


class TestUpkeep(HoldsCase):
    """Repairs, healing, and what operators see."""

    def repaired(self) -> list[str]:
        """Return what a repair finds."""
        place = self.service
        claims = ClaimKeeper(place.store, place.clock, 'manager', 10.0)
        repair = Repair(
            place.store, place.plugins, place.cloud, place.clock, LeasingSettings(), claims
        )
        return [one.what for one in repair.run()]

    def test_it_is_no_lease(self) -> None:
        """Whatever looks for the leases of a resource, or counts them, finds none."""
        self.start()
        offer = self.held(ALL_HOSTS)
        with self.service.store.reading() as tx:
            names = [tx.leases.ids_with('physical:host', f'compute-{one}') for one in (1, 2, 3, 4)]
            self.assertEqual([[]] * 4, names)
            self.assertEqual(0, tx.projects.leases('blue'))
            self.assertFalse(tx.leases.given_up(offer['id']))
            self.assertEqual([], tx.leases.requests_given_up('physical:host', tx.now))

    def test_a_filter_that_waits(self) -> None:
        """It is asked when an offer is taken, not when that is held."""
        counts = Counts()
        self.start(filters=Filters({'counts': counts}))
        offer = self.held(ALL_HOSTS)
        self.assertEqual(0, counts.asked)
        before = self.allocations()
        self.check_status(201, self.take(offer))
        self.assertEqual((1, before), (counts.asked, self.allocations()))

    def test_a_repair(self) -> None:
        """It leaves a hold alone, and releases it afterwards."""
        self.start()
        offer = self.held(ALL_HOSTS)
        before = self.allocations()
        self.assertEqual([], self.repaired())
        self.assertEqual(before, self.allocations())
        self.service.clock.advance(2 * MINUTE)
        self.assertEqual([], self.repaired())
        self.assertEqual([], self.allocations())
        self.service.clock.advance(120 * MINUTE)
        self.assertEqual([], self.repaired())
        self.assertEqual([], self.service.rows()['offers'])
        self.check_status(404, self.sent('GET', f'offers/{offer["id"]}', None))

    def test_a_hold_without_its_offer(self) -> None:
        """Whatever removed that, a repair finds the rest."""
        self.start()
        self.held(HOSTS)
        self.service.store.run(lambda tx: tx.session.execute(sa.delete(tables.OFFERS)))
        (found,) = self.repaired()
        self.assertIn('has ended and still has physical:host', found)
        self.assertEqual([], self.allocations())

    def test_healing(self) -> None:
        """A hold does not move; the lease that takes it does."""
        place = self.start()
        offer = self.held(HOSTS)
        ((resource_id, *_),) = self.allocations()
        maintenance = {'resource_id': str(resource_id), **PERIOD}
        self.check_status(201, self.sent('POST', 'maintenances', maintenance, 'root:ops:admin'))
        rehoming = Rehoming(place.store, place.plugins, LeasingSettings())
        self.assertEqual(0, rehoming.round(place.cloud))
        self.assertEqual(resource_id, self.allocations()[0][0])
        self.check_status(201, self.take(offer))
        self.assertEqual(resource_id, self.allocations()[0][0])
        self.assertEqual(1, rehoming.round(place.cloud))
        self.assertNotEqual(resource_id, self.allocations()[0][0])

    def test_healing_into_what_was_held(self) -> None:
        place = self.start()
        lease = self.check_status(201, self.sent('POST', 'leases', self.lease([HOSTS])))['lease']
        ((resource_id, *_),) = self.allocations()
        self.held({**HOSTS, 'min': 3, 'max': 3})
        self.service.store.run(lambda tx: tx.failures.fail([resource_id]))
        rehoming = Rehoming(place.store, place.plugins, LeasingSettings(heal_horizon=None))
        rehoming.round(place.cloud)
        self.assertIn(resource_id, [row[0] for row in self.allocations()])
        self.service.clock.advance(2 * MINUTE)
        self.assertEqual(1, rehoming.round(place.cloud))
        (moved,) = self.allocations()
        self.assertNotEqual(resource_id, moved[0])
        self.check_status(200, self.sent('GET', f'leases/{lease["id"]}', None))

    def test_what_changes_in_the_cloud(self) -> None:
        """A flavor that is another one is not what was held."""
        self.start()
        offer = self.held({'resource_type': 'flavor:instance', 'flavor_id': '1', 'amount': 1})
        before = self.allocations()
        compute = self.service.cloud.compute
        compute.delete_flavor('1')
        compute.create_flavor(Flavor(id='1', name='m1.tiny', vcpus=4, memory_mb=64, disk_gb=1))
        refused = self.check_status(409, self.take(offer))
        self.assertIn('has changed since', refused['error_message'])
        self.assertEqual(before, self.allocations())

    def test_the_audit_trail(self) -> None:
        self.start()
        audited: list[dict[str, Any]] = []
        self.service.audit = audited.append
        self.service.app = self.service.made()
        offer = self.held(HOSTS)
        self.check_status(204, self.sent('DELETE', f'offers/{offer["id"]}', None))
        self.assertEqual(
            [('create', 'success', offer['id']), ('delete', 'success', offer['id'])],
            [(one['action'], one['outcome'], one['target']['id']) for one in audited],
        )

    def test_a_list_for_operators(self) -> None:
        self.start()
        offer = self.held(ALL_HOSTS)
        path = pathlib.Path(self.useFixture(TempDir()).path) / 'climate.conf'
        connection = self.service.conf.database.connection
        path.write_text(f'[database]\nconnection = {connection}\n')
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(0, manage.main(['--config-file', str(path), 'hold', 'list']))
        self.assertEqual(
            f'{offer["id"]} of project blue holds 4 physical:host from 2030-02-01T00:00:00Z'
            ' to 2030-02-01T02:00:00Z until 2030-01-01T12:02:30Z\n',
            printed.getvalue(),
        )
