# SPDX-License-Identifier: Apache-2.0

"""``openstack lease`` for people: lists in a terminal, what one has, changes and questions."""

from __future__ import annotations

import json
from typing import Any

from climate.client import times
from climate.client.osc.options import now
from tests.functional import bodies
from tests.functional import clients

setUpModule = clients.begin


class TestLists(clients.ClientCase):
    """Lists have a line for each row."""

    def test_a_terminal_of_80_columns(self) -> None:
        later = self.json(
            'lease create practice-of-the-group-in-room-5 --at +2d --for 1h --hosts 1 '
            '--instances 1 --vcpus 1 --memory 1G'
        )
        sooner = self.json('lease create exam --at +1d --for 1h --hosts 1-2')
        _, text = self.on_terminal('lease list')
        lines = text.strip().splitlines()[-6:]
        self.assertLessEqual(max(map(len, lines)), 80, text)
        self.assertRegex(lines[3], rf'\| {sooner["id"][:8]} \| exam +\| PENDING \|.*\| 1-2 hosts')
        self.assertRegex(lines[4], rf'\| {later["id"][:8]} \| prac\w*…[\w-]*m-5 +\|')
        self.assertEqual(later['id'], self.json(f'lease show {later["id"][:8]}')['id'])
        for form in ('-f json', '-f csv', '-f value', '-f wide', ''):
            listed = self.run_command(f'lease list {form}').stdout
            self.assert_contains(listed, later['id'], 'practice-of-the-group-in-room-5')
        # Requests without a token see the leases of every project.
        self.assertEqual('demo', self.json('lease list')[0]['Project'])

    def test_other_lists(self) -> None:
        self.json('lease create practice-of-the-group-in-room-5 --for 1h --hosts 2')
        kept = self.json('maintenance create compute-3 --at +30d --for 2h --reason fan')
        for line in (
            'maintenance list',
            'reservable resource list',
            'lease offer list --hosts 3 --for 1h --limit 2',
            'reservable resource allocation list --type physical:host',
            'lease history practice-of-the-group-in-room-5',
        ):
            lines = self.run_command(f'{line} --max-width 80').stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80, '\n'.join(lines))
            self.assertEqual(len(self.json(line)) + 4, len(lines), '\n'.join(lines))
        self.run_command(f'maintenance delete {kept["id"][:8]}')
        self.assertEqual([], self.json('maintenance list'))

    def test_which_leases(self) -> None:
        self.json('lease create a --hosts 1 --for 1h --wait')
        self.json('lease end a')
        self.json('lease wait a --status TERMINATED')
        self.json('lease create b --hosts 1 --at +2d --for 1h')
        self.json('lease create c --hosts 1 --at +1d --for 1h')
        for options, names in (
            ('', ['c', 'b']),
            ('--ended', ['a', 'c', 'b']),
            ('--status terminated', ['a']),
            ('--mine', ['c', 'b']),
            ('--name b', ['b']),
        ):
            found = [each['Name'] for each in self.json(f'lease list {options}')]
            self.assertEqual(names, found, options)
        old = self.json('lease list --mine', OS_RESERVATION_API_VERSION='1.6')
        self.assertEqual(['c', 'b'], [each['Name'] for each in old])
        first = self.json('lease list', OS_RESERVATION_API_VERSION='1.0')
        self.assertEqual(['c', 'b'], [each['Name'] for each in first])


