# SPDX-License-Identifier: Apache-2.0

"""Each call to the cloud with which a lease yields and resumes fails once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.read_only import is_read_only
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.simulator import SimulatedCloud
from climate.testing import restorable
from climate.testing.kinds import TypeRegistrar
from climate.testing.recorded_calls import CallRecorder
from climate.testing.restorable import CALLER
from climate.testing.walker import FailingCall
from climate.testing.walker import How
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk import servers
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.functional.manager.walk.stacks import SMALL

Wishes = Sequence[Mapping[str, Any]]

GREEN: Final = dataclasses.replace(CALLER, project_id='green', token='alice:green')
SETTINGS: Final = dataclasses.replace(restorable.SETTINGS, firm_before=restorable.NOTHING)
HOWS: Final[tuple[How, ...]] = ('before', 'after')
LIVED: Final = ['WAITING', 'ACTIVE', 'ACTIVE']
RACK: Final = {'resource_type': drafts.RACKS.name, 'min': 1, 'max': 1}
TAKEN: Final = ({'resource_type': 'physical:host', 'min': 4, 'max': 4}, RACK)


def _own(cloud: SimulatedCloud) -> Wishes:
    return [*servers.own(cloud), RACK]


def _booted(cloud: SimulatedCloud) -> Wishes:
    (wish,) = servers.booted(cloud)
    return [{**wish, 'guarantee': False, 'on_end': 'delete'}, RACK]


def _stack(cloud: SimulatedCloud) -> Wishes:
    cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
    heat = cloud.of_caller(f'alice:{harness.PROJECT}').orchestration
    stack_id = heat.create_stack(StackDraft(name='mine', template=SMALL))
    return [{'resource_type': 'virtual:stack', 'stack_id': stack_id}, RACK]


def _hosts(_cloud: SimulatedCloud) -> Wishes:
    return [{'resource_type': 'physical:host', 'min': 2, 'max': 2}]


def _instances(_cloud: SimulatedCloud) -> Wishes:
    return [{'resource_type': 'flavor:instance', 'flavor_id': '2', 'amount': 2}]


class FailingYieldsTest(base.TestCase):
    """A lease that is cut after 20 minutes, and resumes after others have ended."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(self.made())
        self.registrar = TypeRegistrar(self.site.store, self.site.plugins, self.site.cloud)
        self.registrar.register(drafts.RACKS.name, 'rack-1')

    def made(self) -> WalkDeployment:
        """Return the site of a test."""
        return WalkDeployment(settings=SETTINGS)

    def cut(self, wishes: Callable[[SimulatedCloud], Wishes], mode: YieldMode) -> Lease:
        """Book a lease that begins at once, and let another cut it at 1,800 seconds."""
        wanted = wishes(self.site.cloud)
        self.site.until(30)
        draft = self.site.draft(wanted, 30, 3030)
        draft = dataclasses.replace(draft, earliest=draft.start, preemptible=True)
        lease = self.site.leases.create(CALLER, draft)
        self.assertEqual(mode, lease.yields)
        self.site.until(600)
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.site.leases.create(GREEN, self.site.draft(TAKEN, 1800, 3000))
        return lease

    def live(self, lease: Lease) -> list[str]:
        """Let the lease yield and resume; return its statuses."""
        found = [self.site.status_at(1900, lease)]
        self.site.until(3001)
        Planner(self.site.leases).round()
        # Later than 3,001 if a manager has hung.
        now = self.site.seconds()
        return [*found, *(self.site.status_at(now + more, lease) for more in (59, 199))]

    def walk(self, wishes: Callable[[SimulatedCloud], Wishes], mode: YieldMode) -> None:
        """Let each call fail once, before or after it has been carried out."""
        lease = self.cut(wishes, mode)
        begin = self.site.save()
        with CallRecorder(self.site) as recorder:
            self.assertEqual(LIVED, self.live(lease))
        contents = self.shape(lease)
        counted: Counter[str] = Counter()
        walked = set[str]()
        for call in recorder.calls:
            counted[call.verb] += 1
            known = call.key in walked
            walked.add(call.key)
            # A read-only call can lose nothing except its response.
            for how in () if known else HOWS[: 1 if is_read_only(call.verb) else 2]:
                where = f'{call.verb} ({counted[call.verb]}), {how}'
                self.site.restore(begin)
                FailingCall(
                    verb=call.verb, nth=counted[call.verb], step=0, how=how, key=call.key
                ).inflict(self.site)
                found = self.live(lease)
                self.site.cloud.heal()
                self.assertEqual((LIVED, contents), (found, self.shape(lease)), where)

    def shape(self, lease: Lease) -> Any:
        """Return what there is of the lease, without ids that differ from run to run."""
        cloud, now = self.site.cloud, self.site.now(lease)
        return (
            now.period,
            (now.time_left, now.ran),
            [server.status for server in cloud.servers()],
            sorted(len(item.hosts) for item in cloud.aggregates() if item.name != 'freepool'),
            len(cloud.contents()['stacks']),
        )

    def test_a_server_of_its_owner(self) -> None:
        self.walk(_own, YieldMode.SUSPEND)

    def test_a_server_that_the_lease_boots(self) -> None:
        self.walk(_booted, YieldMode.SUSPEND)

    def test_a_stack(self) -> None:
        self.walk(_stack, YieldMode.SUSPEND)

    def test_addresses(self) -> None:
        self.walk(lambda _: [*kinds._addresses(self.registrar), RACK], YieldMode.REQUEUE)

    def test_networks(self) -> None:
        self.walk(lambda _: [*kinds._segments_of(self.registrar, 101), RACK], YieldMode.REQUEUE)

    def test_hosts(self) -> None:
        self.walk(_hosts, YieldMode.REQUEUE)

    def test_instances(self) -> None:
        self.walk(_instances, YieldMode.REQUEUE)
