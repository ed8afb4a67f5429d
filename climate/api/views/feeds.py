# SPDX-License-Identifier: Apache-2.0

"""The fields of calendar feeds, in order."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import RESOURCE_ID
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import UUID
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_6
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.feeds import Feed
from climate.domain.feeds import FeedKind

_TIME: Final = ref('Time')
_KIND: Final = choice(FeedKind)

FEED: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='name', write=PLAIN, schema=TEXT),
    AnswerField(name='project_id', write=PLAIN, schema=TEXT),
    AnswerField(name='user_id', write=PLAIN, schema=TEXT),
    AnswerField(name='kind', write=PLAIN, schema=_KIND),
    AnswerField(name='lease_id', write=PLAIN, schema=or_null(UUID)),
    AnswerField(name='resource_id', write='text', schema=or_null(RESOURCE_ID)),
    AnswerField(name='time_zone', write=PLAIN, schema=TEXT),
    AnswerField(name='alarms_before_start', of='before_start', write='array', schema=listed(COUNT)),
    AnswerField(name='alarms_before_end', of='before_end', write='array', schema=listed(COUNT)),
    AnswerField(name='created_at', write='date', schema=_TIME),
    AnswerField(name='expires_at', write='date', schema=_TIME),
    AnswerField(name='stopped_reason', since=V1_6, write=PLAIN, schema=or_null(TEXT)),
)
"""The fields of a feed; the answer to its creation has ``url`` too."""


def feed(value: Feed, version: Microversion, url: str | None = None) -> dict[str, Any]:
    """Return a feed.

    :param url: the link, which only the response to its creation has
    """
    shown = fields.shown(FEED, version, value)
    return shown if url is None else {**shown, 'url': url}
