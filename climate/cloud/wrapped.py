# SPDX-License-Identifier: Apache-2.0

"""A cloud around another one, which adds something to each call of a service."""

from __future__ import annotations

import abc
import copy
from collections.abc import Callable
from typing import Any
from typing import Self

from climate.cloud.base import Cloud


class _WrappedService:
    def __init__(self, method: Callable[[str], Callable[..., Any]]) -> None:
        self._method = method

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        return self._method(verb)


def _service(name: str) -> Any:
    """Return a property: the service of this name, whose methods are wrapped."""

    def wrapped(cloud: WrappedCloud) -> _WrappedService:
        real = getattr(cloud._cloud, name)
        return _WrappedService(lambda verb: cloud._method(f'{name}.{verb}', getattr(real, verb)))

    return property(wrapped)


class WrappedCloud(abc.ABC):
    """Implements :class:`climate.cloud.base.Cloud`.

    :param cloud: what its services call
    """

    compute = _service('compute')
    placement = _service('placement')
    network = _service('network')
    volume = _service('volume')
    image = _service('image')
    orchestration = _service('orchestration')
    identity = _service('identity')

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @abc.abstractmethod
    def _method(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method around *real*, whose name is such as ``compute.find_server``."""

    def acting_for(self, trust_id: str) -> Self:
        """Return the cloud as another user sees it, wrapped alike."""
        return self._around(self._cloud.acting_for(trust_id))

    def of_caller(self, token: str) -> Self:
        """Return the cloud as a caller sees it, wrapped alike."""
        return self._around(self._cloud.of_caller(token))

    def as_service(self) -> Self:
        """Return the cloud as the service user sees it, wrapped alike."""
        return self._around(self._cloud.as_service())

    def _around(self, cloud: Cloud) -> Self:
        clone = copy.copy(self)
        clone._cloud = cloud
        return clone
