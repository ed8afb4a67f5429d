# SPDX-License-Identifier: Apache-2.0

"""``OS::Climate::Lease``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine import function
from heat.engine import resource
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions

from climate.client.sdk import errors
from climate.client.sdk.proxy import ReservationProxy
from climate.clock import SystemClock
from climate.heat import bodies
from climate.heat import booking
from climate.heat import client
from climate.heat import failures
from climate.heat import schema
from climate.heat import waits

_CLOCK = SystemClock()


class StackLease(resource.Resource):
    """A lease in a stack; deleting the stack deletes the lease."""

    default_client_name = client.NAME
    # The longest name that the API accepts.
    physical_resource_name_limit = 80
    properties_schema = schema.PROPERTIES
    attributes_schema = schema.ATTRIBUTES

    def validate(self) -> None:
        """Check what the types of the properties do not say.

        :raises heat.common.exception.StackValidationFailed: if something is wrong
        """
        super().validate()
        given = {key for key in self.properties.data if self._is_given(key)}
        fault = bodies.fault_of_period(given)
        fault = fault or bodies.fault_of_labels(self.properties[bodies.RESERVATIONS] or ())
        if fault:
            raise exception.StackValidationFailed(message=fault)

    def handle_create(self) -> waits.Pace:
        """Book the lease."""
        try:
            lease = booking.book(self.client(), self._values(self.properties), _CLOCK.now)
        except (errors.RefusedRequest, booking.NoOffer) as error:
            raise exception.Error(failures.describe(error)) from error
        self.resource_id_set(lease.id)
        return waits.Pace(_CLOCK)

    def check_create_complete(self, pace: waits.Pace) -> bool:
        """Return whether the lease is as far as the template wants."""
        return self._reached(pace, self.properties[schema.WAIT_FOR])

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> tuple[waits.Pace, dict[str, Any], str] | None:
        """Change the lease.

        :returns: when to look at it, the change that is not sent yet, and the wanted state;
            None if there is nothing to wait for
        :raises heat.common.exception.UpdateReplace: if another lease is needed
        """
        try:
            lease = self._show()
        except errors.NotFoundRefusal:
            raise resource.UpdateReplace(self) from None
        after = json_snippet.properties(self.properties_schema, self.context)
        before, values = self._values(self.properties), self._values(after)
        body = bodies.change(before, values, lease)
        over = lease['status'] in waits.OVER
        if (
            body is None
            or (over and body.keys() - {bodies.NAME})
            or bodies.needs_another(before, values, lease)
        ):
            raise resource.UpdateReplace(self)
        rest = self._send(body)
        return None if over else (waits.Pace(_CLOCK), rest, values[schema.WAIT_FOR])

    def check_update_complete(self, change: tuple[waits.Pace, dict[str, Any], str] | None) -> bool:
        """Return whether the lease is changed."""
        if change is None:
            return True
        pace, rest, wait_for = change
        if not pace.is_due():
            return False
        if rest:
            pace.rest(waits.SHORT)
            sent = dict(rest)
            rest.clear()
            rest.update(self._send(sent))
            return False
        return self._reached(pace, wait_for)

    def handle_delete(self) -> waits.Pace | None:
        """Cancel or end the lease."""
        if self.resource_id is None:
            return None
        self.client().delete_lease(self.resource_id)
        return waits.Pace(_CLOCK)

    def check_delete_complete(self, pace: waits.Pace | None) -> bool:
        """Return whether the lease is gone, and with it what was on its resources."""
        if pace is None:
            return True
        try:
            if pace.is_due():
                self._look(pace)
        except errors.NotFoundRefusal:
            return True
        return False

    def handle_check(self) -> None:
        """Check that the lease exists, and is not over."""
        self._refuse_over(self._show())

    def needs_replace_failed(self) -> bool:
        """Return whether a resource that failed needs another lease."""
        if not self.resource_id:
            return True
        try:
            return self._show()['status'] in waits.OVER
        except errors.NotFoundRefusal:
            return True

    def _needs_update(self, *args: Any, **kwargs: Any) -> bool:
        # A stack that did not wait long enough for the start waits again, although nothing
        # has changed.
        return super()._needs_update(*args, **kwargs) or self.status == self.FAILED

    def _show_resource(self) -> dict[str, Any]:
        return self._show()

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        lease = self._show()
        if name not in (schema.RESERVATION_IDS, schema.RESOURCES):
            return lease[name]
        # A lease that the stack did not make has no properties here.
        wanted = () if self.external_id else self.properties[bodies.RESERVATIONS]
        ids = bodies.reservation_ids(wanted, lease)
        if name == schema.RESERVATION_IDS:
            return ids
        names = booking.names_by_reservation(self.client(), self.resource_id)
        return {key: names.get(reservation, []) for key, reservation in ids.items()}

    def _is_given(self, key: str) -> bool:
        """Return whether a property has a value, or gets one from another resource."""
        raw = self.properties.data[key]
        return bool(self.properties[key]) or any(function.dependencies(raw))

    def _values(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        # Heat resolves a text without a value to ''.
        values = {key: properties[key] or None for key in schema.PROPERTIES}
        return {**values, bodies.NAME: values[bodies.NAME] or self.physical_resource_name()}

    def _show(self) -> dict[str, Any]:
        proxy: ReservationProxy = self.client()
        lease: dict[str, Any] = proxy.json('GET', f'/leases/{self.resource_id}')['lease']
        return lease

    def _look(self, pace: waits.Pace) -> dict[str, Any] | None:
        """Return the lease; None if the service does not answer at present."""
        try:
            lease = self._show()
        except (exceptions.HttpException, auth_exceptions.ConnectionError) as error:
            if not waits.passes(error):
                raise
            pace.rest(waits.LONG)
            return None
        pace.rest(waits.pause(lease, _CLOCK.now()))
        return lease

    def _reached(self, pace: waits.Pace, wait_for: str) -> bool:
        if not pace.is_due():
            return False
        lease = self._look(pace)
        if lease is None:
            return False
        self._refuse_over(lease)
        return waits.reached(lease['status'], wait_for)

    def _refuse_over(self, lease: Mapping[str, Any]) -> None:
        """Check that a lease can be used.

        :raises heat.common.exception.ResourceInError: with the last error in its history
        """
        if lease['status'] not in waits.OVER:
            return
        why = failures.of_history(self.client().lease_history(self.resource_id))
        raise exception.ResourceInError(
            resource_status=lease['status'],
            status_reason=why or lease.get('end_reason') or 'the lease is over',
        )

    def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        """Send a change.

        :returns: the same if the service is at work on the lease; {} if it is done
        :raises heat.common.exception.UpdateReplace: if a field cannot be changed
        """
        if not body:
            return {}
        try:
            self.client().update_lease(self.resource_id, **body)
        except errors.RefusedRequest as error:
            if error.name == 'CANT_UPDATE_PARAMETER':
                raise resource.UpdateReplace(self) from error
            if error.name == 'INVALID_STATE' and self._show()['status'] in waits.CHANGING:
                return body
            raise exception.Error(failures.describe(error)) from error
        return {}
