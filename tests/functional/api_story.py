# SPDX-License-Identifier: Apache-2.0

"""The story whose requests and answers the reference of the API shows."""

from __future__ import annotations

from collections.abc import Sequence

from tests.functional.api_steps import ADMIN
from tests.functional.api_steps import delete
from tests.functional.api_steps import get
from tests.functional.api_steps import OTHER
from tests.functional.api_steps import patch
from tests.functional.api_steps import post
from tests.functional.api_steps import put
from tests.functional.api_steps import Step

STORY: Sequence[Step] = (
    get('versions/versions', '/', status=300),
    get('versions/version', '/v1'),
    post('hosts/create', '/v1/os-hosts', token=ADMIN),
    post('leases/create', '/v1/leases'),
    post('leases/create-1.1', '/v1/leases', '1.1'),
    post('leases/refused-1.1', '/v1/leases', '1.1', status=409),
    get('leases/list', '/v1/leases'),
    get('leases/list-1.1', '/v1/leases?status=PENDING&sort_key=start_date&limit=1', '1.1'),
    get('leases/show', '/v1/leases/{first}'),
    get('leases/show-1.1', '/v1/leases/{second}', '1.1'),
    get('allocations/list', '/v1/os-hosts/allocations'),
    get('allocations/list-other', '/v1/os-hosts/allocations', token=OTHER),
    get('allocations/show', '/v1/os-hosts/1/allocation'),
    get('allocations/show-1.1', '/v1/os-hosts/1/allocation', '1.1'),
    put('leases/update', '/v1/leases/{first}'),
    put('leases/update-1.1', '/v1/leases/{second}', '1.1'),
    post('leases/reallocate-1.2', '/v1/leases/{first}/reallocate', '1.2', status=200),
    put('leases/update-1.3', '/v1/leases/{second}', '1.3'),
    post('leases/readiness-1.3', '/v1/leases/{second}/readiness', '1.3', token=ADMIN, status=200),
    delete('leases/delete', '/v1/leases/{second}'),
    get('errors/not-found', '/v1/leases/{second}', status=404),
    delete('leases/delete-first', '/v1/leases/{first}'),
    get('hosts/list', '/v1/os-hosts'),
    get('hosts/show', '/v1/os-hosts/4'),
    post('maintenances/create', '/v1/maintenances', '1.2', token=ADMIN),
    get('maintenances/list', '/v1/maintenances', '1.2', token=ADMIN),
    get('maintenances/show', '/v1/maintenances/{maintenance}', '1.2', token=ADMIN),
    put('maintenances/update', '/v1/maintenances/{maintenance}', '1.5', token=ADMIN),
    delete('maintenances/delete', '/v1/maintenances/{maintenance}', '1.2', token=ADMIN),
    get('properties/list', '/v1/os-hosts/properties'),
    get('properties/list-detail', '/v1/os-hosts/properties?detail=True&all=True', token=ADMIN),
    patch('properties/update', '/v1/os-hosts/properties/rack', token=ADMIN),
    put('hosts/update', '/v1/os-hosts/4', token=ADMIN),
    delete('hosts/delete', '/v1/os-hosts/4', token=ADMIN),
    post('resource_types/create', '/v1/resource-types', '1.2', token=ADMIN),
    post('resources/create', '/v1/resources', '1.2', token=ADMIN),
    post('resources/lease', '/v1/leases', '1.2'),
    get('allocations/list-any', '/v1/resources/allocations?type=custom:licence', '1.2'),
    get('allocations/show-any', '/v1/resources/5/allocations', '1.2'),
    get('properties/list-any', '/v1/resources/properties?type=custom:licence', '1.2'),
    patch(
        'properties/update-any',
        '/v1/resources/properties/vendor?type=custom:licence',
        '1.2',
        token=ADMIN,
    ),
    put('resources/update', '/v1/resources/5', '1.2', token=ADMIN),
    get('resources/list', '/v1/resources?type=custom:licence&limit=1', '1.2'),
    get('resources/show', '/v1/resources/5', '1.2'),
    delete('resources/end', '/v1/leases/{third}'),
    delete('resources/delete', '/v1/resources/5', '1.2', token=ADMIN),
    put('resource_types/update', '/v1/resource-types/custom:licence', '1.2', token=ADMIN),
    get('resource_types/list', '/v1/resource-types', '1.2'),
    get('resource_types/show', '/v1/resource-types/custom:licence', '1.2'),
    delete('resource_types/delete', '/v1/resource-types/custom:licence', '1.2', token=ADMIN),
    post('floatingips/create', '/v1/floatingips', token=ADMIN),
    get('floatingips/list', '/v1/floatingips'),
    get('floatingips/show', '/v1/floatingips/6'),
    delete('floatingips/delete', '/v1/floatingips/6', token=ADMIN),
    post('leases/create-1.3', '/v1/leases', '1.3'),
    get('leases/history-1.3', '/v1/leases/{fourth}/history', '1.3', worked=True),
    get('leases/extension-1.4', '/v1/leases/{fourth}/extension?latest=2030-01-31T00:00:00Z', '1.4'),
    get(
        'availability/show-1.4',
        '/v1/availability?resource_type=physical:host&start=2030-01-01T12:00:00Z'
        '&end=2030-01-01T16:00:00Z&step=1h&resources=VCPU:4',
        '1.4',
    ),
    post('offers/create-1.4', '/v1/offers', '1.4', status=200),
    get('offers/show-1.4', '/v1/offers/{offer}', '1.4'),
    post('leases/take-1.4', '/v1/leases', '1.4'),
    delete('offers/delete-1.4', '/v1/offers/{offer}', '1.4'),
    post('leases/rehearse-1.4', '/v1/leases', '1.4', status=200),
    post('leases/refused-1.4', '/v1/leases', '1.4', status=409),
    post('leases/placed-1.4', '/v1/leases', '1.4'),
    # Webhooks and calendar feeds.
    post('webhooks/create-1.5', '/v1/webhooks', '1.5'),
    get('webhooks/list-1.5', '/v1/webhooks', '1.5'),
    get('webhooks/show-1.5', '/v1/webhooks/{webhook}', '1.5'),
    put('webhooks/update-1.5', '/v1/webhooks/{webhook}', '1.5'),
    post('webhooks/test-1.5', '/v1/webhooks/{webhook}/test', '1.5', status=202, sends=False),
    get('webhooks/deliveries-1.5', '/v1/webhooks/{webhook}/deliveries?state=waiting', '1.5'),
    post('webhooks/redeliver-1.5', '/v1/webhooks/{webhook}/redeliver', '1.5', status=202),
    delete('webhooks/delete-1.5', '/v1/webhooks/{webhook}', '1.5'),
    post('feeds/create-1.5', '/v1/feeds', '1.5'),
    get('feeds/list-1.5', '/v1/feeds', '1.5'),
    get('feeds/show-1.5', '/v1/feeds/{feed}', '1.5'),
    delete('feeds/delete-1.5', '/v1/feeds/{feed}', '1.5'),
    get('health/health', '/healthcheck?checks=all'),
    get(
        'calendar/show-1.5',
        '/v1/calendar?resource_type=physical:host&start=2030-01-01T00:00:00Z&limit=2',
        '1.5',
    ),
    get('me/show-1.5', '/v1/me', '1.5'),
    get(
        'usage/show-1.5',
        '/v1/usage?start=2030-01-01T00:00:00Z&end=2030-01-03T00:00:00Z&by=project',
        '1.5',
        token=ADMIN,
    ),
    post(
        'resources/refresh-1.6',
        '/v1/resources/1/refresh',
        '1.6',
        token=ADMIN,
        status=200,
        sends=False,
    ),
    get('properties/list-values-1.7', '/v1/os-hosts/properties?values=true', '1.7'),
    get('leases/show-1.7', '/v1/leases/{fourth}', '1.7'),
    post('leases/wait-1.8', '/v1/leases', '1.8'),
    get('queue/show-1.8', '/v1/queue', '1.8'),
)
