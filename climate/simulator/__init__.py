# SPDX-License-Identifier: Apache-2.0

"""A simulated cloud: implements :mod:`climate.cloud.base` without a real one.

Tests, demonstrations and the standalone service use it. It passes the same contract
tests as the clients of a real cloud, and behaves like Nova, Placement, Neutron,
Cinder, Glance, Heat and Keystone where Climate can see a difference: names are unique,
a host is in only one availability zone, deleting a server takes a while, and missing
objects raise an error.

Any process that knows the state directory can make *verbs* (the methods of the
services, such as ``compute.add_host``) fail before or after their work, delay them, or
disconnect the cloud: see :meth:`SimulatedCloud.fail`, :meth:`SimulatedCloud.slow` and
:attr:`SimulatedCloud.reachable`. ``python -m climate.simulator`` does the same from the
command line.

Operations that take time in a real cloud take none by default.
:meth:`SimulatedCloud.set_seconds` sets their duration: ``server_creation``,
``server_deletion``, ``server_action`` (shelving and suspending, for example),
``shelved_offload`` (from shelved to offloaded), ``image``.

Known differences from real clouds:

* The only policy is that a project other than ``service`` cannot choose the host of a
  server.
* The scheduler supports zones, the hint ``reservation``, traits and resources, but no
  filters.
* There are no transient statuses, such as ``DELETED`` before a server disappears, no
  cells and no Ironic.
* Networks do not choose segments or transport packets, and any router reaches any
  subnet.
* Stacks consist of names only, from templates without functions except ``get_param``.
* A deleted trust stops working at once, while real services cache its tokens for
  minutes.
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
