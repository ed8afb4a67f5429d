# SPDX-License-Identifier: Apache-2.0

"""The glossary of the user guide has every noun of the API, the tables and the domain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import yaml

from climate.db.schema import tables
from tests.architecture import ROOT
from tests.base import TestCase

PAGE = ROOT / 'doc' / 'source' / 'user' / 'concepts.rst'
API_REF = ROOT / 'api-ref' / 'source'
DOMAIN = ROOT / 'climate' / 'domain'

# Last words of a class: the form in which it has the noun before them.
FORMS = {
    'draft': 'the content of a request that creates one',
    'change': 'the content of a request that changes one',
    'query': 'the conditions of a list',
    'page': 'a part of a list',
    'payload': 'the data of an event of this kind',
    'kind': 'an enumeration of its kinds',
    'state': 'an enumeration of its states',
    'status': 'the same, under the name that the API gives it',
    'trigger': 'an enumeration of what changes its state',
}
# Nouns without a term, each with the reason why a reader needs none.
PLAIN_KEYS = {
    'ahead': 'the leases ahead; described as a parameter',
    'waits_for': 'shortages; described as a parameter',
    'alarms_before_end': 'seconds; described as a parameter',
    'alarms_before_start': 'seconds; described as a parameter',
    'apart_from': 'a condition of a placement; described as a parameter',
    'deliveries_links': 'addresses of pages',
    'delivery_ids': 'ids of deliveries',
    'event_types': 'types of notifications; described as a parameter',
    'feeds_links': 'addresses of pages',
    'filters_not_asked': 'described as a parameter',
    'leases_links': 'addresses of pages',
    'links': 'addresses of versions',
    'notify_before_start': 'seconds; described as a parameter',
    'prefer': 'preferences of a placement; described as a parameter',
    'ready': 'one half of the readiness',
    'reservation_schema': 'a JSON schema',
    'resource_schema': 'a JSON schema',
    'queue_links': 'addresses of pages',
    'resources_links': 'addresses of pages',
    'rows': 'the rows of a usage report; described as a parameter',
    'same': 'a condition of a placement; described as a parameter',
    'same_as': 'a condition of a placement; described as a parameter',
    'usage': 'a usage report; described as a parameter',
    'values': 'the values of a property',
    'waiting': 'the other half of the readiness',
    'webhooks_links': 'addresses of pages',
    'whole': 'whole resources',
    'capacities': 'totals of the rows of the calendar; described as a parameter',
    'held': 'places in a list of the calendar',
    'main': 'places in a list of the calendar',
    'may': 'decisions of the policy; described as a parameter',
    'me': 'the caller',
    'roles': 'roles of Keystone',
}
PLAIN_CLASSES = {
    'DeletedObject': 'a deletion, on its way into the history',
    'BudgetLimits': 'the options of budgets',
    'Characters': 'the rules for characters of a text',
    'Reach': 'the webhooks and feeds that a caller can use',
    'WindowChange': 'a part of a change of a lease',
    'YieldMode': 'the choices of the field yield',
    'RequestBudget': 'what is left of the processor time of a request',
    'BucketAmounts': 'the free and the total amounts of a group',
    'HealActive': 'the choices of the option [health] heal_active',
    'HostReport': 'a notification from Nova, on its way into the health check',
    'KeyedRequest': 'a request with an idempotency key',
    'KeyUsage': 'what the idempotency keys of a project use',
    'ListedEvent': 'an event, as lists show it',
    'ListedLease': 'a lease, as lists show it',
    'ListedReservation': 'a reservation, as lists show it',
    'MonitoredResource': 'a resource in the health check',
    'RequestOrigin': 'the ids of a request, on their way into logs and traces',
    'Outage': 'a missing resource, on its way into a notification',
    'OfferPreference': 'what a caller prefers among offers; described as a parameter',
    'PropertyChoices': 'the choices of a property',
    'TraitChoice': 'a choice',
    'PropertyValues': 'the values of a property, in an offer',
    'RefusedAmount': 'how much refusals of a day were about',
    'RefusedKey': 'what refusals are summed by',
    'RequestedLease': 'the request for a lease in the metadata of a server',
    'ReservedShare': 'a busy period before the ids in it are made opaque',
    'ServerReport': 'a notification from Nova, on its way to a lease at boot',
    'Room': 'the free capacity of a resource in a period, in the search for resources',
    'StoredAnswer': 'the answer to a request with an idempotency key, until that expires',
    'StoppedSubscription': 'a webhook or feed, on its way into a notification',
    'EvictedServer': 'a server that the start of a lease will delete',
    'QueuedReservation': 'a reservation of a lease that is ahead in the queue',
    'TransitionRefused': 'an exception',
    'TrustOwner': 'the user of a trust, in the check whether it is of use',
    'Unreadable': 'an exception',
    'UsageKey': 'what a usage report has rows for',
    'UsageQuery': 'a query for a usage report',
    'UsageRow': 'a row of a usage report',
    'Unset': 'the type of a marker for fields that are left out',
    'CalendarBar': 'an allocation, as the calendar shows it',
    'CalendarClosure': 'a maintenance, as the calendar shows it',
    'CalendarGroup': 'the resources with one value of a property',
    'CalendarLease': 'a lease, as the calendar shows it',
    'CalendarPageQuery': 'the query for a page of the calendar',
    'CalendarResource': 'a resource, as the calendar shows it',
}


def glossary(text: str) -> dict[str, str]:
    """Return the terms of a page with their definitions."""
    block = text.partition('.. glossary::')[2].partition(':sorted:')[2]
    found: dict[str, str] = {}
    for entry in re.split(r'\n\n(?=   \S)', block.strip('\n')):
        lines = entry.splitlines()
        terms = [line.strip() for line in lines if re.match(r'   \S', line)]
        definition = ' '.join(line.strip() for line in lines if line.startswith(' ' * 6))
        found |= dict.fromkeys(terms, definition)
    return found


def spelled(name: str) -> str:
    """Return a name as terms are compared: singular, in lower case, without spaces.

    :param name: ``property_keys``, ``PropertyKey`` or ``property key``
    """
    word = re.sub(r'[_ ]', '', name).lower()
    if word.endswith('ies'):
        return word.removesuffix('ies') + 'y'
    if word.endswith('sses'):
        return word.removesuffix('es')
    return word if word.endswith('ss') else word.removesuffix('s')


def stem(name: str) -> str:
    """Return the noun in the name of a class, without the form that it is in."""
    words = re.findall(r'[A-Z][a-z0-9]*', name)
    if len(words) > 1 and words[-1].lower() in FORMS:
        words.pop()
    return ''.join(words)


def missing(names: Iterable[str], plain: Iterable[str] = ()) -> list[str]:
    """Return the names that have no term and no reason to have none."""
    terms = {spelled(term) for term in glossary(PAGE.read_text(encoding='utf-8'))}
    return sorted(
        name for name in set(names) - set(plain) if not {spelled(name), spelled(stem(name))} & terms
    )


def api_keys() -> set[str]:
    """Return the keys of objects and lists in the bodies of the API."""
    parameters = yaml.safe_load((API_REF / 'parameters.yaml').read_text(encoding='utf-8'))
    pages = '\n'.join(page.read_text(encoding='utf-8') for page in API_REF.glob('*.rst'))
    return {
        key
        for key, name in re.findall(r'^   - (\w+): (\S+)$', pages, re.MULTILINE)
        if not key.isdigit()
        and parameters[name]['in'] == 'body'
        and parameters[name]['type'] in ('array', 'object')
    }


def domain_classes() -> set[str]:
    """Return the names of the public classes of the domain."""
    modules = (ast.parse(path.read_text(encoding='utf-8')) for path in DOMAIN.rglob('*.py'))
    return {
        node.name
        for module in modules
        for node in module.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith('_')
    }


class TestTerms(TestCase):
    """Each noun has a term."""

    def test_tables(self) -> None:
        self.assertEqual([], missing(tables.METADATA.tables))

    def test_api_keys(self) -> None:
        self.assertEqual([], missing(api_keys(), PLAIN_KEYS))

    def test_domain_classes(self) -> None:
        self.assertEqual([], missing(domain_classes(), PLAIN_CLASSES))

    def test_exceptions_are_needed(self) -> None:
        for names, plain in ((api_keys(), PLAIN_KEYS), (domain_classes(), PLAIN_CLASSES)):
            self.assertEqual(set(), set(plain) - names, 'these are gone')
            self.assertEqual(sorted(plain), missing(plain), 'these have a term')


class TestDefinitions(TestCase):
    """Each term has one sentence."""

    def test_each_is_one_sentence(self) -> None:
        for term, definition in glossary(PAGE.read_text(encoding='utf-8')).items():
            self.assertRegex(definition, r'^[A-Z][^.]*(\.\S[^.]*)*\.$', term)


class TestMatching(TestCase):
    """Names are compared with terms as people would."""

    def test_a_name_without_a_term(self) -> None:
        self.assertEqual(['Widget', 'widgets'], missing(['widgets', 'Widget', 'leases', 'Lease']))

    def test_spelling(self) -> None:
        for name in ('property_keys', 'PropertyKey', 'property key'):
            self.assertEqual('propertykey', spelled(name))
        for name, singular in (
            ('inventories', 'inventory'),
            ('classes', 'class'),
            ('leases', 'lease'),
            ('readiness', 'readiness'),
            ('outbox', 'outbox'),
            ('floatingips', spelled('floating IP')),
        ):
            self.assertEqual(singular, spelled(name))

    def test_forms(self) -> None:
        self.assertEqual('Lease', stem('LeaseDraft'))
        self.assertEqual('ResourceCalendar', stem('ResourceCalendar'))
        self.assertEqual('Page', stem('Page'))
        self.assertEqual(['WidgetDraft'], missing(['WidgetDraft', 'EventKind']))

    def test_terms_are_read(self) -> None:
        text = (
            'x\n\n.. glossary::\n   :sorted:\n\n'
            '   a\n   b c\n      One\n      two.\n\n'
            '   d\n      E.\n'
        )
        self.assertEqual({'a': 'One two.', 'b c': 'One two.', 'd': 'E.'}, glossary(text))
