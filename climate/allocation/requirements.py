# SPDX-License-Identifier: Apache-2.0

"""Conditions on resources: the language of ``hypervisor_properties``.

An expression is JSON::

    ["==", "$gpu", "True"]
    ["and", [">=", "$vcpus", "8"], ["not", ["==", "$architecture.platform_type", "arm64"]]]

with the operators ``==`` (also written ``=``), ``!=``, ``>=``, ``<=``, ``>`` and
``<``, ``["trait", "HW_CPU_X86_AVX2"]`` for a trait, and the combinators ``and``, ``or``
(one part or more) and ``not`` (exactly one), nested at most :data:`MAX_DEPTH` deep.

Two values are compared as numbers if both are plain decimals
(:func:`as_number`), otherwise as texts in the order of their code points: ``16``
is less than ``128`` and equal to ``16.0``, and ``1.10.2`` is a text. A resource
that lacks the key, or has no value for it, fails every comparison, ``!=`` too;
``not`` of that comparison holds. The store compiles the same tree to SQL: any
change here needs the same change there.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import operator
import re
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.allocation.requirement_values import at
from climate.allocation.requirement_values import key
from climate.allocation.requirement_values import MAX_KEY as MAX_KEY
from climate.allocation.requirement_values import RequirementError as RequirementError
from climate.allocation.requirement_values import short
from climate.allocation.requirement_values import value

MAX_CHARACTERS: Final = 64 * 1024
"""The maximum length of an expression, and of all keys and values in it together."""

MAX_CONDITIONS: Final = 100
"""The maximum number of comparisons and traits in an expression."""

MAX_DEPTH: Final = 16
"""The maximum depth of nesting; a single comparison has depth 1."""

TRAIT_NAME: Final = f'[A-Z0-9_]{{1,{MAX_KEY}}}'
"""The regular expression of the name of a trait, as in Placement."""

_MAX_NUMBER: Final = 400
# In characters: of 256 texts, and of what they mean, which takes about four times as much.
_LONGEST_KEPT: Final = 8 * 1024
_DECIMAL: Final = re.compile(r'-?[0-9]+(\.[0-9]+)?')


class Operator(enum.StrEnum):
    """The operators of comparisons."""

    EQ = '=='
    NE = '!='
    GE = '>='
    LE = '<='
    GT = '>'
    LT = '<'


def as_number(text: str) -> float | None:
    """Return the number that *text* spells; None if it is not a number.

    Only plain decimals are numbers, such as ``-3`` or ``16.50``; not ``nan``,
    ``inf``, ``1e3``, ``0x10``, ``1_000``, ``+1``, ``.5`` or anything with blanks,
    nor what is too large for a double. Whole numbers beyond 2**53 are as exact
    as a double is.
    """
    if len(text) > _MAX_NUMBER or not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    # Adding zero turns -0.0 into 0.0, which every engine writes the same way.
    return number + 0.0 if math.isfinite(number) else None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A key compared with a constant.

    :ivar key: name of the property, without the ``$``
    :ivar value: the constant as text
    :ivar number: the constant as a number, None if it is not one; follows
        from *value*
    """

    key: str
    op: Operator
    value: str
    number: float | None = dataclasses.field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'number', as_number(self.value))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trait:
    """The resource must have a trait.

    :ivar name: such as ``HW_CPU_X86_AVX2``
    """

    name: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class All:
    """Every part must be fulfilled."""

    parts: tuple[Requirement, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnyOf:
    """At least one part must be fulfilled."""

    parts: tuple[Requirement, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Not:
    """The part must not be fulfilled."""

    part: Requirement


Requirement = Comparison | Trait | All | AnyOf | Not

_OPERATORS: Final[Mapping[str, Operator]] = {'=': Operator.EQ, **{op.value: op for op in Operator}}
_COMPARE: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.GE: operator.ge,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.LT: operator.lt,
}
_COMBINATORS: Final = ('and', 'or', 'not')
_TRAIT: Final = 'trait'


def parse(text: object) -> Requirement | None:
    """Read an expression.

    :param text: JSON text, or the list it stands for; None, blank text and an
        empty list are no requirement
    :returns: the requirement, None if there is none
    :raises RequirementError: if it is malformed, too long, too deep or has too
        many conditions
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if isinstance(text, str) and len(text) <= _LONGEST_KEPT:
        return _kept(text)
    return _read(text)


@functools.lru_cache(maxsize=256)
def _kept(text: str) -> Requirement | None:
    # Each request reads its requirements several times, and callers repeat their requests.
    return _read(text)


def _read(text: object) -> Requirement | None:
    node = _decode(text) if isinstance(text, str) else text
    if isinstance(text, str | list | tuple):
        return None if node in ([], ()) else _Reader().read(node, '', 1)
    raise RequirementError(f'a requirement is a JSON list, not {short(text)}')


def all_of(*requirements: Requirement | None) -> Requirement | None:
    """Combine requirements into one that demands all of them; None if there are none."""
    parts: list[Requirement] = []
    for requirement in requirements:
        if isinstance(requirement, All):
            parts.extend(requirement.parts)
        elif requirement is not None:
            parts.append(requirement)
    if len(parts) > 1:
        return All(parts=tuple(parts))
    return parts[0] if parts else None


def matches(
    requirement: Requirement | None,
    values: Mapping[str, str | int | None],
    traits: Collection[str] = (),
) -> bool:
    """Whether a resource with *values* and *traits* fulfils *requirement*.

    Anything fulfils None.
    """
    match requirement:
        case None:
            return True
        case Comparison():
            return _holds(requirement, values.get(requirement.key))
        case Trait(name=name):
            return name in traits
        case All(parts=parts):
            return all(matches(part, values, traits) for part in parts)
        case AnyOf(parts=parts):
            return any(matches(part, values, traits) for part in parts)
        case Not(part=part):
            return not matches(part, values, traits)


def keys(requirement: Requirement | None) -> frozenset[str]:
    """Return the names of all properties that *requirement* compares."""
    return frozenset(each.key for each in _leaves(requirement) if isinstance(each, Comparison))


def traits(requirement: Requirement | None) -> frozenset[str]:
    """Return the names of all traits in *requirement*, also of those that it forbids."""
    return frozenset(each.name for each in _leaves(requirement) if isinstance(each, Trait))


def conditions(requirement: Requirement | None) -> int:
    """Return the number of comparisons and traits in *requirement*."""
    return sum(1 for _ in _leaves(requirement))


def dumps(requirement: Requirement | None) -> str:
    """Return the JSON text that :func:`parse` reads as *requirement*; '' for None."""
    if requirement is None:
        return ''
    return json.dumps(_as_json(requirement), ensure_ascii=False)


def fulfils(comparison: Comparison, text: str, number: float | None) -> bool:
    """Whether a value fulfils a comparison.

    :param number: the value as a number; None if it is compared as text only
    """
    if comparison.number is not None and number is not None:
        return _COMPARE[comparison.op](number, comparison.number)
    return _COMPARE[comparison.op](text, comparison.value)


def _holds(comparison: Comparison, value: str | int | None) -> bool:
    if value is None:
        return False
    text = str(value)
    return fulfils(comparison, text, as_number(text))


def _leaves(requirement: Requirement | None) -> Iterator[Comparison | Trait]:
    match requirement:
        case Comparison() | Trait():
            yield requirement
        case Not(part=part):
            yield from _leaves(part)
        case All(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _leaves(part)


def _as_json(requirement: Requirement) -> list[Any]:
    match requirement:
        case Comparison(key=key, op=op, value=value):
            return [op.value, f'${key}', value]
        case Trait(name=name):
            return [_TRAIT, name]
        case All(parts=parts):
            return ['and', *map(_as_json, parts)]
        case AnyOf(parts=parts):
            return ['or', *map(_as_json, parts)]
        case Not(part=part):
            return ['not', _as_json(part)]


def _decode(text: str) -> object:
    if len(text) > MAX_CHARACTERS:
        raise RequirementError(f'longer than {MAX_CHARACTERS} characters')
    try:
        # Numbers keep their spelling, so that none is too long to convert.
        return json.loads(
            text, parse_int=str, parse_float=_as_written, parse_constant=_refuse_constant
        )
    except RequirementError:
        raise
    except RecursionError:
        raise RequirementError(f'nested deeper than {MAX_DEPTH} levels') from None
    except ValueError as error:
        raise RequirementError(f'not JSON: {error}') from None


def _as_written(text: str) -> str | float:
    return float(text) if 'e' in text.lower() else text


def _refuse_constant(name: str) -> object:
    raise RequirementError(f'{name} is not a number to compare with')


class _Reader:
    """Reads one expression, and counts its conditions and characters."""

    def __init__(self) -> None:
        self._conditions = 0
        self._characters = 0

    def read(self, node: object, where: str, depth: int) -> Requirement:
        """Read the expression at *where*, which is nested *depth* deep."""
        if depth > MAX_DEPTH:
            raise RequirementError(f'nested deeper than {MAX_DEPTH} levels{at(where)}')
        if not isinstance(node, list | tuple):
            raise RequirementError(f'expected a list, got {short(node)}{at(where)}')
        if not node:
            raise RequirementError(f'an empty list{at(where)}')
        word = node[0]
        if isinstance(word, str) and word in _COMBINATORS:
            return self._combination(word, node[1:], where, depth)
        if isinstance(word, str) and word in _OPERATORS:
            return self._comparison(_OPERATORS[word], node, where)
        if word == _TRAIT:
            return self._trait(node, where)
        known = ' '.join((*_OPERATORS, _TRAIT, *_COMBINATORS))
        raise RequirementError(f'unknown operator {short(word)}{at(where)}; known are {known}')

    def _combination(
        self, word: str, nodes: list[object] | tuple[object, ...], where: str, depth: int
    ) -> Requirement:
        if not nodes or (word == 'not' and len(nodes) != 1):
            wanted = 'exactly one part' if word == 'not' else 'at least one part'
            raise RequirementError(f'{word!r} takes {wanted}, got {len(nodes)}{at(where)}')
        parts = tuple(
            self.read(node, f'{where}[{place}]', depth + 1) for place, node in enumerate(nodes, 1)
        )
        if word == 'not':
            return Not(part=parts[0])
        return All(parts=parts) if word == 'and' else AnyOf(parts=parts)

    def _comparison(
        self, op: Operator, node: list[object] | tuple[object, ...], where: str
    ) -> Comparison:
        if len(node) != 3:
            raise RequirementError(
                f'a comparison is ["{op}", "$key", "value"], got {short(node)}{at(where)}'
            )
        name, text = key(node[1], where), value(node[2], where)
        self._count(len(name) + len(text))
        return Comparison(key=name, op=op, value=text)

    def _trait(self, node: list[object] | tuple[object, ...], where: str) -> Trait:
        name = node[1] if len(node) == 2 else None
        if not isinstance(name, str) or not re.fullmatch(TRAIT_NAME, name):
            raise RequirementError(
                f'a trait is ["{_TRAIT}", "NAME"], with upper-case letters, digits and _ in at '
                f'most {MAX_KEY} characters, got {short(node)}{at(where)}'
            )
        self._count(len(name))
        return Trait(name=name)

    def _count(self, characters: int) -> None:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise RequirementError(f'more than {MAX_CONDITIONS} conditions')
        self._characters += characters
        if self._characters > MAX_CHARACTERS:
            raise RequirementError(f'longer than {MAX_CHARACTERS} characters')
