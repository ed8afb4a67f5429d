# SPDX-License-Identifier: Apache-2.0

"""Commands for operators, and those that look at leases, against a running service."""

from __future__ import annotations

import functools
import re
import subprocess

from climate.client.sdk import errors
from climate.client.sdk.proxy import ReservationProxy
from climate.client.sdk.resources import ReservableResource
from tests import commands
from tests.functional import clients

setUpModule = functools.partial(clients.begin, f'{clients.OPTIONS}, network')


def _named(resource: ReservableResource) -> tuple[str, str | None]:
    return resource.name, resource.degraded


class TestResourceCommands(clients.ClientCase):
    """``openstack reservable resource``, its types, and ``openstack maintenance``."""

    def test_a_resource(self) -> None:
        listed = self.json('reservable resource list --type physical:host')
        self.assertEqual(['compute-1', 'compute-2', 'compute-3'], [row['Name'] for row in listed])
        line = 'reservable resource set compute-1 --property rack=A --property room=1'
        self.assertEqual({'rack': 'A', 'room': '1'}, self.json(line)['properties'])
        off = self.json('reservable resource set compute-1 --no-property room --disable')
        self.assertEqual(({'rack': 'A'}, 'disabled'), (off['properties'], off['state']))
        self.assertIn('2 match, 2 free', self.refusal('lease create x --hosts 3 --for 1h'))
        on = self.json('reservable resource set 1 --no-property rack --enable')
        self.assertEqual(({}, 'available'), (on['properties'], on['state']))
        self.run_command('reservable resource delete compute-3')
        self.assertEqual(2, len(self.json('reservable resource list --type physical:host')))
        made = self.json('reservable resource create physical:host compute-3')
        self.assertEqual('available', made['state'])
        shown = self.run_command('reservable resource show compute-3').stdout
        self.assertIn('VCPU 16', shown)
        self.assertRegex(shown, r'\| +\| memory_mb=65536 +\|')
        self.assertRegex(
            self.refusal('reservable resource show nothing'), "There is no resource 'nothing'"
        )

    def test_a_resource_without_a_name(self) -> None:
        made = self.json(
            'reservable resource create network --attribute network_type=vlan '
            '--attribute physical_network=physnet1 --attribute segment_id=1207'
        )
        self.assertEqual(
            ('vlan:physnet1:1207', 1207), (made['name'], made['attributes']['segment_id'])
        )
        self.run_command('reservable resource delete vlan:physnet1:1207')
        error = self.refusal('reservable resource create network --attribute network_type=vlan')
        self.assertIn('segment_id', error)

    def test_properties(self) -> None:
        self.json('reservable resource set compute-1 --property rack=A')
        listed = self.json('reservable resource property list --type physical:host')
        self.assertIn({'Property': 'rack', 'Private': False, 'Values': ['A']}, listed)
        names = [each['Property'] for each in listed]
        self.assertLess({'rack', 'vcpus', 'trait:HW_CPU_X86_AVX2'}, set(names))
        table = self.run_command('reservable resource property list --type physical:host').stdout
        self.assertRegex(table, r'\| rack +\| False +\| A \(1\) ')
        old = {'OS_RESERVATION_API_VERSION': '1.6'}
        plain = self.json('reservable resource property list --type physical:host', **old)
        self.assertEqual([{'Property': 'rack', 'Private': False, 'Values': ['A']}], plain)
        hidden = self.json('reservable resource property set rack --private --type physical:host')
        self.assertEqual({'property': 'rack', 'private': True}, hidden)
        listing = 'reservable resource property list --type physical:host'
        self.assertNotIn('rack', [each['Property'] for each in self.json(listing)])
        private = [
            each['Property'] for each in self.json(f'{listing} --private') if each['Private']
        ]
        self.assertEqual(['rack'], private)
        self.json('reservable resource property set rack --public --type physical:host')
        self.json('reservable resource set compute-1 --no-property rack')

    def test_a_type(self) -> None:
        made = self.json(
            'reservable resource type create custom:seat --counted --noun seats --class SEAT=10'
        )
        self.assertEqual((False, 10), (made['exclusive'], made['inventories']['SEAT']['total']))
        names = [row['Name'] for row in self.json('reservable resource type list')]
        self.assertIn('custom:seat', names)
        self.assertNotIn('None', self.run_command('reservable resource type list').stdout)
        changed = self.json('reservable resource type set custom:seat --description Seats')
        self.assertEqual('Seats', changed['description'])
        self.json('reservable resource create custom:seat cae --inventory SEAT=4')
        lease = self.json('lease create a --custom seat=3 --for 1h')
        self.assertEqual(3, lease['reservations'][0]['amount'])
        for line, text in (
            ('lease list', '| 3 seats '),
            ('lease show a', '| 3 seats '),
            ('lease offer list --custom seat=1 --for 1h', '| 1 seat '),
        ):
            self.assertIn(text, self.run_command(line).stdout)
        refused = self.refusal('lease create b --custom seat=2 --for 1h')
        self.assertRegex(refused, r'\n  seats: 4 match, 1 free')
        self.assertRegex(refused, r': 2 seats \(later\)')
        self.assertIn('it has reservations', self.refusal('reservable resource delete cae'))
        self.run_command('lease delete a --wait')
        self.run_command('reservable resource delete cae')
        self.assertIn('amount', self.json('reservable resource type show custom:seat')['fields'])
        self.run_command('reservable resource type delete custom:seat')
        names = [row['Name'] for row in self.json('reservable resource type list')]
        self.assertNotIn('custom:seat', names)

    def test_a_maintenance(self) -> None:
        made = self.json('maintenance create compute-2 --at +1d --for 12h --reason fan')
        self.assertEqual(('compute-2', 'fan'), (made['resource_name'], made['reason']))
        (listed,) = self.json('maintenance list')
        self.assertEqual((made['id'], 'fan'), (listed['ID'], listed['Reason']))
        self.assertEqual(made, self.json(f'maintenance show {made["id"]}'))
        chart = self.run_command('lease calendar --hosts --for 3d').stdout
        self.assertRegex(chart, r'compute-2 ▕ +x+ +▏')
        longer = self.json(f'maintenance set {made["id"]} --for 1d --reason fans')
        self.assertEqual((made['start_date'], 'fans'), (longer['start_date'], longer['reason']))
        moved = self.json(f'maintenance set {made["id"]} --at +2d --until +3d')
        self.assertGreater(moved['start_date'], made['end_date'])
        self.assertIn('Nothing to change', self.refusal(f'maintenance set {made["id"]}'))
        old = self.refusal(
            f'maintenance set {made["id"]} --reason x', OS_RESERVATION_API_VERSION='1.4'
        )
        self.assertIn('1.5 is required for changes of maintenances, but you chose 1.4', old)
        self.run_command(f'maintenance delete {made["id"]}')
        self.assertEqual([], self.json('maintenance list'))
        error = self.refusal(f'maintenance delete {made["id"]}')
        self.assertRegex(error, r'There is no .* \(req-[-0-9a-f]{36}\)\n$')


