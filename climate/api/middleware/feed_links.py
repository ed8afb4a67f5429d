# SPDX-License-Identifier: Apache-2.0

"""``/feeds/{secret}.ics``: calendars, for readers that have a link but no token.

To write a calendar costs as much as some hundred other requests. So it counts as work of the
project of the link: links of one project keep no thread from those of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import webob

from climate import exceptions
from climate.api.http import conditions
from climate.api.http.microversions import MAX
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.limits import shares
from climate.api.limits.rates import Rates
from climate.api.limits.shares import CallerGroup
from climate.api.limits.shares import ThreadShares
from climate.domain.feeds import Feed
from climate.feeds.links import FeedLinks

SUFFIX: Final = '.ics'
PATH: Final = re.compile(r'(?:/v1)?/feeds/(?P<secret>[^/]+)\.ics', re.ASCII)
_METHODS: Final = ('GET', 'HEAD')
_GONE: Final = 'The calendar does not exist, or its link has expired'
_HEADERS: Final = {
    # Each reader asks again whether the calendar is still the same, and still exists.
    'Cache-Control': 'private, no-cache',
    # The link is a secret: it must not reach other servers or search engines.
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
    'X-Content-Type-Options': 'nosniff',
}


class FeedCalendars:
    """Answers requests for links to calendars, whose paths match :data:`PATH`.

    :param limits: None for no limits
    """

    def __init__(self, feeds: FeedLinks, limits: Rates | None, shares: ThreadShares) -> None:
        self._feeds = feeds
        self._limits = limits
        self._shares = shares

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request.

        :raises climate.exceptions.NotFound: if the link does not exist or has expired
        :raises climate.exceptions.TooManyRequests: if there are too many for it, or at once
        :raises climate.exceptions.MethodNotAllowed: if the method is not GET or HEAD
        """
        match = PATH.fullmatch(environ.get('PATH_INFO', ''))
        assert match is not None
        if environ['REQUEST_METHOD'] not in _METHODS:
            raise exceptions.MethodNotAllowed(allowed=_METHODS)
        answer: Iterable[bytes] = self._respond(match['secret'], environ)(environ, start_response)
        return answer

    def _respond(self, secret: str, environ: Environ) -> webob.Response:
        address = environ.get('REMOTE_ADDR') or ''
        # Whose link it is, if any, is not known yet.
        with shares.begin_for_address(self._shares, self._limits, address):
            feed = self._found(secret, address)
        with self._shares.begin(CallerGroup.PROJECT, feed.project_id):
            return self._shown(feed, environ)

    def _found(self, secret: str, address: str) -> Feed:
        feed = self._feeds.find(secret)
        if self._limits is not None:
            self._limits.feed(None if feed is None else feed.id, address)
        if feed is None:
            raise exceptions.NotFound(_GONE)
        return feed

    def _shown(self, feed: Feed, environ: Environ) -> webob.Response:
        calendar = self._feeds.read(feed)
        if calendar is None:
            raise exceptions.NotFound(_GONE)
        from climate.feeds import calendars  # noqa: PLC0415  loads icalendar

        etag = calendars.tag(calendar, self._feeds.settings)
        response = webob.Response(content_type=calendars.CONTENT_TYPE, charset='utf-8')
        response.headers.update(_HEADERS)
        response.headers['ETag'] = etag
        if conditions.read(environ, MAX).knows(etag):
            response.status = HTTPStatus.NOT_MODIFIED
            return response
        response.content_disposition = 'inline; filename="leases.ics"'
        response.body = calendars.write(calendar, self._feeds.settings)
        return response
