# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""What it costs a create that the database keeps the rules of booking by itself.

The same leases are created with the rules and without, by turns on the same
database: what else the machine does is in both.
"""

from __future__ import annotations

import argparse
import contextlib
import random
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import quantile
from benchmarks.figures import show
from benchmarks.figures import timed
from benchmarks.suite import NAMES
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leasing.leases import Leases
from climate.leasing.settings import LeasingSettings
from climate.plugins import physical_host
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts
from tests.functional.db import unguarded
from tests.functional.manager import slots

SLOTS = 50
HOSTS = 1000
# A tenth on top of a create without the rules.
MOST = 1.1

_CALLER = Caller(user_id='u', project_id='project-1')
_SLOT_BODY = {
    'resource_type': slots.RESOURCE_TYPE,
    'min': SLOTS,
    'max': SLOTS,
    'demand': bulk_parts.DEMAND,
    'spread': 'any',
    'contrary': False,
}
_HOST_BODY = {
    'resource_type': physical_host.RESOURCE_TYPE,
    'min': 1,
    'max': 1,
    'hypervisor_properties': '',
    'resource_properties': '',
}


def main() -> int:
    """Run."""
    options = _parser().parse_args()
    engines = options.engine or [kind for kind in services.DATABASES if services.answers(kind)]
    figures: list[Figure] = []
    for engine in engines:
        figures += gathered(_measure(engine, options))
    show(figures, as_json=options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--engine',
        action='append',
        choices=services.DATABASES,
        help='measure on this engine; may be given more than once (default: all that answer)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('--turns', type=int, default=10, help='how often the rules come and go')
    parser.add_argument('--times', type=int, default=8, help='creates in each turn')
    parser.add_argument('--allocations', type=int, default=100_000, help='what there is already')
    return parser


def _measure(engine: str, options: argparse.Namespace) -> Iterator[Figure]:
    loads: tuple[tuple[type[bulk.Load], dict[str, Any], Any, str], ...] = (
        (bulk.Load, _HOST_BODY, physical_host.PhysicalHost, 'one host'),
        (bulk_parts.Parts, _SLOT_BODY, slots.Slots, f'{SLOTS} slots of 2 classes'),
    )
    for load, body, plugin, what in loads:
        with services.Database(engine) as database:
            core = parts.core(database.url)
            migration.sync(core.store.engine)
            now = SystemClock().now()
            load(hosts=HOSTS, allocations=options.allocations, now=now).fill(core.store.engine)
            create = _creator(core, plugin.from_conf(core.conf), body)
            yield from _by_turns(NAMES[engine], core, create, what, options)
            core.store.close()


def _creator(core: composition.Core, plugin: Any, body: dict[str, Any]) -> Callable[[], None]:
    leases = Leases(
        core.store,
        {plugin.resource_type: plugin},
        core.clock,
        LeasingSettings(),
        lambda: None,
        random.Random(5),
    )
    rng = random.Random(3)

    def create() -> None:
        start = core.clock.now() + rng.randrange(5, 20 * 24 * 60) * parts.HOUR / 60
        end = start + parts.HOUR
        leases.create(_CALLER, LeaseDraft(name='b', start=start, end=end, reservations=(body,)))

    return create


def _by_turns(
    engine: str,
    core: composition.Core,
    create: Callable[[], None],
    what: str,
    options: argparse.Namespace,
) -> Iterator[Figure]:
    found: dict[bool, list[float]] = defaultdict(list)
    for turn in range(2 * options.turns):
        guarded = turn % 2 == 1
        rules = contextlib.nullcontext() if guarded else unguarded.unguarded(core.store.engine)
        with rules:
            found[guarded] += timed(create, options.times)
    # Of the faster half: whatever else goes on only adds to it.
    without, with_ = (quantile(found[guarded], 0.25) for guarded in (False, True))
    yield Figure(engine=engine, what=f'create of {what}, without', value=without)
    yield Figure(engine=engine, what=f'create of {what}, with', value=with_)
    yield Figure(
        engine=engine,
        what=f'create of {what}, percent of that without',
        value=with_ / without * 100,
        unit='%',
        aim=MOST * 100,
    )
