# SPDX-License-Identifier: Apache-2.0

"""The requests for webhooks and calendar feeds, in the reference of the API."""

from __future__ import annotations

from collections.abc import Sequence

from tests.functional.api_steps import Step

HOOKS: Sequence[Step] = (
    Step(
        name='webhooks/create-1.5',
        method='POST',
        path='/v1/webhooks',
        status=201,
        version='1.5',
        sends=True,
    ),
    Step(name='webhooks/list-1.5', method='GET', path='/v1/webhooks', version='1.5'),
    Step(name='webhooks/show-1.5', method='GET', path='/v1/webhooks/{webhook}', version='1.5'),
    Step(
        name='webhooks/update-1.5',
        method='PUT',
        path='/v1/webhooks/{webhook}',
        version='1.5',
        sends=True,
    ),
    Step(
        name='webhooks/test-1.5',
        method='POST',
        path='/v1/webhooks/{webhook}/test',
        status=202,
        version='1.5',
    ),
    Step(
        name='webhooks/deliveries-1.5',
        method='GET',
        path='/v1/webhooks/{webhook}/deliveries?state=waiting',
        version='1.5',
    ),
    Step(
        name='webhooks/redeliver-1.5',
        method='POST',
        path='/v1/webhooks/{webhook}/redeliver',
        status=202,
        version='1.5',
        sends=True,
    ),
    Step(
        name='webhooks/delete-1.5',
        method='DELETE',
        path='/v1/webhooks/{webhook}',
        status=204,
        version='1.5',
    ),
    Step(
        name='feeds/create-1.5',
        method='POST',
        path='/v1/feeds',
        status=201,
        version='1.5',
        sends=True,
    ),
    Step(name='feeds/list-1.5', method='GET', path='/v1/feeds', version='1.5'),
    Step(name='feeds/show-1.5', method='GET', path='/v1/feeds/{feed}', version='1.5'),
    Step(
        name='feeds/delete-1.5',
        method='DELETE',
        path='/v1/feeds/{feed}',
        status=204,
        version='1.5',
    ),
)
