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

"""The twin of a cloud: the verbs of :mod:`climate.clients.base` without one.

It serves tests, demonstrations and the standalone service, and it ships
because a fake that is held to the contract is worth more than a mock. It
behaves like Nova, Placement, Neutron and Cinder where Climate could notice: names are unique,
a host is in one availability zone only, servers take a while to go, whoever
looks for what is not there is told so.

Failure: it can be told to fail before or after it has done the work, to be
slow, or to be away (:meth:`Twin.fail`, :meth:`Twin.slow`,
:attr:`Twin.reachable`), by any process that knows the directory of its state.
``python -m climate.clients.fake --help`` says how to do so by hand.

What takes time in a real cloud takes none at first, and as long as
:meth:`Twin.set_seconds` says: ``server_creation``, ``server_deletion``,
``server_action`` (shelving, suspending and the like), ``shelved_offload`` (from
shelved to offloaded), ``image``.

Drift from the real clouds, as far as it is known: the twin has no policies but
that a project other than ``service`` may not say where a server runs; its
scheduler knows zones, the hint ``reservation``, traits and room, and no filters;
it keeps no statuses of an instant, such as ``DELETED`` before a server is gone;
and it knows no cells and no Ironic. In networks it chooses no segments and
moves no packets; any subnet can be reached from any router, and any project may
use a private volume type. Its stacks are made of names only, from templates
without functions but ``get_param``; and a trust that is deleted helps nobody
from that instant on, while real services remember its tokens for minutes.
"""

from __future__ import annotations

from climate.clients.fake.control import Call
from climate.clients.fake.faults import Error
from climate.clients.fake.faults import Fault
from climate.clients.fake.faults import VERBS
from climate.clients.fake.faults import When
from climate.clients.fake.store import MEMORY
from climate.clients.fake.twin import Twin

__all__ = ['MEMORY', 'VERBS', 'Call', 'Error', 'Fault', 'Twin', 'When']
