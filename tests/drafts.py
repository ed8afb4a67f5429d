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

"""Drafts of resources for tests."""

from __future__ import annotations

from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin
from climate.domain.resources import ResourceDraft

# Like a type that is declared in a file.
RACKS = Declaration(
    name='custom:rack',
    description='Racks of the hall',
    noun='racks',
    announce=('hall',),
    origin=Origin.FILE,
)


def host(name: str, **capabilities: str) -> ResourceDraft:
    """Return the draft of a host."""
    return ResourceDraft(resource_type='physical:host', name=name, capabilities=capabilities)
