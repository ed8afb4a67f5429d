# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What a request that changes something is, in the words of CADF.

CADF is the format of DMTF DSP0262 that the services of OpenStack audit in; its
events are made with pycadf. Only what the API shows to the caller gets into an
event, so nothing that is secret does: no token, no user data, no template.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final

from pycadf import attachment
from pycadf import cadftaxonomy
from pycadf import eventfactory
from pycadf import host
from pycadf import reason
from pycadf import resource
from pycadf import tag

from climate.api.routes import Route

EVENT_TYPE: Final = 'audit.http.response'
"""As the audit filter of keystonemiddleware has it."""

CHANGES: Final = frozenset({'POST', 'PUT', 'PATCH', 'DELETE'})
SERVICE: Final = 'service/reservation'
_USER: Final = 'service/security/account/user'
_ACTIONS: Mapping[str, str] = {
    'POST': cadftaxonomy.ACTION_CREATE,
    'DELETE': cadftaxonomy.ACTION_DELETE,
}
_LONGEST = 500

# Hosts have numbers, and properties names.
warnings.filterwarnings('ignore', 'Invalid uuid', module=r'pycadf\.')


class _Initiator(resource.Resource):
    """Who asked, with the project; as keystonemiddleware has it."""

    def __init__(self, project_id: str, **facts: Any) -> None:
        super().__init__(**facts)
        self.project_id = project_id


def object_path(route: Route, path: str) -> str:
    """Return the path of the object that a request is about; '' if it makes one.

    :param path: of the request
    """
    if '{' not in route.path:
        return ''
    return path.rstrip('/').removesuffix(route.path.rpartition('}')[2])


def event(
    environ: Mapping[str, Any],
    route: Route,
    status: int,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    now: datetime.datetime,
) -> dict[str, Any]:
    """Return the event of a request that was answered.

    :param environ: of the request, with the identity of the caller
    :param status: of the answer
    :param before: the object as it was, as the caller is shown it
    :param after: as it is
    :param now: the instant (aware UTC)
    """
    path = str(environ.get('PATH_INFO') or '')[:_LONGEST]
    found = eventfactory.EventFactory().new_event(
        eventTime=now.isoformat(),
        action=_action(route),
        outcome=(
            cadftaxonomy.OUTCOME_SUCCESS
            if status < HTTPStatus.BAD_REQUEST
            else cadftaxonomy.OUTCOME_FAILURE
        ),
        reason=reason.Reason(reasonType='HTTP', reasonCode=str(status)),
        initiator=_initiator(environ),
        target=resource.Resource(
            id=_target(route, path, after) or 'unknown', typeURI=f'{SERVICE}/{route.controller}'
        ),
        observer=resource.Resource(id='observer', typeURI=SERVICE, name='climate'),
    )
    found.requestPath = path
    request_id = environ.get('openstack.request_id')
    if request_id:
        found.add_tag(tag.generate_name_value_tag('correlation_id', request_id))
    for name, content in (('before', before), ('after', after)):
        if content is not None:
            found.add_attachment(
                attachment.Attachment(typeURI='application/json', content=content, name=name)
            )
    return dict(found.as_dict())


def _action(route: Route) -> str:
    usual = str(_ACTIONS.get(route.method, cadftaxonomy.ACTION_UPDATE))
    if route.method == 'POST' and '{' in route.path:
        return f'{cadftaxonomy.ACTION_UPDATE}{route.path.rpartition("}")[2]}'
    return usual


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


def _target(route: Route, path: str, after: Mapping[str, Any] | None) -> str:
    """Return the id in the path, or that of what was made."""
    known = object_path(route, path)
    if known:
        return known.rpartition('/')[2]
    for made in (after or {}).values():
        if isinstance(made, Mapping):
            return str(made.get('id') or made.get('name') or '')
    return ''