class TestQueue(clients.ClientCase):
    """The flexible leases that may still move or wait."""

    def test_places_forecasts_and_what_is_missing(self) -> None:
        self.assertEqual([], self.json('lease queue'))
        fixed = self.json("lease create fixed --hosts 3 --at 'tomorrow 12:00' --for 6h")
        start, end = (times.write(fixed[name]) for name in ('start_date', 'end_date'))
        window = f"--for 1h --not-before '{start}'"
        self.json(f'lease create first --hosts 2 {window}')
        waits = self.json(f"lease create second --hosts 2 {window} --by '{end}' --queue")
        first, second = self.json('lease queue --type physical:host')
        self.assertEqual(['first', 1, '0'], [first[key] for key in ('Name', 'Place', 'Ahead')])
        self.assertEqual(fixed['end_date'], first['Forecast'])
        self.assertEqual(
            ['second', 'WAITING', 2, '1 (2 hosts)', None],
            [second[key] for key in ('Name', 'Status', 'Place', 'Ahead', 'Forecast')],
        )
        text = self.run_command('lease queue').stdout
        self.assertRegex(text, r'second .* 2 hosts until ')
        shown = self.json('lease show second')
        self.assertEqual(
            [waits['id'], None, second['Room at'], '1 (2 hosts)'],
            [shown[key] for key in ('id', 'forecast', 'room_at', 'ahead')],
        )
        self.assertEqual(fixed['end_date'], shown['latest'])
        self.assertEqual(shown['project_id'], first['Project'])
        self.assertRegex(
            self.run_command('lease list').stdout, r'\| second +\| WAITING +\|  +\|  +\|'
        )
        self.assertIn('openstack lease delete cancels it', self.refusal('lease end second'))
        self.assertNotIn('forecast', self.json('lease show fixed'))
        self.assertEqual([], self.json('lease queue --type virtual:instance'))


def _notice(lease: dict[str, Any]) -> float:
    """Return how many seconds before its start a lease is firm."""
    return (times.read(lease['start_date']) - times.read(lease['firm_at'])).total_seconds()


