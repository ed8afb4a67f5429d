# SPDX-License-Identifier: Apache-2.0

"""Requirements as people write them, such as ``vcpus >= 32 and not rack in (A, B)``.

The API takes JSON lists: ``["and", [">=", "$vcpus", "32"], ["not", …]]``. This module reads
the text into the values of :mod:`climate.allocation.requirements`, and writes them back. The
service evaluates them, so that both spellings mean the same.

A name or a value that has blanks or signs of the language is written in double quotes, as a
JSON string. ``trait:HW_CPU_X86_AVX2`` requires a trait. As in flavors, ``trait:HW_CPU_X86_AVX2
= required`` is the same, and ``= forbidden`` means ``not``. ``rack in (A, B)`` is short for
``(rack == A or rack == B)``, and ``rack not in (A, B)`` for ``not rack in (A, B)``; a resource
without the property meets the latter.
"""

from __future__ import annotations

import json
import re
from typing import Final

from climate.allocation import requirements
from climate.allocation.requirements import All
from climate.allocation.requirements import AnyOf
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Not
from climate.allocation.requirements import Requirement
from climate.allocation.requirements import Trait
from climate.client.requirement_errors import RequirementSyntaxError

_PLAIN: Final = re.compile(r'[^\s()<>=!,"]+')
_KEYWORDS: Final = frozenset({'and', 'or', 'not', 'in'})
_TRAIT: Final = 'trait:'
_MEANINGFUL: Final = (_TRAIT, '$')


def parse(text: str) -> Requirement:
    """Read a requirement.

    :raises RequirementSyntaxError: if it cannot be read
    """
    # Most commands read no requirement, and the parser takes a while to import.
    from climate.client import requirement_grammar  # noqa: PLC0415  as above

    return requirement_grammar.parse(text)


def as_json(text: str) -> str:
    """Return the JSON text of the API for a requirement.

    :param text: as people write it, or that JSON text
    :raises RequirementSyntaxError: if it cannot be read
    """
    if not text.lstrip().startswith('['):
        return requirements.dumps(parse(text))
    try:
        return requirements.dumps(requirements.parse(text))
    except requirements.RequirementError as error:
        raise RequirementSyntaxError(text, 1, str(error)) from None


def write(requirement: Requirement) -> str:
    """Return the text that :func:`parse` reads as a requirement."""
    match requirement:
        case Comparison(key=key, op=op, value=value):
            return f'{_quoted(key)} {op.value} {_quoted(value)}'
        case Trait(name=name):
            return f'{_TRAIT}{name}'
        case Not(part=part):
            return f'not {_grouped(part)}'
        case All(parts=(part,)) | AnyOf(parts=(part,)):
            # A combination of one part means that part; the language has no spelling for it.
            return write(part)
        case All(parts=parts):
            return ' and '.join(map(_grouped, parts))
        case AnyOf(parts=parts):
            return ' or '.join(map(_grouped, parts))


def _grouped(part: Requirement) -> str:
    text = write(part)
    return f'({text})' if isinstance(part, All | AnyOf) else text


def _quoted(word: str) -> str:
    plain = _PLAIN.fullmatch(word) and word not in _KEYWORDS and not word.startswith(_MEANINGFUL)
    return word if plain else json.dumps(word)
