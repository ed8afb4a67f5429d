# SPDX-License-Identifier: Apache-2.0

"""Changes of running leases that would take resources away are refused with the cause."""

from __future__ import annotations

from climate import exceptions
from climate.domain.leases import Lease
from climate.domain.requests import ReservationChange
from tests import base
from tests.functional.manager.harness import Site


class TestRunningChanges(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(hosts=4))
        self.lease = self.site.create(hosts=2, end=1000)
        self.assertEqual('ACTIVE', self.site.status_at(10, self.lease))

    def refused(self, **wanted: object) -> exceptions.ClimateError:
        return self.assertRaises(
            exceptions.Conflict, self.site.update, self.site.now(self.lease), **wanted
        )

    def require(self, text: str) -> tuple[ReservationChange, ...]:
        body = {'hypervisor_properties': text}
        return (ReservationChange(id=self.lease.reservations[0].id, body=body),)

    def test_hosts_cannot_be_given_back(self) -> None:
        error = self.refused(hosts=1)
        self.assertEqual(
            'Hosts of a running lease cannot be released: the reservation has 2, more than the '
            'new maximum of 1',
            error.message,
        )
        self.assertEqual((409, 'RESOURCES_IN_USE'), (error.code, error.error_name))

    def test_hosts_cannot_be_exchanged(self) -> None:
        error = self.refused(
            reservations=self.require('["==", "$hypervisor_hostname", "compute-9"]')
        )
        self.assertEqual('RESOURCES_IN_USE', error.error_name)
        self.assertRegex(
            error.message,
            '^Hosts of a running lease cannot be exchanged by a change, and these do not meet the '
            r'new requirements: compute-\d, compute-\d$',
        )

    def test_hosts_that_another_lease_has_are_not_enough(self) -> None:
        def later(start: float) -> Lease:
            return self.site.create(hosts=4, start=start, end=start + 500)

        later(1000)
        error = self.refused(end=1200)
        self.assertEqual('Not enough hosts available', error.message)
        self.assertEqual('NOT_ENOUGH_RESOURCES', error.error_name)

    def test_a_lease_that_has_not_started_gives_back(self) -> None:
        pending = self.site.create(hosts=2, start=500, end=1000)
        self.site.update(pending, hosts=1)
        self.assertEqual(1, len(self.site.allocations(pending)))
