# SPDX-License-Identifier: Apache-2.0

"""The audit trail: an event for each request that can change something.

Events have the format CADF (DMTF DSP0262), which OpenStack uses for audits, and are
built with pycadf. An event contains only what the API shows to the caller, and
therefore no secrets: no token, user data or template.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import json
import logging
import warnings
from collections.abc import Callable
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final
from urllib.parse import urlsplit

import webob
from pecan import hooks
from pycadf import attachment
from pycadf import cadftaxonomy
from pycadf import eventfactory
from pycadf import host
from pycadf import reason
from pycadf import resource
from pycadf import tag

from climate.api.errors import REPLAYED
from climate.api.http import environ_keys
from climate.api.routing.routes import Route
from climate.clock import Clock

LOG = logging.getLogger(__name__)

EVENT_TYPE: Final = 'audit.http.response'
"""The event type that the audit filter of keystonemiddleware sends, too."""

CHANGES: Final = frozenset({'POST', 'PUT', 'PATCH', 'DELETE'})
SERVICE: Final = 'service/reservation'
PARAMETERS: Final = 'climate.parameters'
RECORDED: Final = 'climate.audited'
"""Set if the hook sends the event of a request."""
_CHANGE: Final = 'climate.audit'
_USER: Final = 'service/security/account/user'
_ACTIONS: Mapping[str, str] = {
    'POST': cadftaxonomy.ACTION_CREATE,
    'DELETE': cadftaxonomy.ACTION_DELETE,
}
_LONGEST = 500

# pycadf warns about ids that are not UUIDs; ids of projects and users need not be.
warnings.filterwarnings('ignore', 'Invalid uuid', module=r'pycadf\.')

Object = Mapping[str, Any]


class _Initiator(resource.Resource):
    """The caller with its project, in the format of keystonemiddleware."""

    def __init__(self, project_id: str, **facts: Any) -> None:
        super().__init__(**facts)
        self.project_id = project_id


@dataclasses.dataclass(kw_only=True, slots=True)
class Change:
    """A request that can change something.

    :ivar noun: the kind of the object, in the plural
    :ivar verb: last segment of the path if it names an action, such as
        ``/reallocate``; otherwise ''
    :ivar path: path of the object; '' if the request creates one
    :ivar before: the object before the change, as the caller sees it; None if the
        caller sees none
    :ivar after: likewise, after the change
    :ivar made: id or name of the object that the request has created; '' if there is none
    :ivar action: the CADF action, if it does not follow from the others
    :ivar evaluates: whether the request asks for the outcome of a change, and changes
        nothing
    """

    method: str
    noun: str
    verb: str
    path: str
    before: Object | None = None
    after: Object | None = None
    made: str = ''
    evaluates: bool = False
    action: str = ''


class Audit(hooks.PecanHook):
    """Sends an event for each request to a route of a change, even if it fails.

    The object is read with the rights of the caller, before and after the change, so
    an event shows nothing that the caller may not see. The response itself is never part
    of an event, because some have a secret that is shown only once.

    :param send: sends an event; must not block
    """

    # Before the route checks, so that refused requests are recorded, too.
    priority = 20

    def __init__(self, send: Callable[[dict[str, Any]], None], clock: Clock) -> None:
        self._send = send
        self._clock = clock

    def before(self, state: Any) -> None:
        """Read the object before the change."""
        method = state.request.method
        route: Route = state.controller
        if method not in CHANGES or method not in state.request.methods:
            return
        environ = state.request.environ
        path = ''
        if route.is_of_object:
            path = environ.get('PATH_INFO', '').rstrip('/').removesuffix(route.verb)
        change = Change(
            method=method, noun=route.noun, verb=route.verb, path=path, evaluates=route.evaluates
        )
        change.before = _fetch(state.app, environ, change)
        environ[_CHANGE] = change
        environ[RECORDED] = True

    def after(self, state: Any) -> None:
        """Read the object after the change, and send the event."""
        environ = state.request.environ
        change = environ.pop(_CHANGE, None)
        if change is None:
            return
        try:
            status = state.response.status_int
            change.evaluates = environ.pop(environ_keys.EVALUATES, change.evaluates)
            changed = status < HTTPStatus.BAD_REQUEST and not change.evaluates
            if changed and change.method != 'DELETE':
                _look_after(state, change)
            self._send(event(environ, change, status, self._clock.now()))
        except Exception:
            # The change has been made; an error here must not hide that.
            LOG.exception('The audit trail is missing a change: its event could not be sent')


def _look_after(state: Any, change: Change) -> None:
    """Read the object after the change, which the request may have created."""
    environ = state.request.environ
    path = change.path
    if not path:
        change.made = _made(_json(state.response))
        if not change.made:
            return
        path = f'{environ.get("PATH_INFO", "").rstrip("/")}/{change.made}'
    change.after = _fetch(state.app, environ, dataclasses.replace(change, path=path))


def _fetch(app: Any, environ: Mapping[str, Any], change: Change) -> Object | None:
    """Return the object as the caller sees it; None if the caller sees none."""
    if not change.path:
        return None
    try:
        if change.noun == 'properties':
            return _property(app, environ, change.path)
        return _get(app, environ, change.path, {})
    except Exception as error:
        # Whatever is wrong, the request itself fails for that reason.
        LOG.info('%s cannot be read for the audit trail: %s', change.path, type(error).__name__)
        return None


def _property(app: Any, environ: Mapping[str, Any], path: str) -> Object | None:
    """Return a property, which the API shows only in lists."""
    folder, _, name = path.partition('/properties/')
    given = environ[PARAMETERS]
    asked = {'detail': ('true',), 'all': ('true',)}
    if 'type' in given:
        asked['type'] = given['type']
    answer = _get(app, environ, f'{folder}/properties', asked) or {}
    for item in answer.get('resource_properties', ()):
        if item['property'] == name:
            return {'resource_property': {key: item[key] for key in ('property', 'private')}}
    return None


def _get(
    app: Any, environ: Mapping[str, Any], path: str, parameters: Mapping[str, tuple[str, ...]]
) -> Object | None:
    asked = {
        **environ,
        'REQUEST_METHOD': 'GET',
        'PATH_INFO': path,
        'CONTENT_LENGTH': '0',
        'wsgi.input': io.BytesIO(),
        PARAMETERS: parameters,
    }
    # Attributes that webob keeps for the request that makes the change, and what that
    # request says about its own response.
    for name in (
        'webob.adhoc_attrs',
        'HTTP_IF_MATCH',
        'HTTP_IF_NONE_MATCH',
        'HTTP_ACCEPT_ENCODING',
    ):
        asked.pop(name, None)
    response = webob.Request(asked).get_response(app)
    return _hidden(_json(response)) if response.status_int == HTTPStatus.OK else None


def _hidden(content: Object | None) -> Object | None:
    """Return an object without the path of the URL of a webhook, which is often a secret."""
    hook = (content or {}).get('webhook')
    if not isinstance(hook, Mapping) or content is None:
        return content
    url = urlsplit(str(hook.get('url', '')))
    shown = f'{url.scheme}://{url.netloc.rpartition("@")[2]}/***'
    return {**content, 'webhook': {**hook, 'url': shown}}


def _json(response: webob.Response) -> Object | None:
    """Return the object in a body; None if it has none."""
    try:
        content = json.loads(response.body or b'null')
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def event(
    environ: Mapping[str, Any], change: Change, status: int, now: datetime.datetime
) -> dict[str, Any]:
    """Return the event of a request.

    :param environ: WSGI environment of the request, with the identity of the caller
    :param status: HTTP status of the response
    :param now: the current time (aware UTC)
    """
    path = str(environ.get('PATH_INFO') or '')[:_LONGEST]
    record = eventfactory.EventFactory().new_event(
        eventTime=now.isoformat(),
        action=_action(change),
        outcome=(
            cadftaxonomy.OUTCOME_SUCCESS
            if status < HTTPStatus.BAD_REQUEST
            else cadftaxonomy.OUTCOME_FAILURE
        ),
        reason=reason.Reason(reasonType='HTTP', reasonCode=str(status)),
        initiator=_initiator(environ),
        target=resource.Resource(
            id=_target(change)[:_LONGEST] or 'unknown', typeURI=f'{SERVICE}/{change.noun}'
        ),
        observer=resource.Resource(id='observer', typeURI=SERVICE, name='climate'),
    )
    record.requestPath = path
    request_id = environ.get('openstack.request_id')
    if request_id:
        record.add_tag(tag.generate_name_value_tag('correlation_id', request_id))
    if environ.get(REPLAYED, False):
        record.add_tag(tag.generate_name_value_tag('idempotency_replayed', 'true'))
    for name, content in (('before', change.before), ('after', change.after)):
        if content is not None:
            record.add_attachment(
                attachment.Attachment(typeURI='application/json', content=content, name=name)
            )
    return dict(record.as_dict())


def _action(change: Change) -> str:
    if change.action:
        return change.action
    if change.evaluates:
        return str(cadftaxonomy.ACTION_EVALUATE)
    if change.method == 'POST' and change.path:
        return f'{cadftaxonomy.ACTION_UPDATE}{change.verb}'
    return str(_ACTIONS.get(change.method, cadftaxonomy.ACTION_UPDATE))


def _initiator(environ: Mapping[str, Any]) -> _Initiator:
    return _Initiator(
        id=environ.get('HTTP_X_USER_ID') or 'unknown',
        name=environ.get('HTTP_X_USER_NAME') or None,
        typeURI=_USER,
        project_id=environ.get('HTTP_X_PROJECT_ID') or 'unknown',
        host=host.Host(
            address=environ.get('REMOTE_ADDR') or 'unknown',
            agent=str(environ.get('HTTP_USER_AGENT') or 'unknown')[:_LONGEST],
        ),
    )


def _target(change: Change) -> str:
    """Return the id in the path, or the id or name of the created object; '' if unknown."""
    if change.path:
        return change.path.rpartition('/')[2]
    return change.made


def _made(answered: Object | None) -> str:
    """Return the id or name of the object in a response; '' if there is none."""
    for made in (answered or {}).values():
        if isinstance(made, list) and made:
            # Of several offers, the first is the one that may be held.
            made = made[0]
        if isinstance(made, Mapping):
            return str(made.get('id') or made.get('name') or '')
    return ''
