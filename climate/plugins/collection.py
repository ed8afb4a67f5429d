# SPDX-License-Identifier: Apache-2.0

"""A collection of the API for the resources of one type, in addition to ``/v1/resources``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate.domain.resources import Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceCollection:
    """How clients see the resources of a type under a separate path.

    The API checks and reads the bodies; the policy rules of the collection are
    ``climate:<noun>:<verb>``.

    :ivar resource_type: the type of all its resources
    :ivar path: its path below ``/v1``, such as ``os-hosts``
    :ivar noun: key of the list in a body, such as ``hosts``
    :ivar item: key of a single resource in a body, such as ``host``
    :ivar item_id: name of the id in a path, such as ``host_id``
    :ivar show: returns the keys of a resource that its type defines, as JSON values
    :ivar schema: JSON schema of the body that registers a resource, at microversion 1.0
    :ivar attributes: keys of that body that identify the resource in the cloud
    :ivar names: keys of that body; the first that is present names the resource
    :ivar properties: whether all further keys are properties, which can be changed;
        the collection then has the routes of properties and allocations as well
    :ivar reserved: names that these properties cannot have
    :ivar strict: whether unknown keys of that body are refused from microversion 1.1 on
    :ivar exact_when_created: whether the response to that body has dates in their long form
    """

    resource_type: str
    path: str
    noun: str
    item: str
    item_id: str
    show: Callable[[Resource], dict[str, Any]]
    schema: Mapping[str, Any]
    attributes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    properties: bool = False
    reserved: frozenset[str] = frozenset()
    strict: bool = False
    exact_when_created: bool = False
