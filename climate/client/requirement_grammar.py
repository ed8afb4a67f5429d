# SPDX-License-Identifier: Apache-2.0

"""The grammar of requirements as people write them."""

from __future__ import annotations

import functools
import json
import re
from typing import Any
from typing import Final

import lark

from climate.allocation import requirements
from climate.allocation.requirements import All
from climate.allocation.requirements import AnyOf
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Not
from climate.allocation.requirements import Operator
from climate.allocation.requirements import Requirement
from climate.allocation.requirements import Trait
from climate.client.requirement_errors import RequirementSyntaxError

_GRAMMAR: Final = r"""
    ?start: either
    ?either: both ("or" both)*
    ?both: inverse ("and" inverse)*
    ?inverse: "not" inverse -> negation
        | "(" either ")"
        | word OPERATOR word -> comparison
        | TRAIT (OPERATOR word)? -> trait
        | word "in" "(" word ("," word)* ")" -> membership
        | word "not" "in" "(" word ("," word)* ")" -> exclusion
    word: WORD | QUOTED
    OPERATOR: "==" | "=" | "!=" | ">=" | "<=" | ">" | "<"
    TRAIT.1: /trait:[^\s()<>=!,"]*/
    WORD: /[^\s()<>=!,"]+/
    QUOTED: /"(?:[^"\\]|\\.)*"/
    %ignore /\s+/
"""
_NAMES: Final = {
    'WORD': 'a word',
    'QUOTED': 'a word',
    'TRAIT': 'a word',
    'OPERATOR': 'one of == != >= <= > <',
    'IN': 'in',
    'AND': 'and',
    'OR': 'or',
    'NOT': 'not',
    'LPAR': '(',
    'RPAR': ')',
    'COMMA': ',',
    '$END': 'the end',
}
_TRAIT: Final = 'trait:'


@functools.cache
def _parser() -> lark.Lark:
    return lark.Lark(_GRAMMAR, parser='lalr', propagate_positions=True, maybe_placeholders=False)


def parse(text: str) -> Requirement:
    """Read a requirement.

    :raises RequirementSyntaxError: if it cannot be read
    """
    if not text.strip():
        raise RequirementSyntaxError(text, 1, 'the requirement is empty')
    try:
        tree = _parser().parse(text)
    except lark.exceptions.UnexpectedCharacters as error:
        column = (error.pos_in_stream or 0) + 1
        quote = text[column - 1] == '"'
        reason = 'a quotation that does not end' if quote else _wanted(error.allowed)
        raise RequirementSyntaxError(text, column, reason) from None
    except lark.exceptions.UnexpectedToken as error:
        column = len(text) + 1 if error.token.type == '$END' else (error.pos_in_stream or 0) + 1
        raise RequirementSyntaxError(text, column, _wanted(error.accepts)) from None
    try:
        requirement: Requirement = _RequirementReader(text).transform(tree)
    except lark.exceptions.VisitError as error:
        raise error.orig_exc from None
    try:
        # The service limits depth, length and the number of comparisons.
        requirements.parse(requirements.dumps(requirement))
    except requirements.RequirementError as error:
        raise RequirementSyntaxError(text, 1, str(error)) from None
    return requirement


def _wanted(names: set[str] | None) -> str:
    return 'expected ' + ', '.join(sorted({_NAMES.get(name, name) for name in names or ()}))


class _RequirementReader(lark.Transformer[lark.Token, Any]):
    """Turns a tree into a requirement."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def word(self, parts: list[lark.Token]) -> lark.Token:
        """Return a word without its quotes, with its place."""
        token = parts[0]
        if token.type != 'QUOTED':
            return token
        try:
            # Control characters need no escape.
            value = json.loads(token, strict=False)
        except ValueError:
            reason = 'a quotation with an escape that JSON does not have'
            raise self._error(token, reason) from None
        return lark.Token.new_borrow_pos(token.type, value, token)

    def comparison(self, parts: list[lark.Token]) -> Comparison:
        """Return ``name operator value``."""
        key, op, value = parts
        known = Operator('==' if op == '=' else str(op))
        return Comparison(key=self._key(key), op=known, value=str(value))

    def membership(self, parts: list[lark.Token]) -> Requirement:
        """Return ``name in (value, …)``."""
        key = self._key(parts[0])
        comparisons = [Comparison(key=key, op=Operator.EQ, value=str(each)) for each in parts[1:]]
        return AnyOf(parts=tuple(comparisons)) if len(comparisons) > 1 else comparisons[0]

    def exclusion(self, parts: list[lark.Token]) -> Not:
        """Return ``name not in (value, …)``."""
        return Not(part=self.membership(parts))

    def trait(self, parts: list[lark.Token]) -> Requirement:
        """Return ``trait:NAME``, or ``trait:NAME == required``, as flavors spell it."""
        name = parts[0].removeprefix(_TRAIT)
        if not re.fullmatch(requirements.TRAIT_NAME, name):
            reason = (
                'the name of a trait has upper-case letters, digits and _, at most '
                f'{requirements.MAX_KEY}'
            )
            raise self._error(parts[0], reason)
        required = Trait(name=name)
        if len(parts) == 1:
            return required
        op, state = parts[1:]
        if op not in ('=', '=='):
            raise self._error(op, 'a trait is only compared with == required or == forbidden')
        if state not in ('required', 'forbidden'):
            raise self._error(state, 'a trait is required or forbidden')
        return required if state == 'required' else Not(part=required)

    def negation(self, parts: list[Requirement]) -> Not:
        """Return ``not part``."""
        return Not(part=parts[0])

    def both(self, parts: list[Requirement]) -> All:
        """Return ``part and part``."""
        return All(parts=tuple(parts))

    def either(self, parts: list[Requirement]) -> AnyOf:
        """Return ``part or part``."""
        return AnyOf(parts=tuple(parts))

    def _key(self, token: lark.Token) -> str:
        key = str(token) if token.type == 'QUOTED' else token.removeprefix('$')
        if not key:
            raise self._error(token, 'the name of a property is empty')
        return key

    def _error(self, token: lark.Token, reason: str) -> RequirementSyntaxError:
        return RequirementSyntaxError(self._text, (token.start_pos or 0) + 1, reason)
