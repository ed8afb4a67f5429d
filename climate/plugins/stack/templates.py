# SPDX-License-Identifier: Apache-2.0

"""Rewrites a template so that its servers and floating IPs use what was booked.

A stack with booked room has to use the flavors of its reservations. So its template
is rewritten before the stack is created: each server whose flavor is known in
advance, from a literal or a parameter, gets another flavor. That includes servers in
groups and in nested templates, where each different use of a template gets a separate
file. Floating IPs are replaced with booked ones, see
:mod:`climate.plugins.stack.floating_ips`, except in groups, whose members share one
definition. What cannot be known in advance is refused, so that no resource bypasses
its reservation.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import yaml

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.template_budget import Budget
from climate.cloud.template_budget import MOST_NODES
from climate.cloud.template_budget import TooLarge
from climate.plugins.stack import floating_ips as stack_floating_ips
from climate.plugins.stack.floating_ips import Addresses

SERVER = 'OS::Nova::Server'
# Groups, and the property that defines their members.
_GROUPS = {'OS::Heat::ResourceGroup': 'resource_def', 'OS::Heat::AutoScalingGroup': 'resource'}
# Types that create servers in other ways, which cannot be rewritten.
_OPAQUE = frozenset(
    {
        'AWS::AutoScaling::LaunchConfiguration',
        'AWS::EC2::Instance',
        'OS::Heat::InstanceGroup',
        'OS::Heat::ResourceChain',
        'OS::Heat::Stack',
    }
)
_DEEPEST = 12
_MOST = 20000
# Maximum number of entries of the registry that refer from one to the next.
_LONGEST_CHAIN = 20
_HARMLESS = frozenset({'hooks', 'restricted_actions'})
_UNKNOWN = object()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rewritten:
    """A draft that uses what was booked.

    :ivar found: the replaced flavors, as the templates name them
    :ivar adopted: the number of booked floating IPs in use, by network as the
        templates name it
    """

    draft: StackDraft
    found: frozenset[str]
    adopted: Mapping[str, int]


def rewritten(
    draft: StackDraft,
    flavors: Mapping[str, str],
    floating_ips: Mapping[str, Sequence[str]] | None = None,
) -> Rewritten:
    """Return a draft that uses what was booked.

    :param flavors: the flavors to use, by id and by name of those that they replace;
        servers of other flavors stay as they are
    :param floating_ips: ids of the booked floating IPs, by network as the templates
        name it; without them, floating IPs stay as they are
    :raises climate.exceptions.InvalidInput: if the flavor of a server, or the
        network of a floating IP, is not known in advance
    """
    rewriting = _Rewriting(draft, flavors, Addresses(floating_ips or {}))
    try:
        return rewriting.run()
    except TooLarge:
        raise _refusal('it is too large') from None
    except (yaml.YAMLError, RecursionError, TypeError):
        raise _refusal('the template cannot be read') from None


def _refusal(why: str) -> exceptions.InvalidInput:
    return exceptions.InvalidInput(
        f'No room can be booked for the contents of the template: {why}. '
        'To do without, set guarantee: false'
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Scope:
    """The surroundings of a resource in the templates.

    :ivar values: the values of the parameters there, as far as they are known
    :ivar inside: types that the registry maps to the enclosing templates; inside
        those they are not mapped again
    :ivar template: the template with the resource
    :ivar grouped: whether a group may create several from this definition
    """

    values: Mapping[str, Any]
    inside: frozenset[str]
    depth: int
    template: dict[Any, Any] = dataclasses.field(default_factory=dict)
    grouped: bool = False

    def deeper(self, **changes: Any) -> _Scope:
        """Return the scope of something inside."""
        if self.depth >= _DEEPEST:
            raise _refusal('it is nested too deeply')
        return dataclasses.replace(self, depth=self.depth + 1, **changes)


class _Rewriting:
    """The rewriting of one draft."""

    def __init__(self, draft: StackDraft, flavors: Mapping[str, str], addresses: Addresses) -> None:
        self._draft = draft
        self._flavors = flavors
        self._addresses = addresses
        self._new = frozenset(flavors.values())
        # A nested template can be used several times, and is read each time.
        self._budget = Budget(nodes=5 * MOST_NODES)
        environment = _mapping(templates.parse(draft.environment or '{}', self._budget))
        self._registry = _mapping(environment.get('resource_registry'))
        self._patterns = [
            (pattern[:-1], mapped)
            for pattern, mapped in self._registry.items()
            if isinstance(pattern, str) and pattern.endswith('*') and isinstance(mapped, str)
        ]
        self._defaults = _mapping(environment.get('parameter_defaults'))
        self._given = {**_mapping(environment.get('parameters')), **draft.parameters}
        self._files = dict(draft.files)
        self._known: dict[tuple[str, frozenset[str], str], str] = {}
        self._found: set[str] = set()
        self._visited = 0

    def run(self) -> Rewritten:
        """Rewrite the draft."""
        self._check_registry()
        scope = _Scope(values=self._given, inside=frozenset(), depth=0)
        text = self._template(self._draft.template, scope)
        draft = dataclasses.replace(self._draft, template=text, files=self._files)
        return Rewritten(
            draft=draft, found=frozenset(self._found), adopted=dict(self._addresses.taken)
        )

    def _check_registry(self) -> None:
        """Refuse an environment that maps the types of single resources."""
        for rules in _mapping(self._registry.get('resources')).values():
            if not set(_mapping(rules)) <= _HARMLESS:
                raise _refusal('the environment gives some resources types of their own')

    def _template(self, text: str, scope: _Scope) -> str:
        template = _mapping(templates.parse(text, self._budget))
        values = self._values(template, scope.values)
        inner = dataclasses.replace(scope, values=values, template=template)
        changed = False
        for name, node in list(_either(template, 'resources').items()):
            changed |= self._resource(name, node, inner)
        return templates.dump(template) if changed else text

    def _values(self, template: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the parameters of a template."""
        values = {}
        for name, schema in _either(template, 'parameters').items():
            declared = _mapping(schema)
            default = declared.get('default', declared.get('Default', _UNKNOWN))
            values[name] = given.get(name, self._defaults.get(name, default))
        return values

    def _resource(self, name: Any, node: Any, scope: _Scope) -> bool:
        """Rewrite one resource; return whether anything changed."""
        self._visited += 1
        if self._visited > _MOST:
            raise _refusal('it is too large')
        asked = _type(node)
        if asked is None:
            return False
        kind, by = self._kind(asked, scope.inside)
        properties = _mapping(node.get('properties', node.get('Properties')))
        if kind in _OPAQUE:
            raise _refusal(f'{name} is of type {kind}')
        if kind == SERVER:
            return self._server(name, properties, scope)
        if kind == stack_floating_ips.TYPE:
            return self._floating_ip(name, node, properties, scope)
        if kind in _GROUPS:
            member = properties.get(_GROUPS[kind])
            return self._resource(name, member, scope.deeper(grouped=True))
        if kind not in self._draft.files:
            return False
        file = self._nested(kind, properties, scope.deeper(inside=scope.inside | by))
        return file != kind and self._use(file, name, node, scope)

    def _kind(self, kind: str, inside: frozenset[str]) -> tuple[str, frozenset[str]]:
        """Resolve a type with the registry; return it and the entries used."""
        by: set[str] = set()
        while kind not in inside | by:
            target = self._registered(kind)
            if target is None:
                break
            if len(by) >= _LONGEST_CHAIN:
                raise _refusal('its environment maps types on types too often')
            by.add(kind)
            kind = target
        return kind, frozenset(by)

    def _registered(self, kind: str) -> str | None:
        target = self._registry.get(kind)
        if isinstance(target, str):
            return target
        self._budget.spend(len(self._patterns), 0)
        for prefix, mapped in self._patterns:
            if kind.startswith(prefix):
                return mapped[:-1] + kind[len(prefix) :] if mapped.endswith('*') else mapped
        return None

    def _use(self, file: str, name: Any, node: dict[Any, Any], scope: _Scope) -> bool:
        """Make a resource use another nested template."""
        key = 'type' if 'type' in node else 'Type'
        if scope.grouped:
            node[key] = file
        else:
            # Each place gets a separate copy, since each has its own addresses.
            _either(scope.template, 'resources')[name] = {**node, key: file}
        return True

    def _floating_ip(
        self, name: Any, node: Mapping[Any, Any], properties: Mapping[str, Any], scope: _Scope
    ) -> bool:
        # With external_id it exists already, and Heat does not create it.
        if not self._addresses or 'external_id' in node:
            return False
        if scope.grouped:
            raise stack_floating_ips.refusal(
                f'{name} is in a group, whose members have one definition'
            )
        network = _resolved(stack_floating_ips.network_of(properties), scope.values)
        own_id = self._addresses.take(name, network)
        stack_floating_ips.adopt(scope.template, name, properties, own_id)
        return True

    def _server(self, name: Any, properties: dict[str, Any], scope: _Scope) -> bool:
        if not self._flavors:
            return False
        flavor = _resolved(properties.get('flavor', _UNKNOWN), scope.values)
        if isinstance(flavor, bool) or not isinstance(flavor, str | int):
            raise _refusal(f'the flavor of {name} is not known in advance')
        # A definition used in two places may be rewritten already.
        if str(flavor) in self._new or str(flavor) not in self._flavors:
            return False
        self._found.add(str(flavor))
        properties['flavor'] = self._flavors[str(flavor)]
        return True

    def _nested(self, file: str, properties: Mapping[str, Any], scope: _Scope) -> str:
        """Rewrite a nested template for one use, and return the name of its file."""
        given = {name: _resolved(value, scope.values) for name, value in properties.items()}
        known = {name: value for name, value in given.items() if value is not _UNKNOWN}
        # Values passed down from level to level may grow at each level.
        self._budget.spend_on(known)
        key = (
            file,
            scope.inside,
            json.dumps([known, sorted(set(given) - set(known)), scope.grouped], default=str),
        )
        if key in self._known:
            return self._known[key]
        before = self._addresses.taken.total()
        inner = dataclasses.replace(scope, values=given)
        name = self._named(file, self._template(self._draft.files[file], inner))
        # A template with a floating IP cannot be shared: each use has a different one.
        if self._addresses.taken.total() == before:
            self._known[key] = name
        return name

    def _named(self, file: str, text: str) -> str:
        """Return the name of a file with this text; add the file if there is none."""
        if text == self._draft.files[file]:
            return file
        taken = [name for name, content in self._files.items() if content == text]
        if taken:
            return taken[0]
        number = len(self._files)
        # Heat recognizes a template by the ending of its name.
        while (name := f'climate-{number}.yaml') in self._files:
            number += 1
        self._files[name] = text
        return name


