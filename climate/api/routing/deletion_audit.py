# SPDX-License-Identifier: Apache-2.0

"""The audit events (CADF) of deletions that managers request."""

from __future__ import annotations

import warnings
from typing import Any
from typing import Final

from pycadf import attachment
from pycadf import cadftaxonomy
from pycadf import eventfactory
from pycadf import resource

from climate.domain.copies import picked
from climate.domain.history import DeletedObject

EVENT_TYPE: Final = 'audit.deletion'

# pycadf warns about ids that are not UUIDs; ids of objects need not be.
warnings.filterwarnings('ignore', 'Invalid uuid', module=r'pycadf\.')


def event(deleted: DeletedObject) -> dict[str, Any]:
    """Return the audit event (CADF) of a deletion that is about to be requested."""
    service = resource.Resource(id='climate', typeURI='service/reservation', name='climate')
    made = eventfactory.EventFactory().new_event(
        eventTime=deleted.at.isoformat(),
        action=cadftaxonomy.ACTION_DELETE,
        outcome=cadftaxonomy.OUTCOME_PENDING,
        initiator=service,
        target=resource.Resource(
            id=deleted.object_id, typeURI=f'data/{deleted.object_type}', name=deleted.name or None
        ),
        observer=resource.Resource(id='observer', typeURI='service/reservation', name='climate'),
    )
    content = picked(deleted, 'project_id', 'host', 'lease_id', 'reservation_id', 'reason')
    made.add_attachment(
        attachment.Attachment(typeURI='application/json', content=content, name='deletion')
    )
    return dict(made.as_dict())
