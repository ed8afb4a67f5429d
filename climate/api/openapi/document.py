# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI document of one microversion."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final

from oslo_log import log as logging

from climate.api.http import json_schema
from climate.api.http import microversions
from climate.api.http import queries
from climate.api.http.json_schema import Json
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_4
from climate.api.openapi import answers
from climate.api.openapi import operations
from climate.api.openapi import parameters
from climate.api.openapi import requests
from climate.api.openapi.operations import Key
from climate.api.openapi.operations import Operation
from climate.api.routing.routes import Route
from climate.api.routing.routes import RouteTable
from climate.plugins.collections import served

LOG = logging.getLogger(__name__)

VERSION: Final = '3.1.0'

_ALWAYS: Final = (400, 401, 403, 404, 406, 413, 429, 500, 503)
_WITH_BODY: Final = (415,)
_RESPONSES: Final = '#/components/responses/'
_TOKEN: Final = 'token'  # noqa: S105 - the name of the scheme


class UndescribedRoute(Exception):
    """A route has no schema."""

    def __init__(self, method: str, path: str, lack: str) -> None:
        super().__init__(
            f'{method} /v1{path} has no {lack}: describe it in climate/api/openapi, in '
            'OPERATIONS (its answers), BODIES (what it reads) and QUERY (its parameters)'
        )


class DocumentWriter:
    """Writes the document for the routes and resource types of one service.

    :param plugins: those of the types that exist as long as the process runs
    """

    def __init__(self, table: RouteTable, plugins: requests.Plugins) -> None:
        self._plugins = plugins
        self._collections = served(plugins)
        self._routes = sorted(table, key=lambda one: (one.path, one.method))
        self._operations: dict[Key, Operation] = dict(operations.OPERATIONS)
        self._bodies = dict(requests.BODIES)
        for each in self._collections:
            self._operations |= operations.of_collection(each)
            self._bodies |= requests.of_collection(each)

    def document(self, version: Microversion, *, complete: bool = True) -> Json:
        """Return the document at a microversion.

        :param complete: whether to refuse a route without a schema, not to leave it out
        :raises UndescribedRoute: if a route has no schema
        """
        paths: dict[str, Json] = {}
        for route in self._routes:
            if route.since > version:
                continue
            try:
                operation = self._operation(route, version)
            except UndescribedRoute as error:
                if complete:
                    raise
                # The rest of the document is still of use to clients.
                LOG.warning('%s', error)
                continue
            paths.setdefault(route.path, {})[route.method.lower()] = operation
        return {
            'openapi': VERSION,
            'info': {
                'title': 'Climate: reservations of cloud resources',
                'version': str(version),
                'license': {'name': 'Apache-2.0', 'identifier': 'Apache-2.0'},
            },
            # Relative to the address of the document, so that it holds behind any prefix.
            'servers': [{'url': '../v1'}],
            'security': [{_TOKEN: []}],
            'tags': [{'name': noun} for noun in sorted({one.noun for one in self._routes})],
            'paths': paths,
            'components': {
                'schemas': self._components(paths, version),
                'responses': _refusals(paths),
                'parameters': {'Microversion': parameters.microversion(version)},
                'securitySchemes': {
                    _TOKEN: {'type': 'apiKey', 'in': 'header', 'name': 'X-Auth-Token'}
                },
            },
        }

    def _operation(self, route: Route, version: Microversion) -> Json:
        key = (route.method, route.path)
        described = self._operations.get(key)
        if described is None:
            raise UndescribedRoute(*key, 'schema of its answers')
        operation: Json = {
            'operationId': operation_id(route),
            'summary': _summary(route),
            'tags': [route.noun],
            'x-climate-since': str(route.since),
            'x-climate-policy': route.rule,
            'parameters': self._parameters(route, described, version),
            'responses': self._responses(route, described, version),
        }
        if _reads(route):
            body = self._bodies.get(key)
            if body is None:
                raise UndescribedRoute(*key, 'schema of its body')
            operation['requestBody'] = {
                'required': True,
                'content': _json(requests.at(body, version, self._plugins)),
            }
        return operation

    def _parameters(self, route: Route, described: Operation, version: Microversion) -> list[Json]:
        names = route.parameters
        names = described.query if names is None else names
        if names is described.query and version < microversions.V1_1:
            # Lists have no filters at 1.0.
            names = ()
        names = [name for name in names if version >= queries.SINCE.get(name, version)]
        try:
            query = parameters.of_query(route.method, route.path, names)
        except KeyError as missing:
            lack = f'schema of its parameter {missing}'
            raise UndescribedRoute(route.method, route.path, lack) from None
        headers = described.headers if version >= V1_4 else ()
        return [
            *parameters.of_path(route.path),
            *query,
            {'$ref': '#/components/parameters/Microversion'},
            *parameters.of_headers(headers),
        ]

    def _responses(self, route: Route, described: Operation, version: Microversion) -> Json:
        bodies = dict(described.answers)
        if version < V1_4:
            # Rehearsals and waiting came with it.
            bodies.pop(202, None)
            if 201 in bodies:
                bodies.pop(200, None)
        responses: Json = {
            str(status): _answer(status, None if schema is None else _json(schema))
            for status, schema in sorted(bodies.items())
        }
        if version >= V1_4 and route.method == 'GET':
            responses['304'] = _answer(HTTPStatus.NOT_MODIFIED, None)
        refusals = {*_ALWAYS}
        if described.conflicts or route.method == 'POST':
            refusals.add(409)
        if _reads(route):
            refusals.update(_WITH_BODY)
        if version >= V1_4:
            refusals.add(412)
        return responses | {str(status): _refusal(status) for status in sorted(refusals)}

    def _components(self, paths: Mapping[str, Json], version: Microversion) -> Json:
        known = {
            **answers.components(version),
            **requests.components(self._plugins, version),
            **{operations.component(each): operations.item() for each in self._collections},
        }
        return _used(paths, known)


