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

"""The simulated cloud: the verbs of :mod:`climate.clients.base` without one.

Tests, demonstrations and the standalone service use it. It is held to the same
contract tests as the clients of a real cloud, and behaves like Nova, Placement,
Neutron, Cinder, Glance, Heat and Keystone where Climate can see a difference:
names are unique, a host is in one availability zone only, servers take a while
to go, and missing objects raise an error.

Failure: any process that knows the state directory can let verbs fail before or
after their work, delay them, or disconnect the cloud
(:meth:`SimulatedCloud.fail`, :meth:`SimulatedCloud.slow`,
:attr:`SimulatedCloud.reachable`). ``python -m climate.simulator`` does the same
from the command line.

Operations that take time in a real cloud take none at first, and then as long
as set by :meth:`SimulatedCloud.set_seconds`: ``server_creation``,
``server_deletion``, ``server_action`` (shelving and suspending, for example),
``shelved_offload`` (from shelved to offloaded), ``image``.

Known differences from real clouds: the only policy is that a project other than
``service`` cannot choose the host of a server; the scheduler supports zones, the
hint ``reservation``, traits and room, but no filters; there are no transient
statuses, such as ``DELETED`` before a server is gone; and there are no cells and
no Ironic. Networks do not choose segments or move packets; any router reaches
any subnet, and any project may use a private volume type. Stacks consist of
names only, from templates without functions except ``get_param``. A deleted
trust stops working at once, while real services cache its tokens for minutes.
"""

from __future__ import annotations

from climate.simulator.cloud import SimulatedCloud
from climate.simulator.control import Call
from climate.simulator.faults import Error
from climate.simulator.faults import InjectedFault
from climate.simulator.faults import VERBS
from climate.simulator.faults import When
from climate.simulator.store import MEMORY

__all__ = ['MEMORY', 'VERBS', 'Call', 'Error', 'InjectedFault', 'SimulatedCloud', 'When']
