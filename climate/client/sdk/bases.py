# SPDX-License-Identifier: Apache-2.0

"""What all resources of the service have in common."""

from __future__ import annotations

from typing import Any
from typing import Final

from keystoneauth1 import adapter
from openstack import resource

NEWEST: Final = '1.8'
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


class ManagedResource(ReservationResource):
    """A resource that users create, change and delete."""

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True
