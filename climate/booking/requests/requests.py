# SPDX-License-Identifier: Apache-2.0

"""What a caller requests, reservation by reservation, with the parts of each."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.allocation import requirements
from climate.booking.requests.context import Context
from climate.domain.budgets import RequestBudget
from climate.domain.placements import MemberPlacement
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases import on_behalf
from climate.leases.notices import Plugins
from climate.plugins import contract
from climate.plugins.searches import Needs
from climate.resources import catalog

# The most reservations of a lease, counting parts: a stack has one for each size
# of its volumes.
_MOST = 200
_NOTHING: Mapping[str, Any] = {}
_ANYWHERE = MemberPlacement()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReservationRequest:
    """One requested reservation.

    :ivar request: as read by the plugin, with what it saw in the cloud
    :ivar needs: what follows from the request
    :ivar placement: how its members are placed; None if anywhere
    :ivar whole: place of the reservation that it is a part of; None if the
        caller requested it
    """

    plugin: contract.Plugin[Any]
    request: Any
    needs: Needs
    placement: MemberPlacement | None = None
    whole: int | None = None


def plugin_of(plugins: Plugins, resource_type: Any) -> contract.Plugin[Any]:
    """Return the plugin of a type.

    :raises climate.exceptions.UnsupportedResourceType: if there is none
    """
    plugin = catalog.current(plugins, resource_type) if isinstance(resource_type, str) else None
    if plugin is None:
        shown = resource_type if isinstance(resource_type, str) else repr(resource_type)
        raise exceptions.UnsupportedResourceType(resource_type=shown[:100])
    return plugin


def read(context: Context, caller: Caller, draft: LeaseDraft) -> list[ReservationRequest]:
    """Read the reservations of a draft, and inspect them in the cloud.

    The parts of a reservation come before it.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.CloudUnavailable: if the cloud does not respond
    :raises climate.exceptions.ClimateError: if something named, or the type of
        a part, does not exist
    """
    parsed, conditions = [], 0
    for body in draft.reservations:
        parsed.append(_parsed(context, body, draft))
        conditions += conditions_of(parsed[-1][0], body)
        check_conditions(caller.budget, conditions)
    found: list[ReservationRequest] = []
    placements = draft.placements or (None,) * len(parsed)
    for (plugin, request), placement in zip(parsed, placements, strict=True):
        if plugin.inspects:
            request = _inspected(context, caller, plugin, request)
        needs = plugin.needs(request)
        if needs.parts:
            place = len(found) + len(needs.parts)
            found += [_part(context, caller, body, place) for body in needs.parts]
        if placement is not None:
            _check_placeable(plugin, needs)
        found.append(
            ReservationRequest(plugin=plugin, request=request, needs=needs, placement=placement)
        )
        if len(found) > _MOST:
            raise exceptions.InvalidInput(
                f'With all parts, a lease has at most {_MOST} reservations'
            )
    return found


def refuse_traits(
    plugin: contract.Plugin[Any], body: Mapping[str, Any], known: Mapping[str, Any] = _NOTHING
) -> None:
    """Refuse traits in the requirements of a body, which older microversions do not know.

    :param known: requirements that the body may repeat, by field
    :raises climate.exceptions.MalformedRequirements: naming the field
    """
    for key in _requirement_keys(plugin):
        value = body.get(key)
        if value and value != known.get(key):
            parsed_requirement(key, value, traits=False)


def conditions_of(plugin: contract.Plugin[Any], body: Mapping[str, Any]) -> int:
    """Return how many conditions the requirements of a body have, which was read before."""
    values = [body.get(key) for key in _requirement_keys(plugin)]
    return sum(requirements.conditions(requirements.parse(value)) for value in values if value)


def _requirement_keys(plugin: contract.Plugin[Any]) -> tuple[str, ...]:
    # A plugin that reads its requests itself has no model of them.
    return plugin.model.requirement_keys if hasattr(plugin, 'request_model') else ()


def check_conditions(budget: RequestBudget, number: int) -> None:
    """Refuse more conditions than a request may have, before they cost anything.

    :raises climate.exceptions.RequirementsTooSlow: if there are more
    """
    most = budget.limits.conditions
    if most is not None and number > most:
        raise exceptions.RequirementsTooSlow(
            f'The requirements of all reservations have more than {most} comparisons and traits '
            'together: compare fewer properties, or request fewer reservations'
        )


def parsed_requirement(key: str, value: Any, *, traits: bool) -> requirements.Requirement | None:
    """Return the requirement in a field.

    :param traits: whether it may name traits
    :raises climate.exceptions.MalformedRequirements: naming the field
    """
    try:
        found = requirements.parse(value)
    except requirements.RequirementError as error:
        raise exceptions.MalformedRequirements(rqrms=f'{key}: {error}') from None
    if not traits and requirements.traits(found):
        reason = f'{key}: traits need microversion 1.5 or later'
        raise exceptions.MalformedRequirements(rqrms=reason)
    return found


def _check_placeable(plugin: contract.Plugin[Any], needs: Needs) -> None:
    """Refuse a placement of resources that are not chosen by Climate."""
    if needs.things or needs.parts or needs.search.names:
        raise exceptions.InvalidInput.of(
            'placement',
            f'a reservation of {plugin.resource_type} that names '
            'its resources, or has parts, cannot have one',
        )


def _parsed(
    context: Context, body: Mapping[str, Any], draft: LeaseDraft
) -> tuple[contract.Plugin[Any], Any]:
    resource_type = body.get('resource_type')
    if resource_type in (None, ''):
        raise exceptions.MissingParameter(param='resource_type')
    plugin = context.fixed.get(resource_type) if isinstance(resource_type, str) else None
    if plugin is None:
        plugin = plugin_of(context.plugins, resource_type)
    request = plugin.parse(body, strict=draft.strict)
    if not draft.traits:
        refuse_traits(plugin, body)
    # A lease without limits is one that an operator imposes on a project.
    return plugin, request if draft.limited else plugin.imposed(request)


def _part(
    context: Context, caller: Caller, body: Mapping[str, Any], whole: int
) -> ReservationRequest:
    plugin = plugin_of(context.plugins, body['resource_type'])
    request = plugin.parse(body, strict=True)
    if plugin.inspects:
        request = _inspected(context, caller, plugin, request)
    return ReservationRequest(
        plugin=plugin, request=request, needs=plugin.needs(request), whole=whole
    )


def _inspected(context: Context, caller: Caller, plugin: contract.Plugin[Any], request: Any) -> Any:
    cloud = functools.partial(context.cloud, caller)
    return on_behalf.answered(lambda: plugin.inspect(request, cloud, caller.project_id))


def things(wanted: Iterable[ReservationRequest]) -> tuple[tuple[str, str], ...]:
    """Return the existing things that are requested, by type and name, in order.

    :raises climate.exceptions.InvalidInput: if one is requested twice
    """
    found = Counter((one.plugin.resource_type, name) for one in wanted for name in one.needs.things)
    for (resource_type, name), times in found.items():
        if times > 1:
            raise exceptions.InvalidInput(f'{resource_type} {name} is requested twice')
    return tuple(sorted(found))


def with_ids(
    found: Sequence[ReservationRequest], ids: Sequence[str]
) -> tuple[ReservationRequest, ...]:
    """Return requests whose placements name reservations by id, on both sides."""
    asked = [place for place, one in enumerate(found) if one.whole is None]
    wanted = {
        ids[place]: one.placement.renamed(lambda name: ids[asked[int(name)]])
        for place, one in enumerate(found)
        if one.placement is not None
    }
    if not wanted:
        return tuple(found)
    for mine, one in list(wanted.items()):
        for other in sorted(one.others):
            mirrored = one.mirrored(mine, other)
            wanted[other] = wanted.get(other, _ANYWHERE).with_more(mirrored)
    return tuple(
        dataclasses.replace(one, placement=wanted.get(ids[place]))
        for place, one in enumerate(found)
    )
