# SPDX-License-Identifier: Apache-2.0

"""A service that only one plugin calls, as its generated tests see it."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from climate.simulator import SimulatedCloud


class OwnService:
    """Passes each call of the plugin to a fake, unless the call is to fail.

    :param name: the first part of its verbs, such as ``switch`` of ``switch.turn_on``
    :param fake: has the methods of the plugin's client, and attributes that are values of
        JSON; methods that change nothing begin with ``find_`` or ``list_``
    """

    def __init__(self, name: str, fake: object) -> None:
        self._name = name
        self._fake = fake
        # Each cloud begins with it; the fake itself has the state of the last call.
        self._new = copy.deepcopy(fake)
        self._cloud: SimulatedCloud | None = None

    def connect(self, cloud: SimulatedCloud) -> None:
        """Keep the state of the fake in a simulated cloud from now on.

        :raises TypeError: if its attributes are no values of JSON
        """
        cloud.own_services.add(self._name, self._new)
        self._cloud = cloud

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        """Return the method of the fake."""
        if verb.startswith('_') or not callable(getattr(self._fake, verb, None)):
            raise AttributeError(f'the fake of {self._name} has no method {verb}')
        return functools.partial(self._call, verb)

    def _call(self, verb: str, *arguments: Any, **named: Any) -> Any:
        assert self._cloud is not None, 'the tests connect it before they call the plugin'
        return self._cloud.own_services.call(self._name, self._fake, verb, arguments, named)