class TestLeaseCommands(clients.ClientCase):
    """What is done for leases, when they are, and how operators end and move them."""

    def test_history_and_end(self) -> None:
        self.json('lease create a --hosts 1 --for 4h --wait')
        rows = self.json('lease history a')
        self.assertIn(('start', 'done'), {(row['What'], row['State']) for row in rows})
        self.assertIn(('end_lease', 'scheduled'), {(row['What'], row['State']) for row in rows})
        self.json("lease end a --now --reason 'power cut'")
        ended = self.json('lease wait a --status TERMINATED')
        self.assertLess(ended['end_date'], rows[-1]['Time'])
        self.assertEqual('power cut', ended['end_reason'])
        found = [row['Name'] for row in self.json('lease list --ended --all-projects')]
        self.assertEqual(['a'], found)
        self.assertEqual([], self.json('lease list --project another'))

    def test_reallocation(self) -> None:
        self.json('lease create a --hosts 1 --at +1d --for 4h')
        (row,) = self.json('lease calendar --hosts')
        self.json(f'lease reallocate a {row["Row"]} --reason slow')
        (moved,) = self.json('lease calendar --hosts')
        self.assertNotEqual(row['Row'], moved['Row'])
        error = self.refusal(f'lease reallocate a {row["Row"]}')
        self.assertIn(f"Lease 'a' does not have '{row['Row']}'", error)

    def test_allocations(self) -> None:
        lease = self.json('lease create a --hosts 2 --at +1d --for 4h')
        rows = self.json('reservable resource allocation list --lease a')
        self.assertEqual([lease['id']] * 2, [row['Lease'] for row in rows])
        name = rows[0]['Resource']
        (one,) = self.json(f'reservable resource allocation list --resource {name}')
        self.assertEqual(rows[0], one)
        every = self.json('reservable resource allocation list --type physical:host')
        self.assertEqual(rows, every)

    def test_calendar(self) -> None:
        self.json('lease create later --hosts 1 --at +1d --for 1d')
        chart = self.run_command('lease calendar --for 3d').stdout.splitlines()
        self.assertRegex(chart[1], r'\|\w{3} \d\d \w{3}')
        self.assertRegex(chart[2], r'^later ▕ +▒+ +▏$')
        self.assertEqual(200, len(chart[2]))
        hosts = self.run_command('lease calendar --hosts --for 3d').stdout
        self.assertRegex(hosts, r'compute-\d ▕ +█later█+ +▏')
        self.assertNotIn('\x1b', hosts)
        (row,) = self.json('lease calendar')
        self.assertEqual(('later', 'PENDING'), (row['Lease'], row['What']))
        self.assertIn(
            'which is not after the start', self.refusal('lease calendar --at +2d --until +1d')
        )

    def test_watch_through_a_restart_of_the_service(self) -> None:
        # It starts by a command, so that a busy machine has as long as it needs.
        self.json('lease create a --hosts 1 --at +1d --for 2d')
        watching = subprocess.Popen(
            self.words('lease watch a'), env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=1,
        )  # fmt: skip
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)
        lines = iter(watching.stdout.readline, '')
        seen = [next(line for line in lines if 'PENDING' in line)]
        self.service.command.kill()
        seen.append(next(line for line in lines if 'interrupted' in line))
        self.service.again()
        seen.append(next(line for line in lines if 'answers again' in line))
        self.json('lease set a --at now')
        seen += list(lines)
        self.assertEqual(0, watching.wait(commands.PATIENCE), seen)
        text = ''.join(seen)
        self.assertRegex(text, r'start physical:host done')
        self.assertRegex(text, r'ACTIVE: .* CES?T\n$')

    def test_watch_fails_if_the_lease_ends(self) -> None:
        self.json('lease create a --hosts 1 --for 4h --wait')
        self.json('lease end a --now')
        self.json('lease wait a --status TERMINATED')
        self.assertIn("Lease 'a' is TERMINATED", self.refusal('lease watch a'))
        self.run_command('lease watch a --status TERMINATED')

    def test_usage(self) -> None:
        self.json('lease create a --hosts 2 --at +1d --for 3h')
        (row,) = self.json('usage report --from +20h --to +7d')
        self.assert_has(row, Type='physical:host', Class='whole', Leases=1)
        self.assert_has(row, Booked=21600, Used=0, Ahead=21600)
        table = self.run_command('usage report --from +20h --to +7d --by project').stdout
        self.assertRegex(table, r'\| demo +\| physical:host \| whole \| +1 \| 6 +\|')
        done = self.run_command('usage report --from +20h --to +7d --by class -f csv').stdout
        self.assertEqual('"whole",1,"21600","0","0","21600","0",0', done.splitlines()[1])
        self.refusal('lease create b --hosts 4 --for 1h')
        (row,) = self.json('usage report --from now --to +1h')
        self.assertEqual((1, 14400), (row['Refusals'], row['Refused']))
        self.assertEqual([], self.json("usage report --from '30d ago' --to '1d ago'"))
        error = self.refusal('usage report', OS_RESERVATION_API_VERSION='1.4')
        self.assertIn('1.5 is required for usage reports, but you chose 1.4', error)

    def test_exit_status_and_completion(self) -> None:
        self.assertEqual(1, self.run_command('lease show nothing', fails=True).returncode)
        self.assertEqual(2, self.run_command('lease show', fails=True).returncode)
        self.assertEqual(2, self.run_command('lease nothing', fails=True).returncode)
        found = self.run_command('complete').stdout
        for words in ("cmds_lease='.*watch", "cmds_reservable_resource='.*type"):
            self.assertTrue(re.search(words, found), words)

    def test_other_resources_by_the_sdk(self) -> None:
        proxy = self.proxy()
        self.assertEqual('demo', proxy.me()['project_id'])
        self.assertEqual(3, proxy.calendar('physical:host').total)
        self.assertEqual('physical:host', proxy.get_resource_type('physical:host').name)
        self.assertEqual([], list(proxy.maintenances()))
        host = proxy.find_resource('compute-1')
        proxy.update_resource(host, properties={'rack': 'A'})
        (rack,) = proxy.resource_properties(type='physical:host', detail=True)
        self.assertEqual(('rack', ['A'], False), (rack.property, rack.values, rack.is_private))
        self.assertTrue(proxy.update_resource_property('rack', True, 'physical:host').is_private)
        proxy.update_resource_property('rack', False, 'physical:host')
        proxy.update_resource(host, properties={'rack': None})
        self.assertEqual(('compute-1', None), _named(proxy.refresh_resource(host)))
        self.assertEqual(('compute-1', None), _named(proxy.update_resource(host, name='compute-1')))
        self.assertRaises(errors.RefusedRequest, proxy.update_resource, host, name='compute-9')
        lease = proxy.create_lease(
            name='a', start_date='now', duration='1h',
            reservations=[{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        )  # fmt: skip
        ready = proxy.report_readiness(lease, by='power', ready=['compute-1'])
        self.assertEqual(['compute-1'], ready.readiness['ready'])
        proxy.wait_for_lease(lease, interval=0.1)
        self.assertRaises(errors.RefusedRequest, proxy.reallocate_lease, lease, 'x')

    def proxy(self) -> ReservationProxy:
        return clients.connect(self)
