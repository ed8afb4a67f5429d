# SPDX-License-Identifier: Apache-2.0

"""What the links of calendar feeds show, and to whom."""

from __future__ import annotations

import datetime
import logging
from typing import Any

import icalendar
import webob
from fixtures import FakeLogger

from climate import exceptions
from climate.api.limits.rates import Rates
from climate.api.limits.shares import CallerGroup
from climate.api.limits.shares import ShareSettings
from climate.api.limits.shares import ThreadShares
from climate.api.middleware.feed_links import FeedCalendars
from climate.domain.feeds import Feed
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from climate.upkeep.planning import Planner
from tests.base import TestCase
from tests.functional import bodies
from tests.functional import fixtures
from tests.functional import http
from tests.functional.db import plans

OTHER = 'bob:red:member'


class FeedsTest(TestCase):
    """A project with leases, and another one."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(
            fixtures.Service(limits=ProjectLimits(usual=Limits(feeds=2)))
        )

    def lease(
        self, name: str, token: str = http.MEMBER, hosts: int = 1, **facts: Any
    ) -> dict[str, Any]:
        body = bodies.lease(
            name, '2030-02-01T00:00:00Z', '2030-02-02T00:00:00Z', bodies.hosts(hosts)
        )
        body.update(facts)
        return self.send('POST', '/v1/leases', body, token).json['lease']

    def feed(self, token: str = http.MEMBER, **body: Any) -> str:
        return str(self.send('POST', '/v1/feeds', body, token).json['feed']['url'])

    def send(
        self, method: str, path: str, body: Any = None, token: str = http.MEMBER, status: int = 0
    ) -> webob.Response:
        answer = http.send(self.service.app, method, path, body, token=token, version='1.8')
        self.assertIn(answer.status_int, (status,) if status else (200, 201, 204), answer.text)
        return answer

    def open(self, url: str, **headers: str) -> webob.Response:
        request = webob.Request.blank(url)
        request.headers.update({key.replace('_', '-'): value for key, value in headers.items()})
        return request.get_response(self.service.app)

    def events(self, url: str) -> dict[str, icalendar.Event]:
        found = icalendar.Calendar.from_ical(http.expect(200, self.open(url)).body).walk('VEVENT')
        return {str(event['SUMMARY']): event for event in found}

    def test_a_project_sees_its_leases_and_no_others(self) -> None:
        self.lease('ours')
        self.lease('theirs', OTHER)
        (event,) = self.events(self.feed()).values()
        self.assertEqual('ours', event['SUMMARY'])
        self.assertEqual('2030-02-01T00:00:00+00:00', event['DTSTART'].dt.isoformat())

    def test_an_entry_says_what_one_has_and_how_to_use_it(self) -> None:
        lease = self.lease('ours', hosts=2)
        self.lease('theirs', OTHER)
        reservation = lease['reservations'][0]['id']
        text = str(self.events(self.feed())['ours']['DESCRIPTION'])
        self.assertRegex(text, rf'^2 hosts: compute-\d, compute-\d \(reservation {reservation}\)\n')
        self.assertIn(f'openstack server create --hint reservation={reservation} ', text)

    def test_a_change_keeps_the_id_and_raises_the_sequence(self) -> None:
        lease, url = self.lease('ours'), self.feed()
        before, tag = self.events(url)['ours'], self.open(url).headers['ETag']
        self.service.clock.advance(90)
        self.send('PUT', f'/v1/leases/{lease["id"]}', {'end_date': '2030-02-03T00:00:00Z'})
        answer = http.expect(200, self.open(url, If_None_Match=tag))
        after = self.events(url)['ours']
        self.assertEqual(before['UID'], after['UID'])
        self.assertLess(before['SEQUENCE'], after['SEQUENCE'])
        self.assertEqual('2030-02-03T00:00:00+00:00', after['DTEND'].dt.isoformat())
        self.assertEqual(304, self.open(url, If_None_Match=answer.headers['ETag']).status_int)

    def test_an_entry_is_tentative_until_its_lease_is_firm(self) -> None:
        window = {'start_date': None, 'end_date': None, 'earliest': '2030-02-01T00:00:00Z'}
        lease = self.lease('moving', duration='2h', **window)
        url = self.feed(lease_id=lease['id'])
        before, tag = self.events(url)['moving'], self.open(url).headers['ETag']
        firm_at = datetime.datetime.fromisoformat(lease['firm_at'])
        left = firm_at - self.service.clock.now()
        # Time alone changes nothing.
        self.service.clock.advance(left.total_seconds() - 1)
        self.assertEqual(304, self.open(url, If_None_Match=tag).status_int)
        self.service.clock.advance(1)
        answer = self.open(url, If_None_Match=tag)
        (after,) = self.events(url).values()
        self.assertEqual(['TENTATIVE', 'CONFIRMED'], [before['STATUS'], after['STATUS']])
        self.assertEqual(firm_at, after['LAST-MODIFIED'].dt)
        self.assertLess(before['SEQUENCE'], after['SEQUENCE'])
        self.service.clock.advance(60)
        self.assertEqual(304, self.open(url, If_None_Match=answer.headers['ETag']).status_int)

    def test_a_move_is_a_change_of_one_entry(self) -> None:
        blocker = self.lease('blocker', hosts=4)
        window = {'start_date': None, 'end_date': None, 'earliest': '2030-02-01T00:00:00Z'}
        lease = self.lease('moving', hosts=4, duration='2h', **window)
        # The manager that moves it comes much later than its owner.
        self.service.clock.advance(90)
        url = self.feed(lease_id=lease['id'])
        before, tag = self.events(url)['moving'], self.open(url).headers['ETag']
        self.assertEqual('2030-02-02T00:00:00+00:00', before['DTSTART'].dt.isoformat())
        self.send('DELETE', f'/v1/leases/{blocker["id"]}')
        self.service.clock.advance(30)
        self.assertEqual(1, Planner(self.service.services.leases).round())
        self.assertEqual(200, self.open(url, If_None_Match=tag).status_int)
        (after,) = self.events(url).values()
        self.assertEqual(before['UID'], after['UID'])
        self.assertEqual(120, after['SEQUENCE'] - before['SEQUENCE'])
        self.assertEqual(self.service.clock.now().replace(microsecond=0), after['LAST-MODIFIED'].dt)
        self.assertEqual('2030-02-01T00:00:00+00:00', after['DTSTART'].dt.isoformat())
        self.assertEqual('2030-02-01T02:00:00+00:00', after['DTEND'].dt.isoformat())
        self.assertEqual('TENTATIVE', after['STATUS'])

    def test_a_deleted_lease_is_cancelled(self) -> None:
        lease, url = self.lease('ours'), self.feed()
        self.send('DELETE', f'/v1/leases/{lease["id"]}')
        self.assertEqual('CANCELLED', self.events(url)['ours']['STATUS'])

    def test_what_is_held_for_an_offer_is_no_lease(self) -> None:
        body = {'reservations': http.LEASE['reservations'], 'duration': '1h', 'hold': '5m'}
        self.send('POST', '/v1/offers', body)
        self.assertEqual({}, self.events(self.feed()))

    def test_one_lease(self) -> None:
        self.lease('first')
        url = self.feed(lease_id=self.lease('second')['id'])
        self.assertEqual(['second'], list(self.events(url)))

    def test_the_lease_of_another_project(self) -> None:
        self.send('POST', '/v1/feeds', {'lease_id': self.lease('theirs', OTHER)['id']}, status=404)

    def test_a_resource_shows_others_without_their_names(self) -> None:
        self.lease('ours', http.ADMIN, hosts=3)
        theirs = self.lease('theirs', OTHER)['id']
        self.send('POST', '/v1/feeds', {'resource_id': 1}, status=403)
        shown = []
        for number in (1, 2, 3, 4):
            answer = self.send('POST', '/v1/feeds', {'resource_id': number}, http.ADMIN)
            url = answer.json['feed']['url']
            shown += self.events(url)
            self.assertNotIn('theirs', self.open(url).text)
            self.assertNotIn(theirs, self.open(url).text)
            self.send('DELETE', f'/v1/feeds/{answer.json["feed"]["id"]}', token=http.ADMIN)
        self.assertEqual(['Reserved', 'ours', 'ours', 'ours'], sorted(shown))

    def test_a_resource_shows_its_maintenances(self) -> None:
        body = {
            'resource_id': 1,
            'start_date': '2030-02-05T00:00:00Z',
            'end_date': '2030-02-06T00:00:00Z',
            'reason': 'a new fan',
        }
        self.send('POST', '/v1/maintenances', body, http.ADMIN)
        url = self.feed(http.ADMIN, resource_id=1)
        self.assertEqual(['Maintenance: a new fan'], list(self.events(url)))

    def test_a_link_expires(self) -> None:
        url = self.feed(lifetime='1h')
        self.service.clock.advance(3599)
        self.assertEqual(200, self.open(url).status_int)
        self.service.clock.advance(1)
        self.assertEqual(404, self.open(url).status_int)

    def test_a_project_has_so_many(self) -> None:
        for _ in range(2):
            self.feed(lifetime='1h')
        self.send('POST', '/v1/feeds', {}, status=400)
        self.feed(OTHER)
        self.service.clock.advance(3600)
        self.feed()

    def test_the_secret_is_neither_stored_nor_logged(self) -> None:
        log = self.useFixture(FakeLogger(level=logging.DEBUG))
        url = self.feed()
        self.open(url)
        secret = url.rpartition('/')[2].removesuffix('.ics')
        self.assertNotIn(secret, repr(self.service.rows()))
        self.assertIn('/feeds/***', log.output)
        self.assertNotIn(secret, log.output)

    def test_requests_for_one_link_are_limited(self) -> None:
        self.service.conf.set_override('rate', '2/minute', group='feeds')
        self.service.app = self.service.made()
        url, other = self.feed(), self.feed()
        self.assertEqual([200, 200, 429], [self.open(url).status_int for _ in range(3)])
        self.assertEqual(200, self.open(other).status_int)
        lost = url[:-8] + 'AAAA.ics'
        self.assertEqual([404, 404, 429], [self.open(lost).status_int for _ in range(3)])

    def test_what_is_refused_reads_no_calendar(self) -> None:
        self.service.conf.set_override('rate', '1/day', group='feeds')
        self.service.app = self.service.made()
        self.lease('ours')
        url = self.feed()
        with plans.captured(self.service.store.engine) as read:
            self.assertEqual(200, self.open(url).status_int)
        with plans.captured(self.service.store.engine) as refused:
            self.assertEqual(429, self.open(url).status_int)
        self.assertEqual(1, len(refused), refused)
        self.assertGreater(len(read), 1)

    def test_calendars_of_a_project_delay_no_other_project(self) -> None:
        ours, theirs = (webob.Request.blank(self.feed(token)) for token in (http.MEMBER, OTHER))
        shares = ThreadShares(ShareSettings(threads=8, project_share=0.25, wait=0.0))
        calendars = FeedCalendars(self.service.services.feeds, None, shares)
        with shares.begin(CallerGroup.PROJECT, 'blue'):
            self.assertEqual(200, ours.get_response(calendars).status_int)
            with shares.begin(CallerGroup.PROJECT, 'blue'):
                self.assertRaises(exceptions.TooManyAtOnce, ours.get_response, calendars)
                self.assertEqual(200, theirs.get_response(calendars).status_int)
        self.assertEqual(200, ours.get_response(calendars).status_int)

    def test_requests_from_other_addresses_keep_no_link_waiting(self) -> None:
        link = webob.Request.blank(self.feed(), remote_addr='192.0.2.1')
        shares = ThreadShares(ShareSettings(threads=8, project_share=0.25, wait=0.0))
        calendars = FeedCalendars(self.service.services.feeds, None, shares)
        for group, who in (('anonymous', ''), ('address', '192.0.2.2'), ('address', '192.0.2.3')):
            for _ in range(2):
                shares.begin(CallerGroup(group), who)
        self.assertEqual(200, link.get_response(calendars).status_int)
        with shares.begin(CallerGroup.ADDRESS, '192.0.2.1'):
            shares.begin(CallerGroup.ADDRESS, '192.0.2.1')
            self.assertRaises(exceptions.TooManyAtOnce, link.get_response, calendars)
        # Many users share this address.
        self.service.conf.set_override('exempt_addresses', ['192.0.2.1'], group='rate_limit')
        calendars = FeedCalendars(self.service.services.feeds, Rates(self.service.conf), shares)
        shares.begin(CallerGroup.ADDRESS, '192.0.2.1')
        self.assertEqual(200, link.get_response(calendars).status_int)

    def test_a_calendar_in_progress_counts_as_its_project(self) -> None:
        request = webob.Request.blank(self.feed())
        shares = ThreadShares(ShareSettings(threads=8, project_share=0.25, wait=0.0))
        feeds = self.service.services.feeds
        read = feeds.read

        def reading(feed: Feed) -> Any:
            with shares.begin(CallerGroup.ANONYMOUS), shares.begin(CallerGroup.ANONYMOUS):
                shares.begin(CallerGroup.PROJECT, 'blue')
                with self.assertRaises(exceptions.TooManyAtOnce):
                    shares.begin(CallerGroup.PROJECT, 'blue')
            return read(feed)

        self.patch(feeds, 'read', reading)
        http.expect(200, request.get_response(FeedCalendars(feeds, None, shares)))

    def test_a_network_of_ipv6_guesses_as_one(self) -> None:
        self.service.conf.set_override('rate', '2/day', group='feeds')
        self.service.app = self.service.made()

        def guess(address: str) -> int:
            request = webob.Request.blank('/feeds/' + 'A' * 43 + '.ics')
            request.environ['REMOTE_ADDR'] = address
            return int(request.get_response(self.service.app).status_int)

        self.assertEqual([404, 404, 429], [guess(f'2001:db8:0:1::{n}') for n in range(3)])
        self.assertEqual(404, guess('2001:db8:0:2::1'))
        self.assertEqual([404, 404, 429], [guess(each) for each in ('', 'unix:', '')])
