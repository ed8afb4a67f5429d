# SPDX-License-Identifier: Apache-2.0

"""How tests are divided, and what is said of them."""

from __future__ import annotations

import datetime
import io
import pathlib

import subunit

from tests import base
from tools.lanes import report
from tools.lanes import results
from tools.lanes import shards
from tools.lanes.__main__ import chosen
from tools.lanes.lanes import Lane
from tools.lanes.progress import Progress
from tools.lanes.progress import span
from tools.lanes.repeats import repeats
from tools.lanes.results import Result
from tools.lanes.running import Outcome
from tools.lanes.running import turns
from tools.lanes.shards import Shard

_BEGAN = datetime.datetime(2031, 5, 1, tzinfo=datetime.UTC)


class ShardsTest(base.TestCase):
    """Parts of a lane."""

    def test_together_they_are_everything_and_nothing_twice(self) -> None:
        ids = [f'tests.exhaustive.test_walk.TestWalk.test_{number}' for number in range(500)]
        for count in (1, 2, 3, 4, 8, 16):
            parts = [
                Shard(index=index, count=count).of(ids, lambda name: name)
                for index in range(1, count + 1)
            ]
            self.assertEqual(sorted(ids), sorted(name for part in parts for name in part))
            self.assertLess(len(ids) / count / 2, min(map(len, parts)))

    def test_the_same_everywhere(self) -> None:
        # Other numbers than these, and the sixteenths of different clones leave tests out.
        found = [
            next(index for index in range(1, 17) if Shard(index=index, count=16).has(name))
            for name in ('a', 'b', 'c', 'd', 'e')
        ]
        self.assertEqual([11, 13, 8, 5, 7], found)

    def test_a_group_stays_together(self) -> None:
        group = shards.group()
        story = [f'tests.functional.test_gabbits.leases_{number}.test_request' for number in (1, 2)]
        self.assertEqual(1, len(set(map(group, story))))
        apart = [f'tests.exhaustive.test_walk.TestWalk.test_{number}' for number in (1, 2)]
        self.assertEqual(apart, list(map(group, apart)))

    def test_a_class_stays_together(self) -> None:
        first = 'tests.cloud.test_life.WholeLifeTest.test_whole_life[smoke]'
        self.assertEqual('tests.cloud.test_life.WholeLifeTest', shards.of_class(first))

    def test_those_that_run_alone_are_divided(self) -> None:
        group = shards.of_lane(Lane(name='cloud', serial=r'\[alone', by_class=True))
        alone = [f'tests.cloud.test_isolation.Test.test_{number}[alone]' for number in (1, 2)]
        self.assertEqual(alone, list(map(group, alone)))
        self.assertEqual('tests.cloud.test_it.Test', group('tests.cloud.test_it.Test.test_it'))

    def test_what_is_in_each_part(self) -> None:
        lane = Lane(name='cloud', always=r'\[smoke', by_class=True)
        ids = [f'tests.test_it.Test{number}.test_it' for number in range(20)]
        ids += ['tests.test_it.Test.test_it[smoke]']
        parts = [chosen(lane, ids, Shard(index=index, count=4), ()) for index in range(1, 5)]
        for part in parts:
            self.assertEqual(ids[-1], part[-1])
        self.assertEqual(sorted(ids[:-1]), sorted(name for part in parts for name in part[:-1]))

    def test_only_repeats_on_servers_are_divided(self) -> None:
        engines = ('Sqlite', 'Mariadb', 'Postgresql')
        ids = [f'tests.test_it.TestOn{engine}.test_{n}' for engine in engines for n in range(20)]
        ids += ['tests.test_it.TestOnMariadb.test_a_lock', 'tests.db.test_it.TestSqlite.test_it']
        ids += ['tests.db.test_it.TestMariadb.test_it']
        lane = Lane(name='functional', divides_repeats=True, always=r'^tests\.db')
        parts = [chosen(lane, ids, Shard(index=index, count=4), ()) for index in range(1, 5)]
        repeated = ids[20:60]
        found = sorted(each for part in parts for each in part if each in repeated)
        self.assertEqual(sorted(repeated), found)
        for part in parts:
            actual = [each for each in part if each not in repeated]
            self.assertEqual([*ids[:20], *ids[60:]], actual)

    def test_a_quarter_of_the_slow_ones_is_in_each_part(self) -> None:
        ids = [f'tests.test_it{number}.Test.test_it' for number in range(10)]
        slow = [f'tests.slow{number}.Test.test_it' for number in range(40)]
        lane = Lane(name='functional', divides_repeats=True, slow=r'\.slow')
        parts = [
            chosen(lane, ids + slow, Shard(index=index, count=16), ()) for index in range(1, 17)
        ]
        for first in (0, 4, 8, 12):
            quarters = [set(part) for part in parts[first : first + 4]]
            self.assertEqual({*ids, *slow}, set().union(*quarters))
        for part in parts:
            self.assertEqual(ids, part[:10])
            self.assertLess(len(part), 40)

    def test_what_repeats_another_test_on_a_server(self) -> None:
        pairs = {
            'tests.functional.test_gabbits.mysql.leases_one.test_request':
                'tests.functional.test_gabbits.leases_one.test_request',
            'tests.functional.test_it.TestPostgresql.test_it':
                'tests.functional.test_it.TestSqlite.test_it',
            'tests.functional.test_it.TestLifeOnMariadb.test_it':
                'tests.functional.test_it.TestLifeOnSqlite.test_it',
            'tests.functional.test_it.TestBootedPostgresql.test_it':
                'tests.functional.test_it.TestBooted.test_it',
        }  # fmt: skip
        for repeat, other in pairs.items():
            self.assertEqual(set(), repeats({repeat}))
            self.assertEqual({repeat}, repeats({repeat, other}))
        found = repeats(['tests.test_it.Test.test_it', 'tests.test_it.Test.test_on'])
        self.assertEqual(set(), found)

    def test_what_it_is_called(self) -> None:
        self.assertEqual(Shard(index=2, count=4), Shard.parse('2/4'))
        self.assertEqual('2/4', str(Shard.parse('2/4')))
        for wrong in ('', '2', '0/4', '5/4', '1/0', '1/4/', 'a/b', '-1/4'):
            self.assertRaises(ValueError, Shard.parse, wrong)


