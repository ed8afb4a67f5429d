# SPDX-License-Identifier: Apache-2.0
"""A requirement means the same in SQL as in the pure core, on every engine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from climate.allocation import requirements
from climate.allocation.matches import Match
from climate.db.transactions.store import Transaction
from climate.domain.resources import Resource
from tests import services
from tests.functional.db import cases

KEYS = ('vcpus', 'Gpu', 'gpu', 'é')

# Case, trailing blanks, what is beyond ASCII, numbers, what looks like numbers.
TEXTS = st.one_of(
    st.sampled_from(
        ['', ' ', 'a', 'A', 'a ', ' a', 'ä', 'ae', 'Z', 'z', 'é', 'e\u0301', '☃', '🌞', '\uffff']
    ),
    st.sampled_from(['16', '16.0', '128', '-1', '0', '-0', '1.10.2', '1e3', 'nan', ' 16', '016']),
    st.text(alphabet='019.-aAZ éß☃🌞%_\\\'"', max_size=6),
)
VALUES = st.dictionaries(st.sampled_from(KEYS), TEXTS, max_size=3)
COMPARISONS = st.builds(
    requirements.Comparison,
    key=st.sampled_from(KEYS),
    op=st.sampled_from(requirements.Operator),
    value=TEXTS,
)
TRAITS = st.sampled_from(['HW_CPU_X86_AVX2', 'CUSTOM_FAST', 'A'])
TREES = st.recursive(
    COMPARISONS | TRAITS.map(lambda name: requirements.Trait(name=name)),
    lambda parts: st.one_of(
        st.builds(requirements.All, parts=st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(requirements.AnyOf, parts=st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(requirements.Not, part=parts),
    ),
    max_leaves=6,
)

HOSTS = st.lists(st.tuples(VALUES, st.frozensets(TRAITS)), min_size=1, max_size=6)
WANTED = st.lists(TREES, min_size=1, max_size=8)


@services.on_each_engine(cases.StoreCase)
class Requirements:
    """What is asked of SQL and of the core."""

    def test_sql_agrees_with_the_core(self) -> None:
        # Made for each engine: hypothesis wants one function to be one test.
        settings(max_examples=40)(given(HOSTS, WANTED)(self._agrees))()

    def _agrees(
        self,
        hosts: list[tuple[dict[str, str], frozenset[str]]],
        wanted: list[requirements.Requirement],
    ) -> None:
        def compare(tx: Transaction) -> None:
            ids = [
                tx.resources.insert(cases.host(number, capabilities=values, traits=traits))
                for number, (values, traits) in enumerate(hosts)
            ]
            for requirement in wanted:
                expected = {
                    id_
                    for id_, (values, traits) in zip(ids, hosts, strict=True)
                    if requirements.matches(requirement, values, traits)
                }
                shown = requirements.dumps(requirement)
                match = Match(resource_type=cases.TYPE, requirement=requirement)
                self.assertEqual(expected, tx.search.matching(match, ids), shown)
                found = tx.search.among(ids, match, cases.hours(1, 2))
                self.assertEqual(sorted(expected), [item.resource_id for item in found], shown)

        self.store.run(compare, undone=True)

    def matching(self, text: str, *, private: bool = False) -> int:
        """Return how many hosts fulfil a requirement."""
        with self.store.reading() as tx:
            match = Match(
                resource_type=cases.TYPE, requirement=requirements.parse(text), private=private
            )
            ids = [item.id for item in tx.resources.of_type(cases.TYPE)]
            return len(tx.search.matching(match, ids))

    def test_what_the_cloud_says_counts_like_what_operators_say(self) -> None:
        facts = {'capabilities': {'rack': 'r1'}, 'traits': frozenset({'HW_CPU_X86_VMX'})}
        facts['attributes'] = {'vcpus': 16, 'hypervisor_type': 'QEMU', 'nothing': None}
        host = Resource(resource_type=cases.TYPE, name='compute-1', **facts)
        self.store.run(lambda tx: tx.resources.insert(host))
        self.assertEqual(1, self.matching('[">=", "$vcpus", "9"]'))
        self.assertEqual(0, self.matching('[">=", "$vcpus", "128"]'))
        self.assertEqual(1, self.matching('["==", "$hypervisor_type", "QEMU"]'))
        self.assertEqual(0, self.matching('["==", "$hypervisor_type", "qemu"]'))
        self.assertEqual(0, self.matching('["!=", "$nothing", "x"]'))
        self.assertEqual(1, self.matching('["not", ["==", "$nothing", "x"]]'))
        # A trait is no property: it has no value to compare with.
        self.assertEqual(0, self.matching('["==", "$HW_CPU_X86_VMX", ""]'))
        self.assertEqual(1, self.matching('["trait", "HW_CPU_X86_VMX"]'))
        self.assertEqual(0, self.matching('["not", ["trait", "HW_CPU_X86_VMX"]]'))
        self.assertEqual(0, self.matching('["trait", "HW_CPU_X86_AVX2"]'))

    def test_a_private_property_is_as_good_as_missing(self) -> None:
        self.add_hosts(2, capabilities={'rack': 'r1', 'owner': 'x'})
        self.store.run(lambda tx: tx.properties.set_private(cases.TYPE, 'owner', True))
        for text in ('["==", "$owner", "x"]', '["!=", "$owner", "y"]'):
            self.assertEqual((0, 2), (self.matching(text), self.matching(text, private=True)))
        hidden = '["not", ["==", "$owner", "x"]]'
        self.assertEqual((2, 0), (self.matching(hidden), self.matching(hidden, private=True)))
        self.assertEqual(2, self.matching('["==", "$rack", "r1"]'))
