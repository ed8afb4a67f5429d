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

"""Reads and writes templates of Heat."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import yaml

from climate.clients.template_budget import Budget
from climate.clients.template_budget import TooLarge

# Python reads more digits in a time that grows with their square, and does not write
# them at all.
_LONGEST_NUMBER = 1000
_INTEGER = 'tag:yaml.org,2002:int'
_TIMESTAMP = 'tag:yaml.org,2002:timestamp'
# Groups that grow: what limits them, and what says how large they are at first.
_GROWING = {
    'OS::Heat::AutoScalingGroup': ('max_size', 'desired_capacity'),
    'AWS::AutoScaling::AutoScalingGroup': ('MaxSize', 'DesiredCapacity'),
}

# Errors of the constructors of PyYAML for ``!!int x``, for example.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

# libyaml, where PyYAML was built with it, is ten times as fast.
_SafeLoader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_SafeDumper: Any = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)


class _Loader(_SafeLoader):
    """Leaves alone what looks like a date, as Heat does."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_yaml_int(self, node: Any) -> Any:
        """Return a whole number."""
        if len(node.value) > _LONGEST_NUMBER:
            raise ValueError(f'a number of more than {_LONGEST_NUMBER} characters')
        return super().construct_yaml_int(node)


_Loader.add_constructor(_INTEGER, _Loader.construct_yaml_int)


def check_size(texts: Iterable[str], budget: Budget) -> None:
    """Check what texts come to together; those that are no YAML cost nothing more.

    :raises climate.clients.template_budget.TooLarge: if that is too much
    """
    for text in texts:
        with contextlib.suppress(yaml.YAMLError):
            budget.spend_on_text(text, _Loader)


def parse(text: str, budget: Budget | None = None) -> Any:
    """Return what a template, or an environment, says.

    :param budget: what it may come to; None for one of its own
    :raises yaml.YAMLError: if it is neither YAML nor JSON
    :raises climate.clients.template_budget.TooLarge: if it comes to too much
    """
    (budget or Budget()).spend_on_text(text, _Loader)
    try:
        # The loader makes plain values only.
        return yaml.load(text, _Loader)  # nosec B506  # noqa: S506  it is an heir of SafeLoader
    except RecursionError:
        raise TooLarge('the template is nested too deeply') from None
    except _UNREADABLE as error:
        raise yaml.YAMLError(f'a value is not what its tag says: {error}') from None


def dump(template: Any) -> str:
    """Return a template as text, which :func:`parse` and Heat read as the same."""
    return str(yaml.dump(template, Dumper=_SafeDumper, sort_keys=False))


def at_its_largest(text: str) -> str:
    """Return a template whose groups begin with as many members as they may have.

    What cannot be read is returned as it is: Heat says better what is wrong
    with it. Aliases stay aliases, so that a small text cannot become a large
    one.
    """
    try:
        template = parse(text)
    except yaml.YAMLError:
        return text
    if not _grow(template):
        return text
    return dump(template)


def _grow(template: Any) -> bool:
    """Let groups grow, wherever in a template; say whether there was one."""
    grown = False
    seen: set[int] = set()
    ahead = [template]
    while ahead:
        node = ahead.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            grown |= _grow_one(node)
            ahead.extend(node.values())
        elif isinstance(node, list):
            ahead.extend(node)
    return grown


def _grow_one(node: dict[Any, Any]) -> bool:
    kind = node.get('type', node.get('Type'))
    properties = node.get('properties', node.get('Properties'))
    names = _GROWING.get(kind) if isinstance(kind, str) else None
    if names is None or not isinstance(properties, dict) or names[0] not in properties:
        return False
    properties[names[1]] = properties[names[0]]
    return True
