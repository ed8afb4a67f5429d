# SPDX-License-Identifier: Apache-2.0

"""A cloud whose calls a test can stall."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from climate.cloud.base import Cloud

# Called instead of each verb, with the name of the verb and the original call.
Watch = Callable[[str, Callable[[], Any]], Any]
_OTHERS = frozenset({'acting_for', 'of_caller', 'as_service'})


class Watched:
    """A cloud whose calls all go through a watch function; implements ``Cloud``."""

    def __init__(self, cloud: Cloud, watch: Watch) -> None:
        self._cloud = cloud
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._cloud, name)
        if name in _OTHERS:
            return lambda *given: Watched(found(*given), self._watch)
        return _Service(name, found, self._watch)


class _Service:
    """One service of a watched cloud."""

    def __init__(self, name: str, real: Any, watch: Watch) -> None:
        self._name = name
        self._real = real
        self._watch = watch

    def __getattr__(self, verb: str) -> Any:
        found = getattr(self._real, verb)

        def call(*given: Any, **named: Any) -> Any:
            return self._watch(f'{self._name}.{verb}', functools.partial(found, *given, **named))

        return call


class Once(Watched):
    """A cloud in which the first call of a verb hangs while other things happen.

    :param verb: the verb, such as ``compute.list_servers``
    :param act: called before the call arrives
    """

    def __init__(self, cloud: Cloud, verb: str, act: Callable[[], object]) -> None:
        self._left = [act]
        self._verb = verb
        super().__init__(cloud, self._pass)

    def _pass(self, verb: str, call: Callable[[], Any]) -> Any:
        if verb == self._verb and self._left:
            self._left.pop()()
        return call()

    @property
    def happened(self) -> bool:
        """Whether the verb was called."""
        return not self._left
