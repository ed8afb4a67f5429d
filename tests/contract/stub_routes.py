# SPDX-License-Identifier: Apache-2.0

"""What the stub of a cloud does for each route of Nova and Placement."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Callable
from typing import Any
from typing import Protocol

from climate import exceptions
from climate import simulator
from climate.cloud import base

PAGE = 2
HINTS = '2.100'
COMPUTE = '/compute/v2.1'
PLACEMENT = '/placement'
Answer = tuple[int, Any]


class Stub(Protocol):
    """What the routes need of the server."""

    cloud: simulator.SimulatedCloud
    hidden_hosts: bool
    newest: int


class HTTPError(Exception):
    """Ends the handling of a request with this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Request:
    """One request: what the routes need of it."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: Any


def error_body(request: Request, error: HTTPError) -> Any:
    if request.path.startswith(PLACEMENT):
        return {'errors': [{'status': error.status, 'title': 'Error', 'detail': str(error)}]}
    return {'someFault': {'code': error.status, 'message': str(error)}}


def check_compute(request: Request) -> None:
    wanted = '2.46' if '/servers' in request.path else '2.53'
    asked = request.headers.get('X-OpenStack-Nova-API-Version')
    if asked == HINTS and re.fullmatch(r'.*/servers/[^/]+', request.path):
        return
    if asked != wanted:
        raise HTTPError(406, f'this stub speaks compute API {wanted} here')


def check_placement(request: Request) -> None:
    if request.headers.get('OpenStack-API-Version') != 'placement 1.26':
        raise HTTPError(406, 'this stub speaks placement API 1.26')


def _page(items: list[Any], query: dict[str, str]) -> list[Any]:
    ids = [item['id'] for item in items]
    marker = query.get('marker')
    if marker and marker not in ids:
        raise HTTPError(400, f'marker [{marker}] not found')
    first = ids.index(marker) + 1 if marker else 0
    return items[first : first + PAGE]


def networks(ids: list[str], request: Request) -> Any:
    """Return a page of networks, with the address of the next one if it is full."""
    marker = request.query.get('marker')
    if marker and marker not in ids:
        raise HTTPError(404, f'Network {marker} could not be found.')
    page = _page([{'id': each} for each in ids], request.query)
    found: dict[str, Any] = {'networks': page}
    if len(page) == PAGE:
        after = f'http://{request.headers["Host"]}{request.path}?marker={page[-1]["id"]}'
        found['networks_links'] = [{'rel': 'next', 'href': after}]
    return found


# -- Nova


def _hypervisor(item: base.Hypervisor) -> dict[str, Any]:
    body = dataclasses.asdict(item)
    body['hypervisor_hostname'] = body.pop('hostname')
    body['cpu_info'] = json.loads(item.cpu_info)
    body['service'] = {'host': body.pop('service_host'), 'id': 's', 'disabled_reason': None}
    del body['availability_zone']
    return body


def _list_hypervisors(stub: Stub, request: Request) -> Answer:
    # Nova pages by id, and does not page a search.
    items = [_hypervisor(item) for item in stub.cloud.hypervisors()]
    items.sort(key=lambda item: str(item['id']))
    pattern = request.query.get('hypervisor_hostname_pattern')
    if pattern is None:
        return 200, {'hypervisors': _page(items, request.query)}
    items = [item for item in items if pattern in item['hypervisor_hostname']]
    if not items:
        raise HTTPError(404, f'No hypervisor matching {pattern!r} could be found.')
    return 200, {'hypervisors': items}


def _show_hypervisor(stub: Stub, _request: Request, ident: str) -> Answer:
    for item in stub.cloud.hypervisors():
        if item.id == ident:
            return 200, {'hypervisor': _hypervisor(item)}
    raise HTTPError(404, 'no such hypervisor')


def _list_services(stub: Stub, request: Request) -> Answer:
    wanted = request.query.get('host')
    return 200, {
        'services': [
            {'id': item.id, 'binary': 'nova-compute', 'host': item.service_host}
            | {'zone': item.availability_zone, 'status': item.status, 'state': item.state}
            for item in stub.cloud.hypervisors()
            if wanted in (None, item.service_host)
        ]
    }


def _server(item: base.Server) -> dict[str, Any]:
    return {
        'id': item.id,
        'name': item.name,
        'tenant_id': item.project_id,
        'user_id': item.user_id,
        'created': item.created_at.strftime('%Y-%m-%dT%H:%M:%SZ'),
        'status': item.status,
        'OS-EXT-SRV-ATTR:host': item.host,
        'OS-EXT-SRV-ATTR:hypervisor_hostname': item.hypervisor_hostname,
        'OS-EXT-STS:task_state': item.task_state,
        'os-extended-volumes:volumes_attached': [{'id': each} for each in item.volume_ids],
        'flavor': {'id': item.flavor_id, 'links': []},
        'metadata': dict(item.metadata),
        'locked': item.locked,
        'links': [],
    }


def _list_servers(stub: Stub, request: Request) -> Answer:
    assert request.query['all_tenants']
    if 'changes-since' in request.query:
        since = datetime.datetime.fromisoformat(request.query['changes-since'])
        return 200, {'servers': _page(_changed(stub, since), request.query)}
    items = [
        _server(item)
        for item in stub.cloud.servers()
        if stub.hidden_hosts or item.host == request.query['host']
    ]
    return 200, {'servers': _page(items, request.query)}


def _changed(stub: Stub, since: datetime.datetime) -> list[Any]:
    """Return what was changed since, one that was made before and one that is gone among them."""
    found = [_server(item) for item in stub.cloud.servers()]
    gone = {'id': 'gone', 'status': 'DELETED'}
    old = {'id': 'old', 'created': '2020-01-01T00:00:00Z'}
    return [item | extra for item in found[:1] for extra in (gone, old)] + [
        item for item in found if datetime.datetime.fromisoformat(item['created']) >= since
    ]


def _find_server(stub: Stub, ident: str) -> base.Server:
    found = stub.cloud.compute.find_server(ident)
    if found is None:
        raise HTTPError(404, f'Instance {ident} could not be found.')
    return found


def _show_server(stub: Stub, request: Request, ident: str) -> Answer:
    body = _server(_find_server(stub, ident))
    if request.headers.get('X-OpenStack-Nova-API-Version') == HINTS:
        if stub.newest < int(HINTS.partition('.')[2]):
            raise HTTPError(406, f'Version {HINTS} is not supported by the API.')
        body['scheduler_hints'] = dict(stub.cloud.compute.scheduler_hints(ident))
    return 200, {'server': body}


def _set_metadata(stub: Stub, request: Request, ident: str) -> Answer:
    _find_server(stub, ident)
    try:
        stub.cloud.compute.set_server_metadata(ident, request.body['metadata'])
    except exceptions.Permanent as error:
        raise HTTPError(400, error.message) from None
    return 200, {'metadata': dict(_find_server(stub, ident).metadata)}


def _delete_server(stub: Stub, _request: Request, ident: str) -> Answer:
    _find_server(stub, ident)
    stub.cloud.compute.delete_server(ident)
    return 204, None


def _act_on_server(stub: Stub, request: Request, ident: str) -> Answer:
    return 202, {
        'image_id': stub.cloud.compute.create_image(ident, request.body['createImage']['name'])
    }


def _aggregate(item: base.Aggregate) -> dict[str, Any]:
    body = dataclasses.asdict(item) | {'hosts': list(item.hosts), 'metadata': dict(item.metadata)}
    if item.availability_zone is not None:
        body['metadata']['availability_zone'] = item.availability_zone
    return body


def _find_aggregate(stub: Stub, ident: str) -> base.Aggregate:
    for item in stub.cloud.aggregates():
        if item.id == int(ident):
            return item
    raise HTTPError(404, f'Aggregate {ident} could not be found.')


def _list_aggregates(stub: Stub, _request: Request) -> Answer:
    return 200, {'aggregates': [_aggregate(item) for item in stub.cloud.aggregates()]}


def _show_aggregate(stub: Stub, _request: Request, ident: str) -> Answer:
    return 200, {'aggregate': _aggregate(_find_aggregate(stub, ident))}


def _create_aggregate(stub: Stub, request: Request) -> Answer:
    wanted = request.body['aggregate']
    made = stub.cloud.compute.create_aggregate(wanted['name'], wanted['availability_zone'])
    body = _aggregate(made)
    del body['hosts'], body['metadata']
    return 200, {'aggregate': body}


def _delete_aggregate(stub: Stub, _request: Request, ident: str) -> Answer:
    if _find_aggregate(stub, ident).hosts:
        raise HTTPError(
            400, f'Cannot remove aggregate {ident}. Reason: Host aggregate is not empty.'
        )
    stub.cloud.compute.delete_aggregate(int(ident))
    return 200, None


def _act_on_aggregate(stub: Stub, request: Request, ident: str) -> Answer:
    ((verb, values),) = request.body.items()
    found = _find_aggregate(stub, ident)
    compute = stub.cloud.compute
    if verb == 'add_host':
        if values['host'] in found.hosts:
            raise HTTPError(409, f'Aggregate {ident} already has host {values["host"]}.')
        compute.add_host(found.id, values['host'])
    elif verb == 'remove_host':
        if values['host'] not in found.hosts:
            raise HTTPError(404, f'Aggregate {ident} has no host {values["host"]}.')
        compute.remove_host(found.id, values['host'])
    else:
        missing = [key for key, value in values['metadata'].items() if value is None]
        if not set(missing) <= set(found.metadata):
            raise HTTPError(404, f'Aggregate {ident} has no metadata with key {missing}.')
        compute.set_aggregate_metadata(found.id, values['metadata'])
    return 200, {'aggregate': _aggregate(_find_aggregate(stub, ident))}


# -- Placement


def _provider(item: base.Provider) -> dict[str, Any]:
    body = dataclasses.asdict(item)
    body['parent_provider_uuid'] = body.pop('parent_uuid')
    return body


def _list_providers(stub: Stub, request: Request) -> Answer:
    found = stub.cloud.placement.find_provider(request.query['name'])
    return 200, {'resource_providers': [_provider(found)] if found else []}


def _create_provider(stub: Stub, request: Request) -> Answer:
    parent = request.body.get('parent_provider_uuid')
    try:
        return 200, _provider(stub.cloud.placement.create_provider(request.body['name'], parent))
    except base.CloudConflict:
        raise
    except exceptions.Permanent as error:
        raise HTTPError(400, error.message) from None


def _delete_provider(stub: Stub, _request: Request, uuid: str) -> Answer:
    stub.cloud.placement.traits(uuid)  # A 404 if there is no such provider.
    stub.cloud.placement.delete_provider(uuid)
    return 204, None


def _show_inventories(stub: Stub, _request: Request, uuid: str) -> Answer:
    found = stub.cloud.placement.inventories(uuid)
    bodies = {item.resource_class: dataclasses.asdict(item) for item in found}
    for body in bodies.values():
        del body['resource_class']
    return 200, {'inventories': bodies, 'resource_provider_generation': 1}


def _show_traits(stub: Stub, _request: Request, uuid: str) -> Answer:
    found = stub.cloud.placement.traits(uuid)
    return 200, {'traits': sorted(found), 'resource_provider_generation': 1}


Route = tuple[str, str, Callable[..., Answer]]
COMPUTE_ROUTES: list[Route] = [
    ('GET', '/os-hypervisors/detail', _list_hypervisors),
    ('GET', '/os-hypervisors/([^/]+)', _show_hypervisor),
    ('GET', '/os-services', _list_services),
    ('GET', '/servers/detail', _list_servers),
    ('GET', '/servers/([^/]+)', _show_server),
    ('POST', '/servers/([^/]+)/metadata', _set_metadata),
    ('DELETE', '/servers/([^/]+)', _delete_server),
    ('POST', '/servers/([^/]+)/action', _act_on_server),
    ('GET', '/os-aggregates', _list_aggregates),
    ('POST', '/os-aggregates', _create_aggregate),
    ('GET', '/os-aggregates/([0-9]+)', _show_aggregate),
    ('DELETE', '/os-aggregates/([0-9]+)', _delete_aggregate),
    ('POST', '/os-aggregates/([0-9]+)/action', _act_on_aggregate),
]
PLACEMENT_ROUTES: list[Route] = [
    ('GET', '/resource_providers', _list_providers),
    ('POST', '/resource_providers', _create_provider),
    ('DELETE', '/resource_providers/([^/]+)', _delete_provider),
    ('GET', '/resource_providers/([^/]+)/inventories', _show_inventories),
    ('GET', '/resource_providers/([^/]+)/traits', _show_traits),
]
