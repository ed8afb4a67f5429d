# SPDX-License-Identifier: Apache-2.0

"""Test cases of a resource type, made from one declaration.

A type is tested by a class of two lines::

    class TestRacks(TypeTestCase):
        kind = Kind(plugin=Racks, furnish=..., changes={}, use=lambda site, lease: None)

It has a test for each scenario of a lease (``test_walk_start``, …), in which each call to
the cloud fails in turn; a test for invalid fields of a new lease, and one for those of a
change; a test that kills the manager at each step; and a test of its instructions for users.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import ClassVar
from typing import Final

import fixtures
import testtools
from testtools import content

from climate.plugins.contract import Plugin
from climate.simulator import SimulatedCloud
from climate.testing import promised
from climate.testing import walker
from climate.testing.fields import Sweep
from climate.testing.instructed import Instructed
from climate.testing.killed import Killed
from climate.testing.kinds import LeasedType
from climate.testing.own_services import OwnService
from climate.testing.restorable import RestorableDeployment
from climate.testing.service import Service

# An error in one step usually occurs in most steps, so a few complaints are enough.
_MOST: Final = 10
_UNSEEN: Final = (
    'start and end of the type make no call that the tests can see, so these cannot find what it '
    'fails to release: name the services that it calls in LeasedType.services'
)


class TypeTestCase(testtools.TestCase):
    """Base of the test cases of types.

    :cvar kind: describes leases of the type
    """

    kind: ClassVar[LeasedType]
    test_wrong_fields_of_a_new_lease: Callable[..., None]
    test_wrong_fields_of_a_change: Callable[..., None]
    test_killed_at_each_step: Callable[..., None]
    test_instructions: Callable[..., None]

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if 'kind' in vars(cls):
            for scenario in walker.scenarios(cls.kind):
                name = f'test_walk_{scenario.name.replace(" ", "_")}'
                setattr(cls, name, _walk(scenario))
            # Set here, so that a module that imports this class does not run them.
            cls.test_wrong_fields_of_a_new_lease = cls.check_new_leases
            cls.test_wrong_fields_of_a_change = cls.check_changes
            cls.test_killed_at_each_step = cls.check_kills
            cls.test_instructions = cls.check_instructions

    def plugins(self) -> Iterable[Plugin[Any]]:
        """Return the enabled types in addition to ``physical:host``."""
        assert self.kind.plugin is not None
        return [self.kind.plugin(**self._services)]

    def setUp(self) -> None:
        """Create the fakes of the services of the type."""
        super().setUp()
        self._services = {
            name: OwnService(name, create()) for name, create in self.kind.services.items()
        }

    def check(self, complaints: Iterable[str]) -> None:
        """Fail with the first complaints, if any."""
        self.assertEqual('', '\n'.join(list(complaints)[:_MOST]))

    def check_walk(self, scenario: walker.Scenario) -> None:
        """Let each call of a scenario fail in each way."""
        if scenario.name == 'sweep' and all(
            type(plugin).sweep is Plugin.sweep for plugin in self.plugins()
        ):
            self.skipTest('the type does not sweep')
        walked = {
            call.key
            for other in walker.scenarios(self.kind)
            if other.name in scenario.again
            for call in walker.Walk(self._site(), self.kind, other).calls()
        }
        walk = walker.Walk(self._site(), self.kind, scenario, walked)
        complaints = list(walk.complaints())
        if scenario.name == 'whole life' and not walk.steps and self.kind.has_effects:
            complaints.append(_UNSEEN)
        text = f'{walk.steps} steps, {walk.faults} faults, {walk.runs} runs'
        self.addDetail('walked', content.text_content(text))
        self.check(complaints)

    def check_new_leases(self) -> None:
        """Book a lease with each invalid value of each field."""
        self.check(Sweep(self._service(), self.kind).of_creations())

    def check_changes(self) -> None:
        """Change each field of a booked lease to each invalid value."""
        self.check(Sweep(self._service(), self.kind).of_changes())

    def check_kills(self) -> None:
        """Kill the manager at each step, and let another one continue."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        site = self.useFixture(
            RestorableDeployment(self.plugins(), str(folder / 'cloud'), promised.SETTINGS)
        )
        self._connect(site.cloud)
        lease = promised.BookedLease(site, self.kind)
        killed = Killed(site, lease, folder / 'died')
        self.check(killed.complaints())
        self.assertGreater(killed.steps, 0)

    def check_instructions(self) -> None:
        """Check that the instructions for a lease are well-formed."""
        self.check(Instructed(self._site(), self.kind).complaints())

    def _site(self) -> RestorableDeployment:
        site = self.useFixture(RestorableDeployment(self.plugins()))
        self._connect(site.cloud)
        return site

    def _service(self) -> Service:
        service = self.useFixture(Service(self.plugins()))
        self._connect(service.cloud)
        return service

    def _connect(self, cloud: SimulatedCloud) -> None:
        for service in self._services.values():
            service.connect(cloud)


def _walk(scenario: walker.Scenario) -> Callable[[TypeTestCase], None]:
    def test(self: TypeTestCase) -> None:
        self.check_walk(scenario)

    test.__doc__ = f'Let each call of this scenario fail in turn: {scenario.name}.'
    return test
