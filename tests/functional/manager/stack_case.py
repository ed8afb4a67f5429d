# SPDX-License-Identifier: Apache-2.0

"""What tests of leases of stacks have in common."""

from __future__ import annotations

import json
from typing import Any

from climate.booking.requests import trusts
from climate.cloud.protocols.stacks import Stack
from climate.cloud.protocols.stacks import StackDraft
from climate.domain.leases import Lease
from tests import base
from tests.functional.manager import harness
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.functional.manager.walk.stacks import SMALL
from tests.functional.manager.walk.stacks import TEMPLATE
from tests.narrowing import present

TYPE = 'virtual:stack'
START, END = 100, 3600


class StackCase(base.TestCase):
    """Somebody who has a project, in a cloud."""

    def setUp(self) -> None:
        super().setUp()
        # Tests compare the times at which trusts expire.
        self.patch(trusts, '_SHIFTS', 1)
        self.site = self.useFixture(WalkDeployment())
        self.cloud = self.site.cloud
        self.cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
        self.heat = self.cloud.of_caller(f'alice:{harness.PROJECT}').orchestration

    def mine(self, template: str = SMALL) -> str:
        """Let the project have a stack, and return its id."""
        return self.heat.create_stack(StackDraft(name='mine', template=template))

    def existing(self, stack_id: str, start: float = START, end: float = END, **more: Any) -> Lease:
        """Lease a stack that exists."""
        return self.site.book(({'resource_type': TYPE, 'stack_id': stack_id, **more},), start, end)

    def made(self, start: float = START, end: float = END, **more: Any) -> Lease:
        """Lease a stack that is to be made."""
        body = {'resource_type': TYPE, 'name': 'web', 'template': TEMPLATE, **more}
        return self.site.book((body,), start, end)

    def stack(self, name_or_id: str = 'mine') -> Stack:
        """Return a stack as it is."""
        return present(self.heat.find_stack(name_or_id))

    def state(self, name_or_id: str = 'mine') -> str:
        """Return what was done with a stack last, and what came of it."""
        found = self.stack(name_or_id)
        return f'{found.action}_{found.status}'

    def snapshots(self, name_or_id: str = 'mine') -> list[tuple[str, str]]:
        """Return the snapshots of a stack: status, and the last word of the name."""
        found = self.heat.list_stack_snapshots(self.stack(name_or_id).id)
        return [(item.status, item.name.split(' ')[1]) for item in found]

    def reason(self, lease: Lease) -> str:
        """Return why something failed, by the last notification."""
        return self.site.reasons(lease)[-1]

    def flavors(self) -> list[str]:
        """Return the flavors of the servers of the only stack, sorted."""
        (row,) = self.cloud.contents()['stacks']
        return sorted(
            item['properties']['flavor']
            for item in json.loads(str(row[4]))
            if item['type'] == 'OS::Nova::Server'
        )

    def trusts(self) -> list[Any]:
        """Return the trusts that there are."""
        return self.cloud.contents()['trusts']
