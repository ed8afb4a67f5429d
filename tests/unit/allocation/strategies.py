# SPDX-License-Identifier: Apache-2.0

"""Periods, allocations and requirements to test with."""

from __future__ import annotations

import datetime

from hypothesis import strategies as st

from climate.allocation import requirements
from climate.domain.leases import Allocation
from climate.domain.periods import Period

DAY = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)


def at(hour: int) -> datetime.datetime:
    """Return the instant *hour* hours into the day of the tests."""
    return DAY + datetime.timedelta(hours=hour)


def hours(start: int, end: int) -> Period:
    """Return the period between two hours."""
    return Period(start=at(start), end=at(end))


def taken(resource_id: int, period: Period, **facts: object) -> Allocation:
    """Return an allocation of a whole resource."""
    name = f'compute-{resource_id}'
    return Allocation(
        reservation_id='r', resource_id=resource_id, resource_name=name, period=period, **facts
    )


# Few hours and short periods, so that touching and overlapping is common.
periods = st.tuples(st.integers(0, 20), st.integers(1, 6)).map(
    lambda pair: hours(pair[0], pair[0] + pair[1])
)

KEYS = ('vcpus', 'gpu', 'architecture.platform_type')

# Numbers, texts that look like numbers, versions, and nothing at all.
texts = st.one_of(
    st.sampled_from(['', '16', '16.0', '128', '-1', '0', '-0', '1.10.2', '1e3', 'nan', ' 16', 'a']),
    st.text(alphabet='019.-aZ é☃', max_size=6),
)
values = st.dictionaries(
    st.sampled_from(KEYS), st.one_of(texts, st.integers(-200, 200), st.none()), max_size=3
)
comparisons = st.builds(
    requirements.Comparison,
    key=st.sampled_from(KEYS),
    op=st.sampled_from(requirements.Operator),
    value=texts,
)


TRAITS = st.sampled_from(('HW_CPU_X86_AVX2', 'CUSTOM_FAST', 'vcpus'.upper()))


def _combined(
    children: st.SearchStrategy[requirements.Requirement],
) -> st.SearchStrategy[requirements.Requirement]:
    parts = st.lists(children, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(requirements.All, parts=parts),
        st.builds(requirements.AnyOf, parts=parts),
        st.builds(requirements.Not, part=children),
    )


trees = st.recursive(
    comparisons | TRAITS.map(lambda name: requirements.Trait(name=name)), _combined, max_leaves=8
)