class TurnsTest(base.TestCase):
    """What runs beside what."""

    def test_those_that_wait_are_many_and_those_alone_are_alone(self) -> None:
        lane = Lane(name='cloud', serial='alone', waiting='wait', crowd=5)
        ids = ['wait_1', 'work', 'alone_and_wait', 'wait_2']
        expected = [(['work'], 2), (['wait_1', 'wait_2'], 5), (['alone_and_wait'], 1)]
        self.assertEqual(expected, turns(lane, ids, 2))
        self.assertEqual([(['work'], 2)], turns(lane, ['work'], 2))

    def test_a_lane_may_spare_a_processor_for_what_waits(self) -> None:
        self.assertEqual([(['work'], 3)], turns(Lane(name='functional', spare=1), ['work'], 2))


class ResultsTest(base.TestCase):
    """What tests say in subunit."""

    def test_each_kind(self) -> None:
        stream = io.BytesIO()
        said = subunit.StreamResultToBytes(stream)
        for name, status in (
            ('good', 'success'),
            ('bad', 'fail'),
            ('away', 'skip'),
            ('dead', None),
        ):
            said.status(test_id=name, test_status='inprogress', timestamp=_BEGAN)
            if status == 'fail':
                said.status(
                    test_id=name,
                    file_name='traceback',
                    file_bytes=b'because',
                    mime_type='text/plain; charset=utf8',
                )
            if status:
                over = _BEGAN + datetime.timedelta(seconds=2)
                said.status(test_id=name, test_status=status, timestamp=over)
        said.status(test_id='process-returncode', test_status='fail', timestamp=_BEGAN)
        stream.write(b'printed by a test\n')
        stream.seek(0)
        received: list[Result] = []
        results.read(stream, received.append)
        expected = {
            'good': Result(name='good', outcome='passed', seconds=2),
            'bad': Result(name='bad', outcome='failed', seconds=2, log='traceback:\nbecause\n'),
            'away': Result(name='away', outcome='skipped', seconds=2),
            'dead': Result(
                name='dead', outcome='failed', seconds=0, log='its worker died while it ran\n'
            ),
        }
        self.assertEqual(expected, {result.name: result for result in received})


class ProgressTest(base.TestCase):
    """The line that says how far a lane is."""

    def setUp(self) -> None:
        super().setUp()
        self.now = 100.0
        self.out = io.StringIO()

    def progress(self, **expected: float) -> Progress:
        """Begin three tests, a, b and c."""
        return Progress('unit', ['a', 'b', 'c'], expected, 2, self.out, lambda: self.now)

    def over(self, progress: Progress, name: str, outcome: str = 'passed') -> None:
        """Let a test be over."""
        progress.add(Result(name=name, outcome=outcome, seconds=1.0))

    def test_the_time_left_is_of_what_is_left(self) -> None:
        progress = self.progress(a=30, b=10, c=60)
        self.assertEqual(50, progress.seconds_left())
        self.now += 20
        self.over(progress, 'a')
        self.over(progress, 'b')
        found = progress.line()
        self.assertEqual('unit            2 of 3 tests, 0 failed,  40%, about 30 s left', found)
        self.over(progress, 'c')
        self.assertEqual(0, progress.seconds_left())

    def test_a_new_test_is_as_long_as_most(self) -> None:
        self.assertEqual(22.5, self.progress(a=10, b=20).seconds_left())

    def test_a_line_now_and_then_where_none_can_be_written_over(self) -> None:
        progress = self.progress()
        self.over(progress, 'a')
        self.assertEqual('', self.out.getvalue())
        self.now += 31
        self.over(progress, 'b')
        self.over(progress, 'c')
        self.assertEqual(1, len(self.out.getvalue().splitlines()))

    def test_a_failure_is_reported_at_once(self) -> None:
        progress = self.progress()
        self.over(progress, 'b', 'failed')
        self.assertEqual('FAILED b\n', self.out.getvalue())
        self.assertIn('1 failed', progress.line())

    def test_minutes(self) -> None:
        self.assertEqual(['0 s', '59 s', '1 min 00 s'], [span(each) for each in (0.2, 59.4, 59.6)])


class ReportTest(base.TestCase):
    """What is said in the end."""

    def test_what_failed_what_was_slow_and_how_long_it_took(self) -> None:
        many = [Result(name=f't{number}', outcome='passed', seconds=number) for number in range(12)]
        bad = Result(name='bad', outcome='failed', seconds=99, log='x\n' * 300 + 'because\n')
        outcome = Outcome(
            lane='unit',
            results=[*many, bad],
            missing=['lost'],
            wall=61,
            processor=5,
            log=pathlib.Path('/somewhere/unit.log'),
        )
        text = '\n'.join(report.lines([outcome]))
        self.assert_contains(text, 'FAILED bad', 'because')
        self.assertLess(text.count('x\n'), 300)
        self.assert_contains(text, 'NEVER RAN lost', '  99.00 s  bad\n    11.00 s  t11\n')
        self.assertNotIn('s  t2\n', text)
        self.assertEqual(
            'unit        FAILED   1 min 01 s (5 s of processors), 12 passed, 2 failed, 0 skipped, '
            'all in /somewhere/unit.log',
            text.splitlines()[-1],
        )
