# SPDX-License-Identifier: Apache-2.0

"""Managers that return after a stall: each scenario of each kind, stalled in each call.

See :mod:`tests.exhaustive.zombies.returning_managers`. The calls of a kind are stalled
once in each state of the lease, by the first scenario that reaches the state. So all
scenarios of a kind are one test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import fixtures
from testtools import content

from climate.cloud.base import Cloud
from climate.cloud.base import Server
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
from tests.exhaustive.zombies import returning_managers
from tests.exhaustive.zombies import tenants
from tests.functional.manager.walk import kinds

MOST = 10


@base.test_each(kinds.KINDS)
class TestComebacks(base.TestCase):
    """Stalls the scenarios of each kind."""

    def check(self, name: str) -> None:
        """Walk through all scenarios of a kind."""
        kind, seen = kinds.KINDS[name], set[object]()
        complaints: list[str] = []
        counted = {'scenarios': 0, 'calls': 0, 'runs': 0, 'repaired': 0}
        site = self.useFixture(returning_managers.ObservedDeployment())
        empty = site.save()
        for scenario in walker.scenarios(kind):
            site.watch = None
            site.restore(empty)
            walk = returning_managers.ReturningManager(
                site, name, scenario, tenants.cases(name), seen
            )
            complaints += walk.complaints()
            counted['scenarios'] += 1
            for key in ('calls', 'runs', 'repaired'):
                counted[key] += getattr(walk, key)
        text = ', '.join(f'{count} {key}' for key, count in counted.items())
        self.addDetail('came back', content.text_content(text))
        self.assertEqual('', '\n'.join(complaints[:MOST]))

    def test_every_kind_has_a_next_tenant(self) -> None:
        self.assertEqual(set(kinds.KINDS), set(tenants.NEXT))


def _deletes_all(_work: Work, cloud: Cloud, host: str) -> list[Server]:
    """Clear a host of all servers, as an earlier release did."""
    found = list(cloud.compute.list_servers(host))
    for server in found:
        cloud.compute.delete_server(server.id)
    return found


def _over_by_tags(found: marks.Marked, records: Records) -> str | None:
    """Identify the lease of an object only by its tags."""
    return _OVER(found, records) if found.tags else None


_OVER = marks.over


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutation:
    """A safeguard that is removed, and a scenario that detects it.

    :ivar what: the functions that are replaced, each as its module or class, and its name
    :ivar by: the replacement of each
    :ivar walk: the kind of its lease, the scenario, and the case of the next tenant
    :ivar complaint: a part of one of the complaints of the walk
    """

    what: tuple[tuple[object, str], ...]
    by: Callable[..., object]
    walk: tuple[str, str, str]
    complaint: str


MUTATIONS = (
    # A second volume is not searched for by the mark of the call that created it.
    Mutation(
        what=((volumes.CreatedVolumes, '_duplicates'),),
        by=lambda _self, _found: iter(()),
        walk=('virtual:volume', 'start', 'during'),
        complaint='is left: volumes',
    ),
    # A volume whose id was not stored is not searched for.
    Mutation(
        what=((volumes.CreatedVolumes, '_marked'),),
        by=lambda _self: {},
        walk=('virtual:volume', 'start', 'next 1'),
        complaint='at the end: volumes',
    ),
    # A second server is not searched for.
    Mutation(
        what=((server_steps.Case, 'tidy'),),
        by=lambda _self: False,
        walk=('server booted', 'start', 'during'),
        complaint='is left: servers',
    ),
    # An image whose id was not stored, and a second image, are not searched for.
    Mutation(
        what=((server_images.Images, '_existing'), (server_images.Images, 'tidy')),
        by=lambda *_given: (),
        walk=('server booted', 'end', 'next 1'),
        complaint='is gone, and there is',
    ),
    # An address that was given up is not checked again.
    Mutation(
        what=((addresses.AddressEffects, '_tidy'),),
        by=lambda _self, _kept: None,
        walk=('several', 'undo grow', 'during'),
        complaint='is left: floating_ips',
    ),
    # An object without tags counts as that of another project.
    Mutation(
        what=((marks, 'over'),),
        by=_over_by_tags,
        walk=('network', 'start', 'nobody'),
        complaint='is left: networks',
    ),
)


class TestItCanFail(base.TestCase):
    """The walk detects each safeguard that is removed."""

    def walk(
        self, scenario: str, *, fenced: bool
    ) -> tuple[returning_managers.ReturningManager, list[str]]:
        """Walk through a scenario of whole hosts, which the next tenant leases as well."""
        kind = kinds.KINDS['physical:host']
        cases = tenants.cases('physical:host')[:1]
        (found,) = (each for each in walker.scenarios(kind) if each.name == scenario)
        with returning_managers.ObservedDeployment(fenced=fenced) as site:
            walk = returning_managers.ReturningManager(site, 'physical:host', found, cases, set())
            return walk, list(walk.complaints())

    def caught(self, mutation: Mutation) -> None:
        """Remove a safeguard, and check that the walk complains."""
        for owner, name in mutation.what:
            self.useFixture(fixtures.MockPatchObject(owner, name, mutation.by))
        kind, scenario, case = mutation.walk
        cases = [each for each in tenants.cases(kind) if each.name == case]
        (found,) = (one for one in walker.scenarios(kinds.KINDS[kind]) if one.name == scenario)
        with returning_managers.ObservedDeployment() as site:
            walk = returning_managers.ReturningManager(site, kind, found, cases, set())
            said = []
            for line in walk.complaints():
                said.append(line)
                if mutation.complaint in line:
                    return
        self.fail(f'the walk does not detect that {mutation.what} is removed: {said}')

    def test_without_the_fence_it_finds_harm(self) -> None:
        fenced, complaints = self.walk('start', fenced=True)
        self.assertEqual([], complaints)
        unfenced, _complaints = self.walk('start', fenced=False)
        self.assertEqual(fenced.runs, unfenced.runs)
        self.assertGreater(unfenced.repaired, fenced.repaired)

    def test_without_the_fence_and_the_look_at_projects_servers_are_lost(self) -> None:
        self.useFixture(fixtures.MockPatchObject(host_servers, 'clear', _deletes_all))
        _walk, complaints = self.walk('end', fenced=False)
        self.assertNotEqual([], [line for line in complaints if 'is gone: servers' in line])

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
