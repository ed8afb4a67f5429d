# SPDX-License-Identifier: Apache-2.0

"""The proxy for openstacksdk and ``openstack lease``, against a running service."""

from __future__ import annotations

import pathlib
import tempfile
import textwrap
from typing import Any

import fixtures
import openstack
import yaml
from openstack import exceptions

from climate.client import times
from climate.client.sdk import errors
from climate.client.sdk import service as sdk_service
from climate.client.sdk.proxy import ReservationProxy
from climate.clock import SystemClock
from climate.heat import bodies
from climate.heat import booking
from climate.heat import failures
from tests.architecture import ROOT
from tests.functional import clients
from tests.narrowing import present

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
LEASE_FILE = """
start_date: 2031-01-31 09:00
duration: 1h30m
reservations:
  - resource_type: physical:host
    min: 1
    max: 1
    resource_properties: vcpus >= 2 and not rack in (A, B)
"""

setUpModule = clients.begin
_now = SystemClock.now


class TestSDK(clients.ClientCase):
    """``conn.reservation``."""

    def connect(self, **settings: Any) -> ReservationProxy:
        return clients.connect(self, **settings)

    def test_a_lease_from_creation_to_deletion(self) -> None:
        proxy = self.connect()
        lease = proxy.create_lease(name='a', start_date='now', duration='2h', reservations=[HOST])
        self.assertEqual(['a'], [each.name for each in proxy.leases(limit=1)])
        self.assertEqual([], [each.name for each in proxy.leases(status='TERMINATED')])
        active = proxy.wait_for_lease(lease, interval=0.1)
        self.assertEqual(('ACTIVE', False), (active.status, active.is_degraded))
        found = present(proxy.find_lease('a'))
        self.assertEqual((lease.id, None), (found.id, proxy.find_lease('b')))
        self.assertEqual('b', proxy.update_lease(active, name='b').name)
        self.assertGreater(proxy.lease_extension(lease)['end_date'], lease.end_date)
        self.assertEqual('start', proxy.lease_history(lease).steps[-1]['effect'])
        taken = [each for each in proxy.allocations(lease_id=lease.id) if each.reservations]
        self.assertEqual(1, len(taken))
        self.assertIn(taken[0].resource_name, {each.name for each in proxy.resources()})
        proxy.delete_lease(lease)
        proxy.wait_for_deleted_lease(lease, interval=0.1)
        self.assertRaises(errors.NotFoundRefusal, proxy.get_lease, lease)
        self.assertRaises(exceptions.NotFoundException, proxy.get_lease, lease)

    def test_offers_and_availability(self) -> None:
        proxy = self.connect()
        proxy.create_lease(name='a', start_date='now', duration='2h', reservations=[HOST])
        three = {**HOST, 'min': 3, 'max': 3}
        error = self.assertRaises(
            errors.ConflictRefusal,
            proxy.create_lease,
            name='x', start_date='now', duration='2h', reservations=[three],
        )  # fmt: skip
        self.assertEqual('Not enough hosts available', error.message)
        self.assertRegex(str(error), r'^Not enough hosts available \(req-[-0-9a-f]{36}\)$')
        self.assertEqual([(3, 2)], [(each['matched'], each['free']) for each in error.reasons])
        self.assertEqual('soonest', error.alternatives[0]['reason'])
        offer, *_ = proxy.offers([three], duration='1h')
        self.assertEqual(offer.start_date, proxy.get_offer(offer).start_date)
        self.assertEqual(offer.end_date, proxy.create_lease(name='b', offer_id=offer.id).end_date)
        proxy.delete_offer(proxy.offers([three], duration='1h')[0])
        found = proxy.availability('physical:host', step='1h')
        self.assertEqual(2, found.groups[0]['whole']['free'][0])
        rehearsed = proxy.rehearse_lease(
            name='x', start_date='now', duration='1h', reservations=[HOST]
        )
        self.assertEqual(1, rehearsed['reservations'][0]['resources'])
        self.assertEqual(2, len(self.leases()))

    def test_hosts(self) -> None:
        proxy = self.connect()
        self.assertEqual(3, len(list(proxy.hosts())))
        host = proxy.get_host('1')
        self.assertEqual('yes', proxy.update_host(host, gpu='yes').gpu)
        proxy.delete_host(host)
        self.assertEqual(2, len(list(proxy.resources(type='physical:host', limit=1))))
        created = proxy.create_host(host.hypervisor_hostname)
        self.assertEqual((True, host.vcpus), (created.is_reservable, created.vcpus))

    def test_an_old_service_is_named(self) -> None:
        for microversion, call in (
            ('1.3', lambda proxy: proxy.offers([HOST], duration='1h')),
            ('1.1', lambda proxy: proxy.resources()),
            ('1.0', lambda proxy: proxy.create_lease(name='x', duration='1h')),
        ):
            proxy = self.connect(reservation_default_microversion=microversion)
            self.assert_error(errors.ServiceTooOld, f'but you chose {microversion}', call, proxy)
        self.assertEqual([], self.leases())

    def test_a_program_can_register_the_proxy(self) -> None:
        connection = clients.connection(self)
        sdk_service.register(connection)
        self.assertEqual([], list(connection.reservation.leases()))

    def test_the_hook_in_clouds_yaml(self) -> None:
        page = (ROOT / 'doc/source/user/sdk.rst').read_text()
        printed = page.partition('.. code-block:: yaml\n\n')[2].partition('\n\n')[0]
        clouds = yaml.safe_load(textwrap.dedent(printed))
        mine = clouds['clouds']['mine']
        mine |= {'auth_type': 'none', 'auth': {'endpoint': self.service.endpoint}}
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'clouds.yaml').write_text(yaml.safe_dump(clouds))
        path = str(folder / 'clouds.yaml')
        self.useFixture(fixtures.EnvironmentVariable('OS_CLIENT_CONFIG_FILE', path))
        connection = self.closing(openstack.connect(cloud='mine'))
        self.assertIsInstance(connection.reservation, ReservationProxy)
        self.assertEqual(3, len(list(connection.reservation.hosts())))


