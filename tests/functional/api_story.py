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

"""The story whose requests and answers the reference of the API shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

OWNER = 'alice:physics:member'
OTHER = 'bob:biology:reader'
ADMIN = 'root:operators:admin'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """One request of the story.

    :ivar name: of the files, below ``samples``, without ``-request.json``
    :ivar path: ``{first}`` and so on stand for ids of leases
    :ivar sends: whether there is a file with the body
    :ivar worked: whether a manager does before what is due
    """

    name: str
    method: str
    path: str
    status: int = 200
    token: str = OWNER
    version: str = '1.0'
    sends: bool = False
    worked: bool = False


STORY: Sequence[Step] = (
    Step(name='versions/versions', method='GET', path='/', status=300),
    Step(name='versions/version', method='GET', path='/v1'),
    Step(
        name='hosts/create',
        method='POST',
        path='/v1/os-hosts',
        status=201,
        token=ADMIN,
        sends=True,
    ),
    Step(
        name='leases/create',
        method='POST',
        path='/v1/leases',
        status=201,
        sends=True,
    ),
    Step(
        name='leases/create-1.1',
        method='POST',
        path='/v1/leases',
        status=201,
        version='1.1',
        sends=True,
    ),
    Step(
        name='leases/refused-1.1',
        method='POST',
        path='/v1/leases',
        status=409,
        version='1.1',
        sends=True,
    ),
    Step(name='leases/list', method='GET', path='/v1/leases'),
    Step(
        name='leases/list-1.1',
        method='GET',
        path='/v1/leases?status=PENDING&sort_key=start_date&limit=1',
        version='1.1',
    ),
    Step(name='leases/show', method='GET', path='/v1/leases/{first}'),
    Step(name='leases/show-1.1', method='GET', path='/v1/leases/{second}', version='1.1'),
    Step(name='allocations/list', method='GET', path='/v1/os-hosts/allocations'),
    Step(name='allocations/list-other', method='GET', path='/v1/os-hosts/allocations', token=OTHER),
    Step(name='allocations/show', method='GET', path='/v1/os-hosts/4/allocation'),
    Step(
        name='allocations/show-1.1',
        method='GET',
        path='/v1/os-hosts/4/allocation',
        version='1.1',
    ),
    Step(name='leases/update', method='PUT', path='/v1/leases/{first}', sends=True),
    Step(
        name='leases/update-1.1',
        method='PUT',
        path='/v1/leases/{second}',
        version='1.1',
        sends=True,
    ),
    Step(
        name='leases/reallocate-1.2',
        method='POST',
        path='/v1/leases/{first}/reallocate',
        version='1.2',
        sends=True,
    ),
    Step(
        name='leases/update-1.3',
        method='PUT',
        path='/v1/leases/{second}',
        version='1.3',
        sends=True,
    ),
    Step(
        name='leases/readiness-1.3',
        method='POST',
        path='/v1/leases/{second}/readiness',
        token=ADMIN,
        version='1.3',
        sends=True,
    ),
    Step(name='leases/delete', method='DELETE', path='/v1/leases/{second}', status=204),
    Step(name='errors/not-found', method='GET', path='/v1/leases/{second}', status=404),
    Step(name='leases/delete-first', method='DELETE', path='/v1/leases/{first}', status=204),
    Step(name='hosts/list', method='GET', path='/v1/os-hosts'),
    Step(name='hosts/show', method='GET', path='/v1/os-hosts/4'),
    Step(
        name='maintenances/create',
        method='POST',
        path='/v1/maintenances',
        status=201,
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(
        name='maintenances/list',
        method='GET',
        path='/v1/maintenances',
        token=ADMIN,
        version='1.2',
    ),
    Step(
        name='maintenances/show',
        method='GET',
        path='/v1/maintenances/{maintenance}',
        token=ADMIN,
        version='1.2',
    ),
    Step(
        name='maintenances/delete',
        method='DELETE',
        path='/v1/maintenances/{maintenance}',
        status=204,
        token=ADMIN,
        version='1.2',
    ),
    Step(name='properties/list', method='GET', path='/v1/os-hosts/properties'),
    Step(
        name='properties/list-detail',
        method='GET',
        path='/v1/os-hosts/properties?detail=True&all=True',
        token=ADMIN,
    ),
    Step(
        name='properties/update',
        method='PATCH',
        path='/v1/os-hosts/properties/rack',
        token=ADMIN,
        sends=True,
    ),
    Step(name='hosts/update', method='PUT', path='/v1/os-hosts/4', token=ADMIN, sends=True),
    Step(name='hosts/delete', method='DELETE', path='/v1/os-hosts/4', status=204, token=ADMIN),
    Step(
        name='resource_types/create',
        method='POST',
        path='/v1/resource-types',
        status=201,
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(
        name='resources/create',
        method='POST',
        path='/v1/resources',
        status=201,
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(
        name='resources/lease',
        method='POST',
        path='/v1/leases',
        status=201,
        version='1.2',
        sends=True,
    ),
    Step(
        name='allocations/list-any',
        method='GET',
        path='/v1/resources/allocations?type=custom:licence',
        version='1.2',
    ),
    Step(
        name='allocations/show-any', method='GET', path='/v1/resources/5/allocations', version='1.2'
    ),
    Step(
        name='properties/list-any',
        method='GET',
        path='/v1/resources/properties?type=custom:licence',
        version='1.2',
    ),
    Step(
        name='properties/update-any',
        method='PATCH',
        path='/v1/resources/properties/vendor?type=custom:licence',
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(
        name='resources/update',
        method='PUT',
        path='/v1/resources/5',
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(
        name='resources/list',
        method='GET',
        path='/v1/resources?type=custom:licence&limit=1',
        version='1.2',
    ),
    Step(name='resources/show', method='GET', path='/v1/resources/5', version='1.2'),
    Step(name='resources/end', method='DELETE', path='/v1/leases/{third}', status=204),
    Step(
        name='resources/delete',
        method='DELETE',
        path='/v1/resources/5',
        status=204,
        token=ADMIN,
        version='1.2',
    ),
    Step(
        name='resource_types/update',
        method='PUT',
        path='/v1/resource-types/custom:licence',
        token=ADMIN,
        version='1.2',
        sends=True,
    ),
    Step(name='resource_types/list', method='GET', path='/v1/resource-types', version='1.2'),
    Step(
        name='resource_types/show',
        method='GET',
        path='/v1/resource-types/custom:licence',
        version='1.2',
    ),
    Step(
        name='resource_types/delete',
        method='DELETE',
        path='/v1/resource-types/custom:licence',
        status=204,
        token=ADMIN,
        version='1.2',
    ),
    Step(
        name='floatingips/create',
        method='POST',
        path='/v1/floatingips',
        status=201,
        token=ADMIN,
        sends=True,
    ),
    Step(name='floatingips/list', method='GET', path='/v1/floatingips'),
    Step(name='floatingips/show', method='GET', path='/v1/floatingips/6'),
    Step(
        name='floatingips/delete',
        method='DELETE',
        path='/v1/floatingips/6',
        status=204,
        token=ADMIN,
    ),
    Step(
        name='leases/create-1.3',
        method='POST',
        path='/v1/leases',
        status=201,
        version='1.3',
        sends=True,
    ),
    Step(
        name='leases/history-1.3',
        method='GET',
        path='/v1/leases/{fourth}/history',
        version='1.3',
        worked=True,
    ),
    Step(
        name='leases/extension-1.4',
        method='GET',
        path='/v1/leases/{fourth}/extension?latest=2030-01-31T00:00:00Z',
        version='1.4',
    ),
    Step(
        name='availability/show-1.4',
        method='GET',
        path='/v1/availability?resource_type=physical:host&start=2030-01-01T12:00:00Z'
        '&end=2030-01-01T16:00:00Z&step=1h&resources=VCPU:4',
        version='1.4',
    ),
    Step(
        name='offers/create-1.4',
        method='POST',
        path='/v1/offers',
        version='1.4',
        sends=True,
    ),
    Step(name='offers/show-1.4', method='GET', path='/v1/offers/{offer}', version='1.4'),
    Step(
        name='leases/take-1.4',
        method='POST',
        path='/v1/leases',
        status=201,
        version='1.4',
        sends=True,
    ),
    Step(
        name='offers/delete-1.4',
        method='DELETE',
        path='/v1/offers/{offer}',
        status=204,
        version='1.4',
    ),
    Step(
        name='leases/rehearse-1.4',
        method='POST',
        path='/v1/leases',
        version='1.4',
        sends=True,
    ),
    Step(
        name='leases/refused-1.4',
        method='POST',
        path='/v1/leases',
        status=409,
        version='1.4',
        sends=True,
    ),
    Step(
        name='leases/placed-1.4',
        method='POST',
        path='/v1/leases',
        status=201,
        version='1.4',
        sends=True,
    ),
    Step(name='health/health', method='GET', path='/healthcheck?checks=all'),
    Step(
        name='calendar/show-1.5',
        method='GET',
        path='/v1/calendar?resource_type=physical:host&start=2030-01-01T00:00:00Z&limit=2',
        version='1.5',
    ),
    Step(name='me/show-1.5', method='GET', path='/v1/me', version='1.5'),
    Step(
        name='usage/show-1.5',
        method='GET',
        path='/v1/usage?start=2030-01-01T00:00:00Z&end=2030-01-03T00:00:00Z&by=project',
        version='1.5',
        token=ADMIN,
    ),
)
