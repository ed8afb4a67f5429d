# SPDX-License-Identifier: Apache-2.0

"""The size of a YAML text with its aliases and merges expanded.

A few hundred bytes with nested aliases can expand to more than fits into memory. The
size is therefore computed from the events of the parser, before anything is
constructed: an alias has the size and the depth of its anchor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import yaml

from climate import exceptions

# Twenty nodes for each of the thousand resources that Heat allows in a stack.
MOST_NODES = 20_000
MOST_CHARACTERS = 4 * 1024 * 1024
# The constructor takes several frames of Python for each level.
MOST_LEVELS = 100

# The size of an anchor: nodes, characters, and nested levels.
_Cost = tuple[int, int, int]


class TooLarge(exceptions.Permanent):
    """A template exceeds the limits."""


@dataclasses.dataclass(slots=True)
class _Open:
    """A collection whose end has not been parsed yet.

    :ivar nodes: the budget of nodes at its start
    :ivar size: the budget of characters at its start
    :ivar levels: the levels found in it so far
    """

    anchor: str | None
    nodes: int
    size: int
    levels: int = 0


class Budget:
    """The remaining budget of a stack or template.

    :param nodes: mappings, lists and scalars; those of an alias count at each use
    :param size: characters of all scalars, counted in the same way
    """

    def __init__(self, nodes: int = MOST_NODES, size: int = MOST_CHARACTERS) -> None:
        self._most = (nodes, size)
        self._nodes = nodes
        self._size = size

    def spend(self, nodes: int, size: int) -> None:
        """Spend a part of the budget.

        :raises TooLarge: if not enough is left
        """
        self._nodes -= nodes
        self._size -= size
        if self._nodes < 0 or self._size < 0:
            raise TooLarge(
                f'more than {self._most[0]} nodes or {self._most[1]} characters, '
                'with all aliases written out'
            )

    def spend_on(self, value: Any) -> None:
        """Spend the size of a parsed value, with all aliases expanded.

        :raises TooLarge: if not enough is left
        """
        ahead = [value]
        while ahead:
            node = ahead.pop()
            self.spend(1, len(node) if isinstance(node, str) else 0)
            if isinstance(node, dict):
                ahead.extend(node.keys())
                ahead.extend(node.values())
            elif isinstance(node, list | tuple | set):
                ahead.extend(node)

    def spend_on_text(self, text: str, loader: Any) -> None:
        """Spend the size of a YAML text, without constructing its values.

        :param loader: the class of the loader that will read it
        :raises TooLarge: if it is nested too deeply, or not enough is left
        :raises yaml.YAMLError: if it is not YAML
        """
        self._spend_on_events(yaml.parse(text, loader))

    def _spend_on_events(self, events: Iterable[Any]) -> None:
        anchors: dict[str, _Cost] = {}
        opened: list[_Open] = []
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                self._deepen(opened, 1)
                opened.append(_Open(event.anchor, self._nodes, self._size))
                self.spend(1, 0)
            elif isinstance(event, yaml.CollectionEndEvent):
                one = opened.pop()
                if opened:
                    opened[-1].levels = max(opened[-1].levels, one.levels + 1)
                if one.anchor is not None:
                    cost = one.nodes - self._nodes, one.size - self._size, one.levels + 1
                    anchors[one.anchor] = cost
            elif isinstance(event, yaml.ScalarEvent):
                self.spend(1, len(event.value))
                if event.anchor is not None:
                    anchors[event.anchor] = 1, len(event.value), 0
            elif isinstance(event, yaml.AliasEvent):
                name = str(event.anchor)
                if any(one.anchor == name for one in opened):
                    raise TooLarge(f'{name[:60]} contains itself')
                nodes, size, levels = anchors.get(name, (1, 0, 0))
                self._deepen(opened, levels)
                self.spend(nodes, size)

    @staticmethod
    def _deepen(opened: list[_Open], levels: int) -> None:
        """Record levels below the open collections."""
        if len(opened) + levels > MOST_LEVELS:
            raise TooLarge(f'it is nested more than {MOST_LEVELS} levels deep')
        if opened:
            opened[-1].levels = max(opened[-1].levels, levels)