class TestStackBooking(clients.ClientCase):
    """A lease as a Heat template describes it."""

    def test_the_start_is_now_or_else_that_of_the_best_offer(self) -> None:
        proxy = clients.connect(self)
        three = {**HOST, 'min': 3, 'max': 3, 'label': 'all'}
        wanted = {'name': 'x', 'duration': '1h', 'reservations': [three]}
        first = booking.book(proxy, wanted, _now)
        self.assertLess(abs(times.read(first.start_date) - _now()).total_seconds(), 60)
        second = booking.book(proxy, wanted, _now)
        self.assertLessEqual(times.read(first.end_date), times.read(second.start_date))
        names = booking.names_by_reservation(proxy, second.id)
        self.assertEqual({second.reservations[0]['id']: 3}, {k: len(v) for k, v in names.items()})
        late = {**wanted, 'latest': second.end_date}
        error = self.assertRaises(booking.NoOffer, booking.book, proxy, late, _now)
        self.assertIn('There is no offer of 1h until', str(error))
        self.assertIn('Not enough hosts available', failures.describe(error))
        fixed = {**wanted, 'start_date': first.start_date}
        self.assertRaises(errors.RefusedRequest, booking.book, proxy, fixed, _now)
        wrong = {**wanted, 'duration': 'long'}
        self.assertRaises(errors.BadRequestRefusal, booking.book, proxy, wrong, _now)

    def test_a_flexible_lease_is_changed_in_place(self) -> None:
        proxy = clients.connect(self)
        three = {**HOST, 'min': 3, 'max': 3}
        proxy.create_lease(name='a', start_date='now', duration='2h', reservations=[three])
        soon = {'name': 'b', 'duration': '1h', 'firm_before': '90m', 'reservations': [three]}
        lease = booking.book(proxy, soon, _now)
        self.assertEqual(('PENDING', 5400), (lease.status, lease.firm_before))
        length = times.read(lease.end_date) - times.read(lease.start_date)
        self.assertEqual(3600, length.total_seconds())
        shown = proxy.json('GET', f'/leases/{lease.id}')['lease']
        after = {**soon, 'duration': '2h', 'firm_before': '2h', 'latest': '2031-01-01T00:00:00Z'}
        changed = proxy.update_lease(lease.id, **present(bodies.change(soon, after, shown)))
        self.assertEqual(('2031-01-01T00:00:00Z', 7200), (changed.latest, changed.firm_before))
        length = times.read(changed.end_date) - times.read(changed.start_date)
        self.assertEqual(7200, length.total_seconds())

    def test_a_preemptible_lease_yields_as_the_template_says(self) -> None:
        proxy = clients.connect(self)
        slices = {
            'name': 'b', 'duration': '4h', 'preemptible': True, 'yield': 'end',
            'min_duration': '90m', 'preempt_own': True, 'reservations': [HOST],
        }  # fmt: skip
        lease = booking.book(proxy, slices, _now)
        found = lease.preemptible, lease.yields, lease.min_duration
        self.assertEqual((True, 'end', 5400), found)

    def test_a_lease_waits(self) -> None:
        proxy = clients.connect(self)
        three = {**HOST, 'min': 3, 'max': 3}
        fixed = proxy.create_lease(name='a', start_date='now', duration='2h', reservations=[three])
        waits = {
            'name': 'b', 'duration': '1h', 'latest': fixed.end_date, 'wait': True,
            'wait_until': fixed.end_date, 'reservations': [three],
        }  # fmt: skip
        lease = booking.book(proxy, waits, _now)
        self.assertEqual(('WAITING', fixed.end_date), (lease.status, lease.wait_until))
        shown = proxy.json('GET', f'/leases/{lease.id}')['lease']
        after = {**waits, 'duration': '30m', 'latest': None}
        changed = proxy.update_lease(lease.id, **present(bodies.change(waits, after, shown)))
        self.assertEqual(('WAITING', None), (changed.status, changed.latest))
        length = times.read(changed.end_date) - times.read(changed.start_date)
        self.assertEqual(1800, length.total_seconds())
        two = {'id': lease.reservations[0]['id'], 'min': 2, 'max': 2}
        changed = proxy.update_lease(lease.id, wait_until=None, reservations=[two])
        self.assertEqual((None, 2), (changed.wait_until, changed.reservations[0]['max']))
        proxy.delete_lease(fixed)
        proxy.wait_for_lease(lease, 'ACTIVE', 1, 60)


