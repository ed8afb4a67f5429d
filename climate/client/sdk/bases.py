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

"""What all resources of the service have in common."""

from __future__ import annotations

from typing import Any
from typing import Final

from keystoneauth1 import adapter
from openstack import resource

NEWEST: Final = '1.7'
"""The newest microversion that these resources know."""


class ReservationResource(resource.Resource):
    """A resource whose requests are JSON without an outer key."""

    _max_microversion = NEWEST
    commit_method = 'PUT'

    def create(self, session: adapter.Adapter, *args: Any, **kwargs: Any) -> Any:
        """Create it; see :class:`openstack.resource.Resource`."""
        return super().create(session, *args, **{**kwargs, 'prepend_key': False})

    def commit(self, session: adapter.Adapter, *args: Any, **kwargs: Any) -> Any:
        """Change it; see :class:`openstack.resource.Resource`."""
        return super().commit(session, *args, **{**kwargs, 'prepend_key': False})
