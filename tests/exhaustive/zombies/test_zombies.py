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

"""Managers that come back: each scenario of each kind, stopped in each call.

See :mod:`tests.exhaustive.zombies.comebacks`. The calls of one kind are stopped
once in each state of the lease, by the scenario that comes by first; so the
scenarios of a kind are one test.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import fixtures
from testtools import content

from climate.clients.base import Cloud
from climate.clients.base import Server
from climate.plugins import marks
from climate.plugins.contract import Records
from climate.plugins.contract import Work
from climate.plugins.floating_ip import effects as addresses
from climate.plugins.host import servers as host_servers
from climate.plugins.server import images as server_images
from climate.plugins.server import steps as server_steps
from climate.plugins.volume import effects as volumes
from climate.testing import walker
from tests import base
from tests.exhaustive.zombies import comebacks
from tests.exhaustive.zombies import tenants
from tests.functional.manager.walk import kinds

MOST = 10


class TestComebacks(base.TestCase):
    """A test for each kind; they are made below."""

    def comes_back(self, name: str) -> None:
        """Walk through all scenarios of a kind."""
        kind, seen = kinds.KINDS[name], set[object]()
        complaints: list[str] = []
        counted = {'scenarios': 0, 'calls': 0, 'runs': 0, 'mended': 0}
        world = self.useFixture(comebacks.Theatre())
        empty = world.save()
        for scenario in walker.scenarios(kind):
            world.watch = None
            world.restore(empty)
            walk = comebacks.Comeback(world, name, scenario, tenants.cases(name), seen)
            complaints += walk.complaints()
            counted['scenarios'] += 1
            for key in ('calls', 'runs', 'mended'):
                counted[key] += getattr(walk, key)
        text = ', '.join(f'{count} {key}' for key, count in counted.items())
        self.addDetail('came back', content.text_content(text))
        self.assertEqual('', '\n'.join(complaints[:MOST]))

    def test_every_kind_has_a_next_tenant(self) -> None:
        self.assertEqual(set(kinds.KINDS), set(tenants.NEXT))


def _test(name: str) -> Callable[[TestComebacks], None]:
    return lambda self: self.comes_back(name)


for _name in kinds.KINDS:
    setattr(TestComebacks, 'test_' + re.sub(r'\W', '_', _name), _test(_name))


def _deletes_all(_work: Work, cloud: Cloud, host: str) -> list[Server]:
    """Clear a host as was done before: of whatever runs there by now."""
    found = list(cloud.compute.list_servers(host))
    for server in found:
        cloud.compute.delete_server(server.id)
    return found


def _over_by_tags(found: marks.Marked, records: Records) -> str | None:
    """Tell whose something is by its tags only."""
    return _OVER(found, records) if found.tags else None


_OVER = marks.over


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutation:
    """A safeguard that is taken out, and a scenario that tells.

    :ivar what: the functions that are replaced: each its module or class, and its name there
    :ivar by: what replaces each
    :ivar complaint: what the walk says, among others
    """

    what: tuple[tuple[object, str], ...]
    by: Callable[..., object]
    kind: str
    scenario: str
    case: str
    complaint: str


MUTATIONS = (
    # No second volume is looked for, by the mark of the call that made it.
    Mutation(
        what=((volumes.CreatedVolumes, '_duplicates'),),
        by=lambda _self, _found: iter(()),
        kind='virtual:volume',
        scenario='start',
        case='during',
        complaint='is left: volumes',
    ),
    # No volume is looked for whose id was not written down.
    Mutation(
        what=((volumes.CreatedVolumes, '_marked'),),
        by=lambda _self: {},
        kind='virtual:volume',
        scenario='start',
        case='next 1',
        complaint='at the end: volumes',
    ),
    # No second server is looked for.
    Mutation(
        what=((server_steps.Case, 'tidy'),),
        by=lambda _self: False,
        kind='server booted',
        scenario='start',
        case='during',
        complaint='is left: servers',
    ),
    # No image is looked for whose id was not written down, nor a second one.
    Mutation(
        what=((server_images.Images, '_there'), (server_images.Images, 'tidy')),
        by=lambda *_given: (),
        kind='server booted',
        scenario='end',
        case='next 1',
        complaint='is gone, and there is',
    ),
    # An address that was given up is not looked at any more.
    Mutation(
        what=((addresses.AddressEffects, '_tidy'),),
        by=lambda _self, _kept: None,
        kind='several',
        scenario='undo grow',
        case='during',
        complaint='is left: floating_ips',
    ),
    # What has no tags yet is taken for others'.
    Mutation(
        what=((marks, 'over'),),
        by=_over_by_tags,
        kind='network',
        scenario='start',
        case='nobody',
        complaint='is left: networks',
    ),
)


class TestItCanFail(base.TestCase):
    """What keeps harm away is taken out, and the walk tells."""

    def walk(self, scenario: str, *, fenced: bool) -> tuple[comebacks.Comeback, list[str]]:
        """Walk through a scenario of whole hosts, which are leased next as well."""
        kind = kinds.KINDS['physical:host']
        cases = tenants.cases('physical:host')[:1]
        (found,) = (each for each in walker.scenarios(kind) if each.name == scenario)
        with comebacks.Theatre(fenced=fenced) as world:
            walk = comebacks.Comeback(world, 'physical:host', found, cases, set())
            return walk, list(walk.complaints())

    def caught(self, mutation: Mutation) -> None:
        """Take a safeguard out, and see that the walk complains."""
        for owner, name in mutation.what:
            self.useFixture(fixtures.MockPatchObject(owner, name, mutation.by))
        cases = [each for each in tenants.cases(mutation.kind) if each.name == mutation.case]
        all_of_them = walker.scenarios(kinds.KINDS[mutation.kind])
        (found,) = (each for each in all_of_them if each.name == mutation.scenario)
        with comebacks.Theatre() as world:
            walk = comebacks.Comeback(world, mutation.kind, found, cases, set())
            said = []
            for line in walk.complaints():
                said.append(line)
                if mutation.complaint in line:
                    return
        self.fail(f'nothing tells that {mutation.what} is out: {said}')

    def test_without_the_fence_it_finds_harm(self) -> None:
        fenced, complaints = self.walk('start', fenced=True)
        self.assertEqual([], complaints)
        unfenced, _complaints = self.walk('start', fenced=False)
        self.assertEqual(fenced.runs, unfenced.runs)
        self.assertGreater(unfenced.mended, fenced.mended)

    def test_without_the_fence_and_the_look_at_projects_servers_are_lost(self) -> None:
        self.useFixture(fixtures.MockPatchObject(host_servers, 'clear', _deletes_all))
        _walk, complaints = self.walk('end', fenced=False)
        lost = [line for line in complaints if 'is gone: servers' in line]
        self.assertNotEqual([], lost)

    def test_each_of_the_two_keeps_them(self) -> None:
        _walk, complaints = self.walk('end', fenced=False)
        self.assertEqual([], [line for line in complaints if 'servers' in line])
        self.useFixture(fixtures.MockPatchObject(host_servers, 'clear', _deletes_all))
        _walk, complaints = self.walk('end', fenced=True)
        self.assertEqual([], complaints)


def _caught(mutation: Mutation) -> Callable[[TestItCanFail], None]:
    return lambda self: self.caught(mutation)


for _mutation in MUTATIONS:
    _owner, _function = _mutation.what[0]
    _owned = getattr(_owner, '__qualname__', 'marks').lower()
    setattr(TestItCanFail, f'test_without_{_owned}_{_function}', _caught(_mutation))
