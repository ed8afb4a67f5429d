# SPDX-License-Identifier: Apache-2.0

"""Plans the resources of a template in the simulated Heat.

Supports parameters and ``get_param``, resource groups, autoscaling groups and nested
templates. All other functions stay as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import yaml

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import PlannedResource
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.template_budget import Budget

_NAME = re.compile(r'[A-Za-z][\w.-]{0,254}', re.ASCII)
_VERSIONS = ('heat_template_version', 'HeatTemplateFormatVersion', 'AWSTemplateFormatVersion')
_GROUP = 'OS::Heat::ResourceGroup'
_GROWING = 'OS::Heat::AutoScalingGroup'
# The limits of Heat: resources in a stack, and levels of nested templates.
_MOST = 1000
_DEEPEST = 5
_DELAY = 'OS::Heat::Delay'
_DELAYED = frozenset({'CREATE', 'DELETE', 'SUSPEND', 'RESUME'})
_TYPES = frozenset(
    {_GROUP, _GROWING, 'OS::Cinder::Volume', 'OS::Cinder::VolumeAttachment'}
    | {_DELAY, 'OS::Heat::RandomString', 'OS::Heat::TestResource', 'OS::Heat::Value'}
    | {'OS::Neutron::FloatingIP', 'OS::Neutron::FloatingIPAssociation', 'OS::Neutron::Net'}
    | {'OS::Neutron::Port', 'OS::Neutron::Router', 'OS::Neutron::RouterInterface'}
    | {'OS::Neutron::SecurityGroup', 'OS::Neutron::Subnet'}
    | {'OS::Nova::KeyPair', 'OS::Nova::Server', 'OS::Nova::ServerGroup'}
)


def plan(draft: StackDraft) -> tuple[PlannedResource, ...]:
    """Return the resources that a new stack has.

    :raises climate.exceptions.Permanent: if Heat would reject the stack
    """
    if not _NAME.fullmatch(draft.name):
        raise exceptions.Permanent(f'Invalid stack name {draft.name}')
    planning = _Planning(draft.files)
    try:
        environment = planning.mapping(draft.environment or '{}')
        given = {**(environment.get('parameters') or {}), **draft.parameters}
        return tuple(planning.resources(draft.template, given))
    except (ArithmeticError, AttributeError, RecursionError, TypeError, ValueError) as error:
        raise exceptions.Permanent(f'Template not in valid format: {error}') from None


class _Planning:
    """The plan of one stack, with the limits of Heat."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._budget = Budget(nodes=100_000)
        self._seen = 0

    def mapping(self, text: str) -> dict[str, Any]:
        """Parse a template or an environment.

        :raises climate.exceptions.Permanent: if it is not a mapping
        """
        try:
            content = templates.parse(text, self._budget)
        except yaml.YAMLError as error:
            raise exceptions.Permanent(f'Template not in valid format: {error}') from None
        if not isinstance(content, dict):
            raise exceptions.Permanent('The template is not a JSON object or YAML mapping.')
        return content

    def resources(
        self, text: str, given: Mapping[str, Any], depth: int = 0
    ) -> Iterator[PlannedResource]:
        """Yield the resources of a template."""
        if depth > _DEEPEST:
            raise exceptions.Permanent(f'Recursion depth exceeds {_DEEPEST}.')
        template = self.mapping(text)
        if not any(version in template for version in _VERSIONS):
            raise exceptions.Permanent('Template format version not found.')
        values = _values(template.get('parameters') or {}, given)
        for name, definition in (template.get('resources') or {}).items():
            yield from self._resource(name, _filled(definition, values), depth)

    def _resource(
        self, name: str, definition: Mapping[str, Any], depth: int
    ) -> Iterator[PlannedResource]:
        self._seen += 1
        if self._seen > _MOST:
            raise exceptions.Permanent('Maximum resources per stack exceeded.')
        kind = definition.get('type')
        properties = definition.get('properties') or {}
        if not isinstance(properties, Mapping):
            raise exceptions.Permanent(f'Property error: resources.{name}.properties')
        if kind in (_GROUP, _GROWING):
            part = properties.get('resource_def' if kind == _GROUP else 'resource') or {}
            for number in range(_members(kind, properties)):
                yield from self._resource(str(number), part, depth)
        elif isinstance(kind, str) and kind in self._files:
            yield from self.resources(self._files[kind], properties, depth + 1)
        elif kind == _DELAY and not set(properties.get('actions', ())) <= _DELAYED:
            raise exceptions.Permanent(f'Property error: resources.{name}.properties.actions')
        elif kind in _TYPES:
            external = str(definition.get('external_id') or '')
            yield PlannedResource(name=name, type=kind, properties=properties, physical_id=external)
        else:
            raise exceptions.Permanent(f'The Resource Type ({kind}) could not be found.')


def _values(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in given if name not in declared]
    if unknown:
        raise exceptions.Permanent(f'The Parameter ({unknown[0]}) was not defined in template.')
    values = {}
    for name, schema in declared.items():
        if name not in given and 'default' not in schema:
            raise exceptions.Permanent(f'The Parameter ({name}) was not provided.')
        values[name] = given.get(name, schema.get('default'))
    return values


def _filled(node: Any, values: Mapping[str, Any]) -> Any:
    """Return a part of a template with its parameters filled in."""
    if isinstance(node, list):
        return [_filled(item, values) for item in node]
    if not isinstance(node, dict):
        return node
    if list(node) == ['get_param'] and isinstance(node['get_param'], str):
        return values.get(node['get_param'])
    return {key: _filled(item, values) for key, item in node.items()}


def _members(kind: str, properties: Mapping[str, Any]) -> int:
    if kind == _GROUP:
        return int(properties.get('count', 1))
    return int(properties.get('desired_capacity', properties.get('min_size', 0)))
