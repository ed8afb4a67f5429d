# SPDX-License-Identifier: Apache-2.0

"""Hosts that fail leave the pool, and come back when they work again."""

from __future__ import annotations

import queue
from collections.abc import Callable

import fixtures

from climate import exceptions
from climate.api.http import microversions
from climate.api.views import collections as view
from climate.domain.health import ASLEEP
from climate.domain.health import HostReport
from climate.domain.resources import Resource
from climate.manager.periodic.health import Monitor
from climate.plugins.host.collection import HOSTS
from climate.plugins.host.plugin import PhysicalHost
from climate.resources.registrar import Registrar
from climate.upkeep.health import HostHealth
from tests import base
from tests import drafts
from tests import services
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.processes import until


class HealthCase(base.TestCase):
    """A site with four hosts, and one who watches over them."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.site = self.useFixture(harness.Site(database=self.kind))
        self.cloud = self.site.cloud
        self.health = HostHealth(self.site.store, self.site.clock, self.site.plugins)

    def look(self) -> bool:
        """Look at the cloud; no two looks are at the same instant."""
        self.pass_time()
        return self.health.look(self.cloud)

    def pass_time(self) -> None:
        self.site.away_until(self.site.seconds() + 1)

    def failed(self) -> list[str]:
        """Return the hosts that are known not to work."""
        hosts = fetch(self.site.store, lambda tx: tx.resources.of_type('physical:host'))
        return [host.name for host in hosts if host.failed_at is not None]


@services.on_each_engine(prefix='TestLook', engines=services.DATABASE_SERVERS)
class TestLook(HealthCase):
    """What Nova says when it is asked."""

    def test_down_disabled_and_back(self) -> None:
        self.assertFalse(self.look())
        for state, status in (('down', 'enabled'), ('up', 'disabled'), ('down', 'disabled')):
            self.cloud.set_hypervisor('compute-2', state=state, status=status)
            self.assertTrue(self.look())
            self.assertEqual(['compute-2'], self.failed())
            self.assertFalse(self.look())
            self.cloud.set_hypervisor('compute-2', state='up', status='enabled')
            self.assertTrue(self.look())
            self.assertEqual([], self.failed())
        self.assertEqual(3, self.log.output.count('compute-2 works again'))

    def test_what_clients_see(self) -> None:
        self.cloud.set_hypervisor('compute-2', state='down')
        self.look()
        hosts = fetch(self.site.store, lambda tx: tx.resources.of_type('physical:host'))
        shown = [view.item(HOSTS, host, microversions.V1_0)['reservable'] for host in hosts]
        self.assertEqual([True, False, True, True], shown)

    def test_a_service_is_not_called_as_its_host(self) -> None:
        self.cloud.add_hypervisor('node-a', service_host='ironic-1')
        registrar = Registrar(self.site.store, {'physical:host': PhysicalHost()}, self.cloud)
        registrar.register_resource(drafts.host('node-a'))
        self.cloud.compute.disable_service('ironic-1', 'a new fan')
        self.look()
        self.assertEqual(['node-a'], self.failed())
        self.assertIn('nova-compute on ironic-1: it is disabled: a new fan', self.log.output)

    def test_a_host_that_is_asleep_has_not_failed(self) -> None:
        self.cloud.compute.disable_service('compute-2', ASLEEP)
        self.look()
        self.cloud.set_hypervisor('compute-2', state='down')
        self.look()
        self.assertEqual([], self.failed())
        self.site.create(3600, 7200, hosts=4)
        # Back up before it is enabled, and then for good.
        self.cloud.set_hypervisor('compute-2', state='up')
        self.look()
        self.cloud.compute.enable_service('compute-2')
        self.look()
        self.assertEqual([], self.failed())

    def test_a_host_that_did_not_wake_has_failed(self) -> None:
        self.cloud.set_hypervisor('compute-2', state='down')
        for reason in ('climate-power: asleep since Monday', 'climate-power: did not wake up'):
            self.cloud.compute.disable_service('compute-2', reason)
            self.look()
            self.assertEqual(['compute-2'], self.failed())

    def test_a_host_that_nova_has_forgotten(self) -> None:
        self.cloud.remove_hypervisor('compute-3')
        self.look()
        self.assertEqual(['compute-3'], self.failed())

    def test_a_nova_that_knows_no_host_is_not_believed(self) -> None:
        for number in range(1, 5):
            self.cloud.remove_hypervisor(f'compute-{number}')
        self.assertFalse(self.look())
        self.assertEqual([], self.failed())

    def test_what_an_operator_disabled_stays_disabled(self) -> None:
        host = Resource(resource_type='physical:host', name='compute-5', disabled=True)
        self.site.store.run(lambda tx: tx.resources.insert(host))
        self.cloud.add_hypervisor('compute-5')
        for state in ('down', 'up'):
            self.cloud.set_hypervisor('compute-5', state=state)
            self.look()
            with self.site.store.reading() as tx:
                found = tx.resources.named('physical:host', 'compute-5')
            self.assertEqual((True, state == 'up'), (found.disabled, found.failed_at is None))

    def test_a_nova_that_does_not_answer_changes_nothing(self) -> None:
        self.cloud.set_hypervisor('compute-2', state='down')
        self.look()
        self.cloud.reachable = False
        self.assertRaises(exceptions.Transient, self.look)
        self.assertEqual(['compute-2'], self.failed())

    def test_a_failure_after_the_look_stays(self) -> None:
        self.health.receive(HostReport(service_host='compute-2', fault='it was forced down'))
        # The answer to a question that was asked before.
        self.assertFalse(self.health.look(self.cloud))
        self.assertEqual(['compute-2'], self.failed())
        self.assertTrue(self.look())
        self.assertEqual([], self.failed())

    def test_news(self) -> None:
        bad = HostReport(service_host='compute-2', fault='it was forced down')
        self.assertTrue(self.health.receive(bad))
        self.assertFalse(self.health.receive(bad))
        self.assertFalse(self.health.receive(HostReport(service_host='elsewhere', fault='x')))
        self.assertEqual(['compute-2'], self.failed())
        self.assertTrue(self.health.receive(HostReport(service_host='compute-2')))
        self.assertEqual(['compute-2'], self.failed())

    def test_nothing_is_asked_where_there_are_no_hosts(self) -> None:
        site = self.useFixture(harness.Site(hosts=0))
        self.assertFalse(HostHealth(site.store, site.clock, site.plugins).look(site.cloud))
        self.assertEqual(0, site.cloud.calls('compute.list_services'))


class NewsListener:
    """Hears what a test says."""

    def __init__(self) -> None:
        self.news: queue.Queue[HostReport] = queue.Queue()
        self.missed: Callable[[], None] = lambda: None

    def start(self, missed: Callable[[], None]) -> None:
        self.missed = missed

    def get(self, seconds: float) -> HostReport | None:
        try:
            return self.news.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self) -> None:
        """There is nothing to stop."""


class TestWatch(HealthCase):
    """The threads of a manager."""

    def setUp(self) -> None:
        super().setUp()
        self.ears = NewsListener()
        self.changes: list[int] = []

    def watch(self, interval: float) -> Monitor:
        facts = {'polling_interval': interval, 'changed': lambda: self.changes.append(1)}
        made = Monitor(self.health, self.cloud, self.ears, **facts)
        self.addCleanup(made.stop, 5.0)
        made.start()
        return made

    def looks(self) -> int:
        return self.cloud.calls('compute.list_services')

    def test_asks_again_and_again(self) -> None:
        self.watch(0.05)
        self.cloud.set_hypervisor('compute-2', state='down')
        until('it is seen to fail', lambda: self.failed() == ['compute-2'])
        self.pass_time()
        self.cloud.set_hypervisor('compute-2', state='up')
        until('it is seen to work', lambda: not self.failed())
        until('each change was sent once', lambda: self.changes == [1, 1])

    def test_continues_after_an_outage_of_nova(self) -> None:
        self.cloud.reachable = False
        self.watch(0.05)
        until('it is missed', lambda: 'could not be watched' in self.log.output)
        self.cloud.set_hypervisor('compute-2', state='down')
        self.cloud.heal()
        until('it is seen to fail', lambda: self.failed() == ['compute-2'])

    def test_without_polling_it_looks_where_there_is_reason_to(self) -> None:
        self.watch(0)
        until('it has looked', lambda: self.looks() == 1)
        self.cloud.set_hypervisor('compute-2', state='down')
        self.ears.news.put(HostReport(service_host='compute-2', fault='it was forced down'))
        until('it has failed', lambda: self.failed() == ['compute-2'])
        until('it has looked', lambda: self.looks() == 2)
        self.cloud.set_hypervisor('compute-2', state='up')
        self.pass_time()
        self.ears.news.put(HostReport(service_host='compute-2'))
        until('it works', lambda: not self.failed())
        self.cloud.set_hypervisor('compute-3', state='down')
        self.ears.missed()
        until('what was missed is seen', lambda: self.failed() == ['compute-3'])

    def test_a_slow_nova_does_not_hold_up_the_news(self) -> None:
        self.cloud.slow('compute.list_services', 3.0)
        self.watch(0)
        self.ears.news.put(HostReport(service_host='compute-2', fault='it was forced down'))
        until('it has failed', lambda: self.failed() == ['compute-2'])
