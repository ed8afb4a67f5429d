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

"""How much a text of YAML comes to, once its aliases and merges are written out.

A few hundred bytes of aliases of aliases stand for more than any memory holds.
The size is counted over the events of the parser, before anything is composed
or constructed: an alias costs what its anchor cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from climate import exceptions

# Twenty nodes for each of the thousand resources that Heat allows in a stack.
MOST_NODES = 20_000
MOST_CHARACTERS = 4 * 1024 * 1024
# The constructor takes several frames of Python for each level.
MOST_LEVELS = 100

_Cost = tuple[int, int]


class TooLarge(exceptions.Permanent):
    """It comes to more than is read."""


class Budget:
    """What is left to be spent on one stack or template.

    :param nodes: mappings, lists and scalars, those behind aliases counted at each use
    :param size: characters of all scalars, counted in the same way
    """

    def __init__(self, nodes: int = MOST_NODES, size: int = MOST_CHARACTERS) -> None:
        self._most = (nodes, size)
        self._nodes = nodes
        self._size = size

    def spend(self, nodes: int, size: int) -> None:
        """Count something.

        :raises TooLarge: if that is more than is left
        """
        self._nodes -= nodes
        self._size -= size
        if self._nodes < 0 or self._size < 0:
            raise TooLarge(
                f'more than {self._most[0]} nodes or {self._most[1]} characters, '
                'with all aliases written out'
            )

    def spend_on(self, value: Any) -> None:
        """Count a value that was read, as it would be written without aliases.

        :raises TooLarge: if that is more than is left
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
        """Count a text of YAML, without reading it.

        :param loader: class of the loader that will read it
        :raises TooLarge: if it is nested too deeply, or more than is left
        :raises yaml.YAMLError: if it is no YAML
        """
        self._spend_on_events(yaml.parse(text, loader))

    def _spend_on_events(self, events: Iterable[Any]) -> None:
        anchors: dict[str, _Cost] = {}
        # Of each collection that is open: its anchor, and what was left before it.
        opened: list[tuple[str | None, _Cost]] = []
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                if len(opened) >= MOST_LEVELS:
                    raise TooLarge(f'it is nested more than {MOST_LEVELS} levels deep')
                opened.append((event.anchor, (self._nodes, self._size)))
                self.spend(1, 0)
            elif isinstance(event, yaml.CollectionEndEvent):
                anchor, before = opened.pop()
                if anchor is not None:
                    anchors[anchor] = before[0] - self._nodes, before[1] - self._size
            elif isinstance(event, yaml.ScalarEvent):
                cost = 1, len(event.value)
                self.spend(*cost)
                if event.anchor is not None:
                    anchors[event.anchor] = cost
            elif isinstance(event, yaml.AliasEvent):
                name = str(event.anchor)
                if any(anchor == name for anchor, _ in opened):
                    raise TooLarge(f'{name[:60]} contains itself')
                self.spend(*anchors.get(name, (1, 0)))
