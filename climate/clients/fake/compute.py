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

"""Nova, as the twin has it."""

from __future__ import annotations

from climate.clients.fake import aggregates
from climate.clients.fake import attachments
from climate.clients.fake import flavors
from climate.clients.fake import hypervisors
from climate.clients.fake import server_groups
from climate.clients.fake import servers

SCHEMA = ''.join(
    module.SCHEMA
    for module in (hypervisors, aggregates, flavors, server_groups, servers, attachments)
)


class FakeCompute(
    hypervisors.FakeHypervisors,
    servers.FakeServers,
    attachments.FakeAttachments,
    aggregates.FakeAggregates,
    flavors.FakeFlavors,
    server_groups.FakeServerGroups,
):
    """Fulfils :class:`climate.clients.base.Compute`."""
