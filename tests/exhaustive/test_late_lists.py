# SPDX-License-Identifier: Apache-2.0

"""Leases of each type in a cloud that shows what was made only some seconds later."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate.simulator import VERBS
from climate.testing.kinds import TypeRegistrar
from climate.testing.restorable import RestorableDeployment
from tests import base
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.deployment import WalkDeployment

LATE = 2.0
CREATING = tuple(verb for verb in VERBS if '.create_' in verb)


class TestLateLists(base.TestCase):
    """One test for each kind of lease; the loop below adds them."""

    def walk(self, kind: kinds.Kind, *, lost: bool) -> None:
        """Let a lease start and end.

        :param lost: whether the first answer of each call that makes something is lost
        """
        site: RestorableDeployment = self.useFixture(WalkDeployment())
        requests = kind.furnish(TypeRegistrar(site.store, site.plugins, site.cloud))
        deadline = datetime.timedelta(seconds=60)
        site.settings = dataclasses.replace(site.settings, effect_deadline=deadline)
        site.manager = site.add_manager()
        lease = site.book(requests, 20, 400)
        site.cloud.show_late(LATE)
        for verb in CREATING if lost else ():
            site.cloud.fail(verb, when='after')
        site.until(200)
        self.assertEqual('ACTIVE', site.status(lease), self.why(site))
        site.cloud.heal()
        site.until(900)
        self.assertEqual('TERMINATED', site.status(lease), self.why(site))

    def why(self, site: RestorableDeployment) -> str:
        """Return the reasons of all failures."""
        return '; '.join(
            str(message.payload.get('reason'))
            for message in site.bus.taken
            if message.event_type == 'lease.event.error'
        )


def _test(kind: kinds.Kind, *, lost: bool) -> Callable[[TestLateLists], None]:
    return lambda self: self.walk(kind, lost=lost)


for _name, _kind in kinds.KINDS.items():
    for _lost in (False, True):
        _words = f'{_name} {"whose answers are lost" if _lost else ""}'.strip()
        _words = _words.replace(':', '_').replace(' ', '_')
        setattr(TestLateLists, f'test_{_words}', _test(_kind, lost=_lost))
