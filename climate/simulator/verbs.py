# SPDX-License-Identifier: Apache-2.0

"""Makes the methods of the simulated services from functions of the state."""

from __future__ import annotations

import contextlib
import datetime
import functools
import inspect
import operator
import re
import types
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Concatenate
from typing import ParamSpec
from typing import TypeVar

from climate import exceptions
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db
from climate.simulator.store import SimulatorStore

P = ParamSpec('P')
T = TypeVar('T')

LONGEST = 255
_KEY = re.compile(r'[a-zA-Z0-9_:. -]{1,255}')


class ServiceVerbs:
    """The verbs of a service for one user; see :func:`verb`.

    :param runner: knows the user
    """

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner


def verb(
    name: str, work: Callable[Concatenate[Db, P], T], *recorded: str
) -> Callable[Concatenate[ServiceVerbs, P], T]:
    """Return a method of a service that does *work* in a transaction, subject to faults.

    :param name: such as ``compute.add_host``
    :param recorded: the arguments for the journal, or attributes of arguments, such as
        ``draft.name``; all arguments if not given
    """
    signature = inspect.signature(work)
    names = recorded or tuple(signature.parameters)[1:]

    def call(self: ServiceVerbs, *args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(None, *args, **kwargs)
        bound.apply_defaults()
        given = types.SimpleNamespace(**bound.arguments)
        arguments = tuple(_plain(operator.attrgetter(each)(given)) for each in names)
        return self._runner.run(name, arguments, lambda db: work(db, *args, **kwargs))

    return _method(call, work, signature)


class StateOwner:
    """An object that reads and changes the state directly; see :func:`direct`.

    Faults do not affect its methods, nor are they counted.
    """

    def __init__(self, store: SimulatorStore, runner: VerbRunner) -> None:
        self._store = store
        self._runner = runner

    def _transaction(self) -> contextlib.AbstractContextManager[Db]:
        return self._store.transaction(self._runner.now())


def direct(work: Callable[Concatenate[Db, P], T]) -> Callable[Concatenate[StateOwner, P], T]:
    """Return a method that does *work* in a transaction, regardless of faults."""

    def call(self: StateOwner, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._transaction() as db:
            return work(db, *args, **kwargs)

    return _method(call, work, inspect.signature(work))


def _method(
    call: Callable[..., T], work: Callable[..., T], signature: inspect.Signature
) -> Callable[..., T]:
    """Give a method the documentation of *work*, and its parameters except the state."""
    functools.update_wrapper(call, work, ('__module__', '__doc__'), ())
    _, *rest = signature.parameters.values()
    this = inspect.Parameter('self', inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(call)['__signature__'] = signature.replace(parameters=[this, *rest])
    return call


def _plain(value: object) -> object:
    """Return an argument as JSON can represent it, and an object as its id."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return getattr(value, 'id', value)


def check_metadata(metadata: Mapping[str, str | None]) -> None:
    """Check metadata by the rules that Nova applies everywhere.

    :raises climate.exceptions.Permanent: if a key or value is not allowed
    """
    for key, value in metadata.items():
        if not _KEY.fullmatch(key) or len(value or '') > LONGEST:
            raise exceptions.Permanent(f'metadata key {key[:50]!r} or its value is invalid')