class TestChanges(clients.ClientCase):
    """What one has, and how one changes it."""

    def test_a_flexible_lease_gets_another_window(self) -> None:
        self.json("lease create fixed --hosts 3 --at '+1d' --for 6h")
        soon = self.json('lease create soon --hosts 2 --for 1h --not-before +1d --by +3d')
        longer = self.json('lease set soon --for 2h --by none')
        self.assertEqual([soon['start_date'], None], [longer['start_date'], longer['latest']])
        self.assertGreater(longer['end_date'], soon['end_date'])
        later = self.json('lease set soon --not-before +2d --by +4d')
        self.assertEqual(later['earliest'], later['start_date'])
        self.assertNotIn('earliest', self.json('lease set soon --fixed'))
        self.assertIn('earliest', self.json('lease set soon --soon'))
        both = self.json('lease set fixed --at +5d --for 2h')
        length = times.read(both['end_date']) - times.read(both['start_date'])
        self.assertEqual(7200, length.total_seconds())
        self.assertIn('exclude --at', self.refusal('lease set soon --by +3d --at +2d'))

    def test_a_lease_that_waits_gets_another_window(self) -> None:
        self.json("lease create all --hosts 3 --at '+1d' --for 9d")
        waits = self.json('lease create soon --hosts 2 --for 1h --not-before +2d --by +3d --queue')
        longer = self.json('lease set soon --for 2h --not-before +4d --by +5d --wait-until +1d')
        self.assertEqual(['WAITING', 'WAITING'], [waits['status'], longer['status']])
        self.assertGreater(longer['earliest'], waits['latest'])
        self.assertGreater(longer['latest'], longer['earliest'])
        self.assertGreater(longer['earliest'], longer['wait_until'])
        self.assertNotIn('wait_until', self.json('lease set soon --wait-until none'))
        more = self.json('lease set soon --hosts 3')
        (one,) = more['reservations']
        self.assertEqual(('WAITING', 3, 3), (more['status'], one['min'], one['max']))
        self.assertIn('PENDING', self.refusal('lease set all --wait-until +1d'))

    def test_an_owner_asks_for_more_notice(self) -> None:
        line = "lease create soon --hosts 1 --for 1h --not-before '+1d' --firm-before"
        self.assertEqual(3 * 3600, _notice(self.json(f'{line} 3h')))
        self.assertEqual(2 * 3600, _notice(self.json('lease set soon --firm-before 2h')))
        self.assertEqual(3600, _notice(self.json('lease set soon --firm-before none')))
        alone = self.json('lease create alone --hosts 1 --for 1h --firm-before 90m')
        self.assertIn('earliest', alone)
        self.assertIn(
            'exclude', self.refusal('lease create x --hosts 1 --until +9h --firm-before 2h')
        )

    def test_a_lease_waits_for_so_long(self) -> None:
        self.json('lease create all --hosts 3 --at +1m --for 5h')
        line = 'lease create waits --hosts 1 --for 2h --by +4h'
        refused = self.refusal(line)
        self.assertIn('Wait for room instead: add --queue', refused)
        waits = self.json(f'{line} --queue --wait-until +1h')
        self.assertEqual('WAITING', waits['status'])
        left = times.read(waits['wait_until']) - now()
        self.assertLess(left.total_seconds(), 3601)
        for more in ('', '--by +4h'):
            line = f'lease create x --hosts 1 --for 2h --wait-until +1h {more}'
            self.assertIn('--wait-until needs --queue', self.refusal(line))

    def test_a_change_is_rehearsed(self) -> None:
        lease = self.json('lease create a --hosts 1 --at +1d --for 6h')
        wanted = self.json('lease set a --hosts 2 --for 2h --dry-run')
        self.assertEqual(
            [True, lease['start_date'], '2 hosts'],
            [wanted[key] for key in ('dry_run', 'start_date', 'resources')],
        )
        self.assertLess(wanted['end_date'], lease['end_date'])
        self.assertIn('Not enough hosts', self.refusal('lease set a --hosts 4 --dry-run'))
        self.assertEqual(lease['end_date'], self.json('lease show a')['end_date'])

    def test_a_start_after_the_end_needs_a_new_end(self) -> None:
        self.json('lease create a --hosts 1 --at +1d --for 6h')
        self.assertIn('with --for or --until', self.refusal('lease set a --at +2d'))
        self.json('lease set a --at +2d --for 2h')

    def test_a_move_is_noted(self) -> None:
        self.json('lease create fixed --hosts 3 --at +1d --for 6h')
        soon = self.json('lease create soon --hosts 2 --for 1h --not-before +1d')
        self.assertNotIn('displaced', soon)
        # It begins in 30 hours.
        self.assertAlmostEqual(29 * 3600, soon['firm_in'], delta=300)
        other = self.json('lease create other --hosts 3 --at +30h --for 1h')
        self.assertEqual((1, False), (other['displaced'], 'firm_in' in other))
        text = self.run_command('lease history soon').stdout
        self.assertRegex(text, r'\| start +\| noted +\|.* moved back to \d{4}-\d\d-\d\d \d\d:')
        dry = self.run_command('lease create third --hosts 3 --at +31h --for 1h --dry-run').stdout
        self.assertRegex(dry, r'soon would begin \d{4}-\d\d-\d\d \d\d:')

    def test_all_options_at_once(self) -> None:
        lease = self.json(
            "lease create all --custom rack=1 --for 6h --not-before 'tomorrow 8:00' "
            "--by 'fri 18:00' --queue --preemptible --yield suspend"
        )
        self.assertEqual(['PENDING', 'suspend'], [lease[key] for key in ('status', 'yield')])
        self.assertLess(lease['end_date'], lease['latest'])

    def test_a_preemptible_lease_shows_what_is_left(self) -> None:
        line = 'lease create slices --custom rack=1 --for 2h --preemptible --min-duration 10m'
        lease = self.json(line)
        self.assertEqual(
            ['suspend', 600, 7200], [lease[key] for key in ('yield', 'min_duration', 'time_left')]
        )
        table = self.run_command('lease show slices -c time_left').stdout
        self.assertRegex(table, r'\| time_left +\| 2h +\|')

    def test_what_one_has(self) -> None:
        self.json("lease create a --hosts 2 --where 'vcpus >= 2' --for 1h --wait")
        shown = self.json('lease show a')
        self.assertEqual(2, len(shown['resources']))
        table = self.run_command('lease show a').stdout
        self.assertRegex(table, r'\| 2 hosts active +\|')
        self.assertRegex(table, r'\|   where vcpus >= 2 +\|')
        self.assertRegex(table, rf'\|   on {", ".join(shown["resources"])} +\|')
        self.assertRegex(table, r'\| .* start done +\|')
        self.assertRegex(table, r'\| .* end scheduled +\|')
        self.assertNotRegex(table, r'\| (resources|instructions) ')
        old = self.json('lease show a', OS_RESERVATION_API_VERSION='1.6')
        self.assertEqual(shown['resources'], old['resources'])
        first = self.json('lease show a', OS_RESERVATION_API_VERSION='1.0')
        self.assertEqual([], first['resources'])

    def test_amounts_and_requirements(self) -> None:
        self.json(
            'lease create a --at +1d --for 1h --hosts 2 --instances 2 --vcpus 1 --memory 1G '
            '--disk 5G'
        )
        hosts, servers = self.json('lease set a --hosts 1')['reservations']
        self.assertEqual((1, 1, 2), (hosts['min'], hosts['max'], servers['amount']))
        line = "lease set a --hosts 1 --where 'vcpus >= 2' --instances 3 --memory 2G"
        hosts, servers = self.json(line)['reservations']
        self.assertEqual('[">=", "$vcpus", "2"]', hosts['resource_properties'])
        self.assert_has(servers, amount=3, memory_mb=2048, disk_gb=5)
        wanted = f'{{"id": "{hosts["id"][:8]}", "resource_properties": ""}}'
        hosts, _ = self.json(f"lease set a --reservation '{wanted}'")['reservations']
        self.assertEqual('', hosts['resource_properties'])
        self.assertIn('several reservations', self.refusal("lease set a --where 'vcpus >= 4'"))
        self.assertIn('has no networks; it has', self.refusal('lease set a --network x'))

    def test_a_requirement_is_removed(self) -> None:
        first, second = (json.dumps(['>=', '$vcpus', each]) for each in ('2', '4'))
        wanted = bodies.hosts(1, hypervisor_properties=first, resource_properties=second)
        self.json(f"lease create a --at +1d --for 1h --reservation '{json.dumps(wanted)}'")
        (found,) = self.json("lease set a --where ''")['reservations']
        fields = ('hypervisor_properties', 'resource_properties')
        self.assertEqual(['', ''], [found[each] for each in fields])
        self.json('lease create b --at +2d --for 1h --hosts 1 --instances 1 --vcpus 1 --memory 1G')
        hosts, _ = self.json("lease set b --hosts 2 --where ''")['reservations']
        self.assertEqual(2, hosts['min'])
        self.assertIn('--where: ', self.refusal("lease create c --hosts 1 --where '' --for 1h"))

    def test_the_new_end_is_now(self) -> None:
        self.json('lease create a --hosts 1 --for 4h --wait')
        set_to = times.read(self.json('lease set a --until now')['end_date'])
        ended = self.json('lease wait a --status TERMINATED')
        self.assertEqual(set_to, times.read(ended['end_date']))
        self.assertIn("Lease 'a' has ended already, 20", self.refusal('lease end a'))
        self.json('lease create b --hosts 1 --at +1d --for 1h')
        self.assertIn('later than', self.refusal('lease set b --until now'))

    def test_leases_with_one_name(self) -> None:
        ids = [self.json('lease create a --hosts 1 --at +1d --for 1h')['id'] for _ in range(2)]
        error = self.refusal('lease end a')
        for each in ids:
            self.assertIn(f'{each} (from 20', error)

    def test_the_question_names_what_is_lost(self) -> None:
        self.json('lease create a --hosts 1 --for 1h --wait')
        (host,) = self.json('lease show a')['resources']
        status, text = self.on_terminal('lease delete a', b'n\n')
        self.assertIn(f"This ends 'a' (1 host) and deletes all servers on {host}.", text)
        self.assertEqual((1, 1), (status, len(self.leases())), text)
        status, text = self.on_terminal('lease delete a', b'y\n')
        self.assertEqual(0, status, text)
        self.json('lease create b --hosts 1 --at +1d --for 1h')
        status, text = self.on_terminal('lease delete b --yes')
        self.assertEqual(0, status, text)
        self.assertNotIn('Delete?', text)

    def test_availability_promises_no_more_than_there_is(self) -> None:
        start = '--at 2031-01-31'
        first = self.json(f'maintenance create compute-1 {start} --for 12h')
        second = self.json("maintenance create compute-2 --at '2031-01-31 12:00' --for 12h")
        self.addCleanup(self.run_command, f'maintenance delete {first["id"]} {second["id"]}')
        rows = self.json(f'lease availability show physical:host {start} --step 12h --for 1d')
        self.assertEqual(['2 of 2', '2 of 2'], [each['whole'] for each in rows])
        (row,) = self.json(f'lease availability show physical:host {start} --step 1d --for 1d')
        self.assertEqual('1 of 1', row['whole'])
        self.assertEqual(times.read(rows[0]['Start']), times.read(row['Start']))
        self.assertEqual('2031-01-30T23:00:00Z', row['Start'])
