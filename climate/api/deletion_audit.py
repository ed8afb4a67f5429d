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


"""The audit events (CADF) of deletions that managers request."""

from __future__ import annotations

import warnings
from typing import Any
from typing import Final

from pycadf import attachment
from pycadf import cadftaxonomy
from pycadf import eventfactory
from pycadf import resource

from climate.domain.history import DeletedObject

EVENT_TYPE: Final = 'audit.deletion'

# pycadf warns about ids that are not UUIDs; ids of objects need not be.
warnings.filterwarnings('ignore', 'Invalid uuid', module=r'pycadf\.')


def event(found: DeletedObject) -> dict[str, Any]:
    """Return the audit event (CADF) of a deletion that is about to be requested."""
    service = resource.Resource(id='climate', typeURI='service/reservation', name='climate')
    made = eventfactory.EventFactory().new_event(
        eventTime=found.at.isoformat(),
        action=cadftaxonomy.ACTION_DELETE,
        outcome=cadftaxonomy.OUTCOME_PENDING,
        initiator=service,
        target=resource.Resource(
            id=found.object_id,
            typeURI=f'data/{found.object_type}',
            name=found.name or None,
        ),
        observer=resource.Resource(id='observer', typeURI='service/reservation', name='climate'),
    )
    content = {
        'project_id': found.project_id,
        'host': found.host,
        'lease_id': found.lease_id,
        'reservation_id': found.reservation_id,
        'reason': found.reason,
    }
    made.add_attachment(
        attachment.Attachment(typeURI='application/json', content=content, name='deletion')
    )
    return dict(made.as_dict())
