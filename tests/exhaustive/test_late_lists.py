# SPDX-License-Identifier: Apache-2.0

"""Leases of each type in a cloud that shows what was made only some seconds later."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate.simulator import VERBS
from climate.testing.kinds import TypeRegistrar
from climate.testing.world import World
from tests import base
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.world import World as WalkedWorld

LATE = 2.0
CREATING = tuple(verb for verb in VERBS if '.create_' in verb)


class TestLateLists(base.TestCase):
    """One test for each kind of lease; the loop below adds them."""

    def walk(self, kind: kinds.Kind, *, lost: bool) -> None:
        """Let a lease start and end.

        :param lost: whether the first answer of each call that makes something is lost
        """
        world: World = self.useFixture(WalkedWorld())
        requests = kind.furnish(TypeRegistrar(world.store, world.plugins, world.cloud))
        deadline = datetime.timedelta(seconds=60)
        world.settings = dataclasses.replace(world.settings, effect_deadline=deadline)
        world.manager = world.add_manager()
        lease = world.book(requests, 20, 400)
        world.cloud.show_late(LATE)
        for verb in CREATING if lost else ():
            world.cloud.fail(verb, when='after')
        world.until(200)
        self.assertEqual('ACTIVE', world.status(lease), self.why(world))
        world.cloud.heal()
        world.until(900)
        self.assertEqual('TERMINATED', world.status(lease), self.why(world))

    def why(self, world: World) -> str:
        """Return the reasons of all failures."""
        return '; '.join(
            str(message.payload.get('reason'))
            for message in world.bus.taken
            if message.event_type == 'lease.event.error'
        )


def _test(kind: kinds.Kind, *, lost: bool) -> Callable[[TestLateLists], None]:
    return lambda self: self.walk(kind, lost=lost)


for _name, _kind in kinds.KINDS.items():
    for _lost in (False, True):
        _words = f'{_name} {"whose answers are lost" if _lost else ""}'.strip()
        _words = _words.replace(':', '_').replace(' ', '_')
        setattr(TestLateLists, f'test_{_words}', _test(_kind, lost=_lost))