def _type(node: Any) -> str | None:
    """Return the type of a resource; None if it has none."""
    asked = node.get('type', node.get('Type')) if isinstance(node, dict) else None
    return asked if isinstance(asked, str) else None


def _mapping(value: Any) -> dict[Any, Any]:
    """Return *value* if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def _either(template: Mapping[str, Any], name: str) -> dict[Any, Any]:
    """Return a section by its name in Heat's language or in the older one of AWS."""
    return _mapping(template.get(name, template.get(name.capitalize())))


def _resolved(value: Any, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression; ``_UNKNOWN`` if only Heat can evaluate it."""
    if isinstance(value, list):
        items = [_resolved(item, values) for item in value]
        return _UNKNOWN if _UNKNOWN in items else items
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        return _UNKNOWN
    ((function, argument),) = value.items()
    if function not in ('get_param', 'Ref'):
        return _UNKNOWN
    name, *path = argument if isinstance(argument, list) and argument else [argument]
    result: Any = values.get(name, _UNKNOWN) if isinstance(name, str) else _UNKNOWN
    for step in path:
        result = _step(result, step)
    return result


def _step(value: Any, step: Any) -> Any:
    """Return a part of the value of a parameter."""
    if isinstance(value, dict) and isinstance(step, str | int):
        return value.get(step, _UNKNOWN)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return _UNKNOWN
