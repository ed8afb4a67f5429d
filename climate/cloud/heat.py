# SPDX-License-Identifier: Apache-2.0

"""Heat, over a keystoneauth adapter.

Errors and retries are those of :mod:`climate.cloud.nova`. Requests that create
something are sent once.

The URL of a stack contains its project, name and id. If a client may see a stack, Heat
redirects a request with its id to that URL, also in another project. Only the path of
the redirect is used, and not the host: behind a load balancer, Heat may not know its
own name.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import exceptions as ksa

from climate.cloud import stack_orders
from climate.cloud import templates
from climate.cloud.base import CloudNotFound
from climate.cloud.errors import Errors
from climate.cloud.protocols.stacks import PlannedResource
from climate.cloud.protocols.stacks import Stack
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.protocols.stacks import StackSnapshot

_DELETED = ('DELETE', 'COMPLETE')
# Without outputs, Heat need not ask other services for a stack.
_BRIEF = {'resolve_outputs': 'false'}


class HeatClient:
    """Implements :class:`climate.cloud.base.Orchestration`.

    :param adapter: for the service type ``orchestration``; raises for errors
    :param errors: for Heat
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def preview_stack(self, draft: StackDraft) -> tuple[PlannedResource, ...]:
        """Return the resources that a stack would have at most."""
        body = _draft(draft)
        body['template'] = templates.at_its_largest(draft.template)
        body['files'] = {name: templates.at_its_largest(text) for name, text in draft.files.items()}
        with self._errors.translated('preview_stack'):
            answer = self._make(f'{self._own()}/preview', body)
            return tuple(_planned(answer['stack']['resources']))

    def create_stack(self, draft: StackDraft) -> str:
        """Start to create a stack."""
        # No rollback, so that the reason of a failure stays visible.
        body = {**_draft(draft), 'disable_rollback': True}
        with self._errors.translated('create_stack'):
            return str(self._make(self._own(), body)['stack']['id'])

    def find_stack(self, name_or_id: str) -> Stack | None:
        """Return a stack; None if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_stack'):
            return self._find(name_or_id)[1]
        return None

    def suspend_stack(self, stack_id: str) -> None:
        """Start to suspend a stack."""
        with self._errors.translated('suspend_stack'):
            url, stack = self._find(stack_id)
            if stack_orders.wants_suspension(stack):
                self._make(f'{url}/actions', {'suspend': None})

    def resume_stack(self, stack_id: str) -> None:
        """Start to resume a stack."""
        with self._errors.translated('resume_stack'):
            url, stack = self._find(stack_id)
            if stack_orders.wants_resumption(stack):
                self._make(f'{url}/actions', {'resume': None})

    def snapshot_stack(self, stack_id: str, name: str) -> str:
        """Start to take a snapshot of a stack."""
        with self._errors.translated('snapshot_stack'):
            url, stack = self._find(stack_id)
            stack_orders.check_snapshot(stack)
            return str(self._make(f'{url}/snapshots', {'name': name})['id'])

    def list_stack_snapshots(self, stack_id: str) -> tuple[StackSnapshot, ...]:
        """Return the snapshots of a stack, by name and id."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('list_stack_snapshots'):
            url, _ = self._find(stack_id)
            snapshots = [_snapshot(item) for item in self._get(f'{url}/snapshots')['snapshots']]
            return tuple(sorted(snapshots, key=lambda item: (item.name, item.id)))
        return ()

    def delete_stack(self, stack_id: str) -> None:
        """Start to delete a stack; a no-op if it is gone or being deleted."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_stack'):
            url, stack = self._find(stack_id)
            if (stack.action, stack.status) != ('DELETE', 'IN_PROGRESS'):
                self._adapter.delete(url)

    # -- the URL of a stack

    def _root(self) -> str:
        """Return the endpoint without the project at its end."""
        endpoint = self._adapter.endpoint_override or self._adapter.get_endpoint()
        if not endpoint:
            raise ksa.EndpointNotFound('no endpoint of orchestration')
        return str(endpoint).rstrip('/').rpartition('/')[0]

    def _own(self) -> str:
        """Return the URL of the stacks of the caller's project."""
        return f'{self._root()}/{self._adapter.get_project_id()}/stacks'

    def _find(self, name_or_id: str) -> tuple[str, Stack]:
        """Return the URL of a stack and the stack; raise CloudNotFound if it does not exist."""
        place = f'{self._own()}/{_quoted(name_or_id)}'
        answer = self._adapter.get(place, redirect=False)
        target = urllib.parse.urlsplit(answer.headers.get('Location', '')).path.split('/')
        if len(target) < 5 or target[-3] != 'stacks':
            raise ValueError('the response of Heat has no location of the stack')
        project_id, _, name, stack_id = target[-4:]
        url = f'{self._root()}/{project_id}/stacks/{name}/{stack_id}'
        stack = _stack(self._get(url, **_BRIEF)['stack'], project_id)
        if (stack.action, stack.status) == _DELETED:
            raise CloudNotFound(f'Heat has deleted stack {stack.id}')
        return url, stack

    # -- requests

    def _get(self, url: str, **query: Any) -> Any:
        return self._adapter.get(url, params=query).json()

    def _make(self, url: str, body: Mapping[str, Any]) -> Any:
        # After a time-out the outcome is unknown, so this is not sent twice.
        return self._adapter.post(url, json=body, connect_retries=0, status_code_retries=0).json()


def _quoted(text: str) -> str:
    if text in ('', '.', '..'):
        # In a path, these texts would lead to another resource.
        raise CloudNotFound(f'Heat has no object with the name {text!r}')
    return urllib.parse.quote(text, safe='')


def _draft(draft: StackDraft) -> dict[str, Any]:
    body: dict[str, Any] = {
        'stack_name': draft.name,
        'template': draft.template,
        'parameters': dict(draft.parameters),
        'files': dict(draft.files),
    }
    if draft.environment:
        body['environment'] = draft.environment
    if draft.tags:
        body['tags'] = ','.join(draft.tags)
    return body


def _planned(items: list[Any]) -> Iterator[PlannedResource]:
    """Walk over the response to a preview, in which a nested stack is a list."""
    for item in items:
        if isinstance(item, list):
            yield from _planned(item)
        else:
            yield PlannedResource(
                name=item['resource_name'],
                type=item['resource_type'],
                properties=dict(item['properties'] or {}),
                physical_id=item.get('physical_resource_id') or '',
            )


def _stack(item: Mapping[str, Any], project_id: str) -> Stack:
    action, _, status = item['stack_status'].partition('_')
    return Stack(
        id=item['id'],
        name=item['stack_name'],
        project_id=project_id,
        action=action,
        status=status,
        reason=item['stack_status_reason'] or '',
        tags=tuple(item['tags'] or ()),
    )


def _snapshot(item: Mapping[str, Any]) -> StackSnapshot:
    return StackSnapshot(
        id=item['id'],
        name=item['name'] or '',
        status=item['status'] or '',
        reason=item['status_reason'] or '',
    )
