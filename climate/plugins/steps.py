# SPDX-License-Identifier: Apache-2.0

"""A kind of field: a sequence of steps, such as those at the end of a lease."""

from __future__ import annotations

import abc
import dataclasses
import itertools
import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate.plugins import fields
from climate.plugins import schemas


@dataclasses.dataclass(frozen=True)
class StepList(fields.Kind):
    """An ordered list of words, or a text in which commas separate them.

    :ivar words: the words; each can occur once
    :ivar aliases: names that earlier releases had for some words
    """

    words: Sequence[str] = ()
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kind = 'list'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return ', '.join(self.words)

    @abc.abstractmethod
    def check(self, steps: tuple[str, ...]) -> None:
        """Refuse steps that cannot follow each other.

        :raises climate.plugins.fields.Fault: with the reason
        """

    @abc.abstractmethod
    def read_list(self, value: Any) -> tuple[str, ...]:
        """Return the steps of a list of words, before :meth:`check`.

        :raises climate.plugins.fields.Fault: if it is no such list
        """

    def nothing(self) -> tuple[str, ...] | None:
        """Return the meaning of a text without words; None for the default."""
        return ()

    def read(self, value: Any) -> tuple[str, ...] | None:
        """Return the steps."""
        if isinstance(value, str):
            value = [word.strip() for word in value.split(',') if word.strip()]
            if not value:
                return self.nothing()
        steps = self.read_list(value)
        self.check(steps)
        return steps

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes, which are few enough to list."""
        sequences = sorted(self._sequences())
        separator = r'\s*,[\s,]*'
        texts = '|'.join(separator.join(map(re.escape, each)) for each in sequences if each)
        return {
            'anyOf': [
                {'enum': [list(each) for each in sequences]},
                {'type': 'string', 'pattern': rf'^[\s,]*(?:{texts})?[\s,]*$'},
            ]
        }

    def _sequences(self) -> Iterator[tuple[str, ...]]:
        """Yield every list of words that :meth:`read` accepts."""
        names = {word: [word] for word in self.words}
        for alias, word in self.aliases.items():
            names[word].append(alias)
        for length in range(len(self.words) + 1):
            for steps in itertools.permutations(self.words, length):
                try:
                    self.check(self.read_list(list(steps)))
                except fields.Fault:
                    continue
                yield from itertools.product(*(names[word] for word in steps))


@dataclasses.dataclass(frozen=True)
class Actions(StepList):
    """Actions on a single object, such as a server.

    :ivar after: the actions that can follow an action; all can if it is missing
    :ivar reasons: why an action cannot follow another, for pairs that need a reason
    :ivar needed: whether at least one is required; a text without words then
        selects the default
    """

    after: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    reasons: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    needed: bool = False

    def nothing(self) -> tuple[str, ...] | None:
        """Return the meaning of a text without words; None for the default."""
        return None if self.needed else ()

    def read_list(self, value: Any) -> tuple[str, ...]:
        """Return the actions of a list."""
        if not isinstance(value, list):
            raise fields.Fault('it is not a list')
        return tuple(
            self.aliases.get(word, word) if isinstance(word, str) else word for word in value
        )

    def check(self, steps: tuple[str, ...]) -> None:
        """Refuse actions that do not exist, or cannot follow each other."""
        for word in steps:
            if word not in self.words:
                raise fields.Fault(f'{fields.shown(word)} is not one of {self.bounds}')
        if len(set(steps)) < len(steps):
            raise fields.Fault('an action is there twice')
        if self.needed and not steps:
            raise fields.Fault('it is empty')
        for pair in itertools.pairwise(steps):
            first, then = pair
            if then not in self.after.get(first, self.words):
                why = f': {self.reasons[pair]}' if pair in self.reasons else ''
                raise fields.Fault(f"'{then}' cannot come after '{first}'{why}")
