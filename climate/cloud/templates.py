# SPDX-License-Identifier: Apache-2.0

"""Parses and formats templates of Heat."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import yaml

from climate.cloud.template_budget import Budget
from climate.cloud.template_budget import TooLarge

# Python parses longer numbers in quadratic time, and refuses to format them.
_LONGEST_NUMBER = 1000
_INTEGER = 'tag:yaml.org,2002:int'
_TIMESTAMP = 'tag:yaml.org,2002:timestamp'
# Groups that can grow: the keys of their limit and of their initial size.
_GROWING = {
    'OS::Heat::AutoScalingGroup': ('max_size', 'desired_capacity'),
    'AWS::AutoScaling::AutoScalingGroup': ('MaxSize', 'DesiredCapacity'),
}

# Errors of the constructors of PyYAML for ``!!int x``, for example.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

# The loader and dumper of libyaml, if PyYAML was built with it, are ten times as fast.
_SafeLoader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_SafeDumper: Any = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)


class _Loader(_SafeLoader):
    """A loader that does not convert dates, like that of Heat."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_yaml_int(self, node: Any) -> Any:
        """Return an integer."""
        if len(node.value) > _LONGEST_NUMBER:
            raise ValueError(f'a number of more than {_LONGEST_NUMBER} characters')
        return super().construct_yaml_int(node)


_Loader.add_constructor(_INTEGER, _Loader.construct_yaml_int)


def check_size(texts: Iterable[str], budget: Budget) -> None:
    """Check the total size of texts; texts that are not YAML count only up to the error.

    :raises climate.cloud.template_budget.TooLarge: if it exceeds the budget
    """
    for text in texts:
        with contextlib.suppress(yaml.YAMLError):
            budget.spend_on_text(text, _Loader)


def parse(text: str, budget: Budget | None = None) -> Any:
    """Parse a template or an environment.

    :param budget: limits its size; None for a new budget
    :raises yaml.YAMLError: if it is neither YAML nor JSON
    :raises climate.cloud.template_budget.TooLarge: if it exceeds the budget
    """
    (budget or Budget()).spend_on_text(text, _Loader)
    try:
        # The loader only creates plain values.
        return yaml.load(text, _Loader)  # nosec B506  # noqa: S506  a subclass of SafeLoader
    except RecursionError:
        raise TooLarge('the template is nested too deeply') from None
    except _UNREADABLE as error:
        raise yaml.YAMLError(f'a value does not match its tag: {error}') from None


def dump(template: Any) -> str:
    """Return a template as text that :func:`parse` and Heat read alike."""
    return str(yaml.dump(template, Dumper=_SafeDumper, sort_keys=False))


def at_its_largest(text: str) -> str:
    """Return a template whose groups start with their maximum number of members.

    A text that cannot be parsed is returned unchanged, because Heat has the better
    error message. Aliases are kept, so the text does not grow.
    """
    try:
        template = parse(text)
    except yaml.YAMLError:
        return text
    if not _grow(template):
        return text
    return dump(template)


def _grow(template: Any) -> bool:
    """Enlarge all groups of a template; return whether there was one."""
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
