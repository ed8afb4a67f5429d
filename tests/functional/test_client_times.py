# SPDX-License-Identifier: Apache-2.0

"""Times of ``openstack lease`` as people write them, against a running service."""

from __future__ import annotations

import tempfile
import zoneinfo

from climate.client import times
from tests.functional import clients

_ZONE = zoneinfo.ZoneInfo('Europe/Berlin')

setUpModule = clients.begin


class TestTimesOfCommands(clients.ClientCase):
    """``--at`` and ``--until``."""

    def local(self, text: str) -> str:
        return f'{times.read(text).astimezone(_ZONE):%A %H:%M}'

    def test_a_time_alone_ends_a_lease_on_the_day_of_its_start(self) -> None:
        line = "lease create a --hosts 1 --at 'next tuesday 9:00' --until"
        lease = self.json(f'{line} 17:00')
        self.assertEqual('Tuesday 17:00', self.local(lease['end_date']))
        length = times.read(lease['end_date']) - times.read(lease['start_date'])
        self.assertEqual(8 * 3600, length.total_seconds())
        friday = self.json(f"{line} 'friday noon' --dry-run")
        self.assertEqual('Friday 12:00', self.local(friday['end_date']))
        error = self.refusal(f'{line} 8:00')
        self.assertIn("--until '8:00' is Tue ", error)
        self.assertIn('which is not after the start at Tue ', error)

    def test_changes_are_on_the_day_of_the_end(self) -> None:
        self.json("lease create a --hosts 1 --at 'next tuesday 9:00' --until 17:00")
        for line, expected in (
            ('extend a --until 18:00', 'Tuesday 18:00'),
            ('shorten a --until 16:30', 'Tuesday 16:30'),
            ('set a --until 19:00', 'Tuesday 19:00'),
            ("set a --at 'next wednesday 9:00' --until 12:00", 'Wednesday 12:00'),
        ):
            self.assertEqual(expected, self.local(self.json(f'lease {line}')['end_date']), line)
        self.assertIn('It ends', self.refusal('lease extend a --until 10:00'))

    def test_a_file(self) -> None:
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
            file.write('start_date: next tuesday 9:00\nend_date: "17:00"\n')
            file.flush()
            lease = self.json(f'lease create a --hosts 1 --file {file.name}')
        self.assertEqual('Tuesday 17:00', self.local(lease['end_date']))