def operation_id(route: Route) -> str:
    """Return the name of an operation, such as ``post_leases`` or ``get_leases_one``."""
    words = [
        'one' if word.startswith('{') else word.replace('-', '_')
        for word in route.path.split('/')
        if word
    ]
    return '_'.join([route.method.lower(), *words])


def _reads(route: Route) -> bool:
    """Whether a route reads a body."""
    key = (route.method, route.path)
    return route.method in {'POST', 'PUT', 'PATCH'} and key not in requests.BODILESS


def _summary(route: Route) -> str:
    text = inspect.getdoc(route.handler) or ''
    return text.partition('\n')[0].rstrip('.')


def _json(schema: Json) -> Json:
    return {'application/json': {'schema': schema}}


def _answer(status: int, content: Any) -> Json:
    described: Json = {'description': HTTPStatus(status).phrase}
    return described if content is None else {**described, 'content': content}


def _refusal(status: int) -> Json:
    return {'$ref': f'{_RESPONSES}Refusal{status}'}


def _refusals(paths: Mapping[str, Json]) -> Json:
    """Return the errors that operations refer to."""
    error = _json(json_schema.ref('ApiError'))
    statuses = {
        status
        for item in paths.values()
        for operation in item.values()
        for status, answer in operation['responses'].items()
        if '$ref' in answer
    }
    return {f'Refusal{status}': _answer(int(status), error) for status in sorted(statuses)}


def _used(paths: Mapping[str, Json], known: Mapping[str, Json]) -> Json:
    """Return those of the *known* components that operations use, in order of their names."""
    used: set[str] = set()
    wanted = {'ApiError'} | json_schema.references(paths)
    while wanted:
        used |= wanted
        wanted = set().union(*(json_schema.references(known[name]) for name in wanted)) - used
    return {name: known[name] for name in sorted(used)}
