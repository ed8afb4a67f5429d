# SPDX-License-Identifier: Apache-2.0

"""What the walk books of stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

from climate.cloud.protocols.stacks import StackDraft
from climate.domain.leases import Lease
from tests.functional.manager import harness

if TYPE_CHECKING:
    from climate.testing.kinds import TypeRegistrar
    from tests.functional.manager.walk.deployment import WalkDeployment

VERSION = "heat_template_version: '2021-04-16'\n"
TEMPLATE = f"""{VERSION}
parameters:
  size: {{type: string, default: m1.small}}
resources:
  disk: {{type: OS::Cinder::Volume, properties: {{size: 3}}}}
  single: {{type: OS::Nova::Server, properties: {{flavor: m1.tiny}}}}
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      resource: {{type: OS::Nova::Server, properties: {{flavor: {{get_param: size}}}}}}
"""
SMALL = f'{VERSION}resources: {{one: {{type: OS::Heat::RandomString}}}}'
SECONDS = 1.0


def with_addresses(network: str) -> str:
    """Return a template with a server and two floating IPs."""
    return f"""{VERSION}
resources:
  single: {{type: OS::Nova::Server, properties: {{flavor: m1.tiny}}}}
  port: {{type: OS::Neutron::Port}}
  door:
    type: OS::Neutron::FloatingIP
    properties: {{floating_network: {network}, port_id: {{get_resource: port}}}}
  spare: {{type: OS::Neutron::FloatingIP, properties: {{floating_network: {network}}}}}
"""


def existing(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Let the project have a stack, and lease it."""
    place.cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
    heat = place.cloud.of_caller(f'alice:{harness.PROJECT}').orchestration
    stack_id = heat.create_stack(StackDraft(name='mine', template=SMALL))
    place.cloud.set_seconds('stack', SECONDS)
    return ({'resource_type': 'virtual:stack', 'stack_id': stack_id},)


def made(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Lease a stack that is to be made."""
    place.cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
    place.cloud.set_seconds('stack', SECONDS)
    return ({'resource_type': 'virtual:stack', 'name': 'web', 'template': TEMPLATE},)


def use(_site: WalkDeployment, _lease: Lease) -> None:
    """Use a stack: nothing that Climate could see."""


def same(contents: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return contents without what becomes of a stack that is suspended and resumed.

    Afterwards it is suspended, and there is a snapshot of it: as was wanted.
    """
    kept = dict(contents)
    kept['stacks'] = [row[:5] for row in kept['stacks']]
    kept.pop('stack_snapshots')
    return kept
