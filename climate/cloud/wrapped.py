# SPDX-License-Identifier: Apache-2.0

"""A cloud around another one, whose services add something to each call."""

from __future__ import annotations

import abc
import copy
from typing import Any
from typing import Self

from climate.cloud.base import Cloud


class WrappedCloud(abc.ABC):
    """Implements :class:`climate.cloud.base.Cloud`.

    :param cloud: what its services call
    """

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @abc.abstractmethod
    def _service(self, name: str, real: Any) -> Any:
        """Return the service around *real*, whose name in the cloud is such as ``compute``."""

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

    @property
    def compute(self) -> Any:
        """Nova."""
        return self._service('compute', self._cloud.compute)

    @property
    def placement(self) -> Any:
        """Placement."""
        return self._service('placement', self._cloud.placement)

    @property
    def network(self) -> Any:
        """Neutron."""
        return self._service('network', self._cloud.network)

    @property
    def volume(self) -> Any:
        """Cinder."""
        return self._service('volume', self._cloud.volume)

    @property
    def image(self) -> Any:
        """Glance."""
        return self._service('image', self._cloud.image)

    @property
    def orchestration(self) -> Any:
        """Heat."""
        return self._service('orchestration', self._cloud.orchestration)

    @property
    def identity(self) -> Any:
        """Keystone."""
        return self._service('identity', self._cloud.identity)