class TestCommands(clients.ClientCase):
    """``openstack lease``."""

    def test_a_lease_from_creation_to_deletion(self) -> None:
        lease = self.json(
            "lease create a --hosts 1-2 --where 'vcpus >= 2' --instances 2 --vcpus 1 "
            '--memory 1G --for 4h --wait'
        )
        self.assertEqual('ACTIVE', lease['status'])
        hosts, instances = lease['reservations']
        self.assert_has(hosts, min=1, max=2, resource_properties='[">=", "$vcpus", "2"]')
        self.assertEqual((2, 1024), (instances['amount'], instances['memory_mb']))
        listed = self.run_command('lease list --status active').stdout
        self.assertRegex(listed, r'\| a +\| ACTIVE \|.* CES?T \| 1-2 hosts ')
        (row,) = self.json('lease list --type physical:host')
        self.assertEqual(lease['id'], row['ID'])
        self.assertEqual([], self.json('lease list --type virtual:instance --status PENDING'))
        end = lease['end_date']
        later = self.json('lease extend a --for 1h')['end_date']
        self.assertEqual(end, self.json('lease shorten a --by 60m')['end_date'])
        self.assertGreater(later, end)
        self.assertGreater(self.json('lease extend a --as-far-as-possible')['end_date'], later)
        renamed = self.json('lease set a --name b --until +30d')
        self.assertEqual(('b', True), (renamed['name'], renamed['end_date'] > later))
        self.assertRegex(self.run_command('lease show b').stdout, r'end_date +\| .* CES?T')
        self.assertEqual('ACTIVE', self.json('lease wait b --timeout 10s')['status'])
        error = self.refusal('lease wait b --status TERMINATED --timeout 1s')
        self.assertIn("Lease 'b' is ACTIVE", error)
        self.run_command('lease delete b --wait')
        self.assertEqual([], self.leases())

    def test_dates_and_files(self) -> None:
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
            file.write(LEASE_FILE)
            file.flush()
            lease = self.json(f'lease create f --file {file.name}')
            other = self.json(f'lease create g --file {file.name} --for 1h')
        self.assertEqual(
            ('2031-01-31T08:00:00Z', '2031-01-31T09:30:00Z', '2031-01-31T09:00:00Z'),
            (lease['start_date'], lease['end_date'], other['end_date']),
        )
        self.assertIn('["not", ["or"', lease['reservations'][0]['resource_properties'])
        rehearsed = self.json(
            "lease create x --hosts 1 --at '2031-07-31 09:00' --for 90m --dry-run"
        )
        self.assertEqual('2031-07-31T08:30:00Z', rehearsed['end_date'])
        self.assertEqual(2, len(self.leases()))
        table = self.run_command('lease show g').stdout
        self.assertRegex(table, r'notify_before_start +\| default .*\n.*notices +\| default ')
        changed = self.json('lease set g --notice error --notice before_end --notify-before 90m')
        self.assert_has(changed, notices=['before_end', 'error'], notify_before_start=[5400])
        table = self.run_command('lease show g').stdout
        self.assertRegex(table, r'notify_before_start +\| 1h30m ')
        self.assertRegex(table, r'notices +\| before_end, error ')
        table = self.run_command('lease set g --notice none --notify-before none').stdout
        self.assertRegex(table, r'notify_before_start +\| none ')
        self.assertRegex(table, r'notices +\| none ')

    def test_refusals_and_offers(self) -> None:
        self.json('lease create a --hosts 2 --for 2h')
        error = self.refusal("lease create 'b $c' --hosts 2 --for 2h")
        self.assertTrue(error.rstrip().endswith("openstack lease create 'b $c' --offer ID"), error)
        self.assertRegex(error, r'Not enough hosts available \(req-.*\)\n  hosts: 3 match, 1 free')
        self.assertRegex(error, r'  1\. .* CES?T: 2 hosts \(later\)\n     offer ')
        offer = error.split('offer ')[1].split()[0]
        self.assertEqual('b', self.json(f'lease create b --offer {offer}')['name'])
        soonest = self.json('lease offer list --hosts 3 --for 1h --limit 1')[0]
        later = self.json('lease create c --hosts 3 --for 1h --within 7d')
        self.assertEqual((soonest['Start'], 'c'), (later['start_date'], later['name']))
        held = self.json('lease offer list --hosts 1 --for 1h --limit 1 --hold 2m')[0]
        self.run_command(f'lease offer delete {held["ID"]}')
        self.assertEqual(404, self.service.ask('GET', f'/offers/{held["ID"]}', version='1.4')[0])
        rehearsed = self.refusal('lease create d --hosts 3 --for 2h --dry-run')
        self.assertIn('3 match, 1 free', rehearsed)
        line = f'lease create d --offer {offer} --for 9h'
        self.assertIn('--offer has a period', self.refusal(line))

    def test_a_terminal_asks_which_offer(self) -> None:
        self.json('lease create a --hosts 2 --for 2h')
        status, written = self.on_terminal('lease create b --hosts 2 --for 2h', b'9\n1\n')
        self.assertEqual(2, written.count('Take which offer? [1-2, w, Enter for none]'), written)
        self.assertEqual(0, status, written)
        self.assertEqual(['a', 'b'], sorted(each['name'] for each in self.leases()))

    def test_a_terminal_offers_to_wait(self) -> None:
        first = self.json("lease create a --hosts 3 --at 'tomorrow 12:00' --for 6h")
        line = "lease create b --hosts 2 --at 'tomorrow 13:00' --for 2h"
        status, written = self.on_terminal(line, b'w\n', columns=200)
        self.assertEqual(0, status, written)
        self.assertRegex(written, r'  w\. wait: begins at .* 18:00.* as it looks now, or earlier')
        lease = self.json('lease show b')
        self.assertEqual(
            [first['end_date'], 'PENDING'], [lease[key] for key in ('start_date', 'status')]
        )
        self.assertLess(lease['earliest'], lease['start_date'])
        window = "--not-before 'tomorrow 12:00' --by 'tomorrow 18:00'"
        status, written = self.on_terminal(
            f'lease create c --hosts 3 {window} --for 2h', b'w\n', columns=200
        )
        self.assertEqual(0, status, written)
        self.assertIn('w. wait: there is no room in its window yet', written)
        self.assertEqual('WAITING', self.json('lease show c')['status'])

    def test_availability(self) -> None:
        self.json('lease create a --hosts 2 --for 2h')
        rows = self.json('lease availability show physical:host --step 12h --for 2d --vcpus 4')
        self.assertIn([row['whole'] for row in rows][:2], (['1 of 3'] * 2, ['1 of 3', '3 of 3']))
        self.assertEqual(('4 of 12', '12 of 12'), (rows[0]['slots'], rows[-1]['slots']))
        self.assertEqual(rows[0]['End'], rows[1]['Start'])
        line = 'lease availability show physical:host --step 12h --for 2d --chart'
        chart = self.run_command(line).stdout
        self.assertRegex(chart, r'whole ▕▃.*█▏ 1-3 of 3')
        self.assertNotIn('+--', chart)
        self.assertEqual(rows[0]['whole'], self.json(line)[0]['whole'])

    def test_a_file_keeps_its_fields_within_a_period(self) -> None:
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
            file.write(f'{LEASE_FILE}notices: [error]\nnotify_before_start: [900]\n')
            file.flush()
            lease = self.json(f'lease create f --file {file.name} --within 7d')
            file.write('reservation: []\n')
            file.flush()
            error = self.refusal(f'lease create g --file {file.name}')
        self.assertIn('unknown field reservation', error)
        found = clients.connect(self).get_lease(lease['id'])
        self.assertEqual((['error'], [900]), (found.notices, found.notify_before_start))
        length = times.read(found.end_date) - times.read(found.start_date)
        self.assertEqual(5400, length.total_seconds())

    def test_a_wrong_option_is_no_refusal(self) -> None:
        for line, text in (
            ('lease create x --hosts two --for 4h', "argument --hosts: 'two' is no number"),
            ("lease create x --hosts 1 --where 'a' --for 4h", 'argument --where: column 2:'),
            ('lease create x --vcpus 1 --for 4h', 'argument --vcpus: it must follow --instances'),
            ("lease show ''", 'argument LEASE: a name or an ID is required'),
            ("lease delete ''", 'argument LEASE: a name or an ID is required'),
            ("lease offer show ''", 'argument OFFER: a name or an ID is required'),
            ("lease feed delete ''", 'argument FEED: a name or an ID is required'),
            ('lease create x --offer ../leases/1', "argument --offer: '../leases/1' is no ID"),
            ("reservable resource type show ''", 'argument NAME: a name or an ID is required'),
            ('lease wait x --status FOO', "argument --status: invalid choice: 'FOO'"),
            ('lease watch x --status FOO', "argument --status: invalid choice: 'FOO'"),
            ('lease availability show physical:host --vcpus x', "argument --vcpus: 'x' is no"),
            ('lease availability show physical:host --memory 1Q', "--memory: '1Q' is no size"),
        ):
            done = self.run_command(line, fails=True)
            self.assertIn(text, done.stderr)
            self.assertEqual(2, done.returncode, line)

    def test_a_name_with_the_signs_of_an_address(self) -> None:
        for name in ('#1', '../feeds', 'why?'):
            self.assertIn('There is no lease', self.refusal(f"lease show '{name}'"))
            made = self.json(f"lease create '{name}' --hosts 1 --at +1d --for 1h")
            self.assertEqual(made['id'], self.json(f"lease show '{name}'")['id'])
            self.run_command(f"lease delete '{name}'")

    def test_a_lease_ends_only_earlier(self) -> None:
        self.json('lease create a --hosts 1 --at +1d --for 4h')
        self.assertIn('has not started; openstack lease delete', self.refusal('lease end a --now'))
        self.assertIn('already', self.refusal('lease end a --at +9d'))
        self.json('lease end a --at +25h')

    def test_what_is_wrong_is_explained(self) -> None:
        for line, text in (
            ("lease create x --hosts 1 --where 'vcpus >> 3' --for 4h", '--where: column 8:'),
            ('lease create x --hosts 1', 'An end is required: --for 4h'),
            ('lease create x --for 4h', 'A reservation is required'),
            ('lease create x --hosts 1 --for 4', "Cannot read the duration '4'"),
            (
                "lease create x --hosts 1 --at 'some day' --for 4h",
                "Cannot read the time 'some day'; write now",
            ),
            ('lease create x --hosts 1 --within 7d', '--within needs --for'),
            ('lease create x --file /nowhere', '/nowhere: '),
            ('lease show nothing', "There is no lease 'nothing'"),
            ('lease set x', 'Nothing to change'),
        ):
            self.assertIn(text, self.refusal(line))
        self.assertEqual([], self.leases())

    def test_help(self) -> None:
        done = self.run_command('lease create --help').stdout
        self.assertIn('N new volumes, such as 500G:ssd=2', done)

    def test_versions(self) -> None:
        old = {'OS_RESERVATION_API_VERSION': '1.0'}
        lease = self.json('lease create a --hosts 1 --at +9d --for 1h', **old)
        longer = self.json('lease extend a --for 1h', **old)
        self.assertGreater(longer['end_date'], lease['end_date'])
        offers = 'lease offer list --hosts 1 --for 1h'
        self.assertIn('1.4 is required for offers, but you chose 1.0', self.refusal(offers, **old))
        self.assertEqual(3, len(self.json(f'--os-reservation-api-version 1.4 {offers}')))
        unknown = self.refusal('lease list', OS_RESERVATION_API_VERSION='2')
        self.assertIn('There is no version 2', unknown)

    def test_the_stock_client_works_next_to_it(self) -> None:
        lease = self.json('lease create a --hosts 1 --for 1h')
        self.assertIn(lease['id'], self.run_command('reservation lease show a -f json').stdout)
