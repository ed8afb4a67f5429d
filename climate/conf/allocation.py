# SPDX-License-Identifier: Apache-2.0

"""Options of the search for free resources."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'allocation'

OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'cleaning_time',
        default=0,
        min=0,
        help='Pause between two leases of the same resource, in seconds, to clean it up. Every '
        'search respects it, including those that prolong a lease.',
    ),
    cfg.IntOpt(
        'sample_size',
        default=128,
        min=1,
        max=10000,
        help='Number of free resources, beyond those needed, among which a search chooses. They '
        'start at a random place in the list. A larger number packs the calendar more densely; a '
        'smaller number is faster in very large clouds.',
    ),
    cfg.IntOpt(
        'timeline_horizon',
        default=400,
        min=1,
        max=36500,
        help='How far ahead each process keeps bookings in memory, in days, about 40 MB for each '
        'million allocations. Searches, availability and offers use them; what lies beyond is '
        'read from the database when it is needed. A smaller number takes less memory.',
    ),
    cfg.IntOpt(
        'booking_attempts',
        default=20,
        min=1,
        max=1000,
        help='Number of times that resources are chosen again because another process booked the '
        'chosen ones first.',
    ),
    cfg.FloatOpt(
        'request_processor_seconds',
        default=1.0,
        min=0.01,
        help='Longest processor time of one request that searches for resources, in seconds: a '
        'create, a change, a rehearsal, offers, alternatives or availability. A request that '
        'needs more gets what was found until then, such as fewer offers, or is refused with 400 '
        'REQUIREMENTS_TOO_SLOW.',
    ),
    cfg.FloatOpt(
        'request_transaction_seconds',
        default=10.0,
        min=0.1,
        help='Longest time that such a request spends in transactions while it searches, in '
        'seconds, including the time in which it waits for the database. Afterwards it ends as if '
        'its processor time were spent.',
    ),
    cfg.IntOpt(
        'request_conditions',
        default=500,
        min=1,
        max=100000,
        help='Largest number of comparisons and traits in the requirements of all reservations '
        'of a request together. One requirement has at most 100. A request with more is refused '
        'with 400 REQUIREMENTS_TOO_SLOW before anything is searched for.',
    ),
    cfg.IntOpt(
        'offer_lifetime',
        default=600,
        min=1,
        max=86400,
        help='How long an offer can be taken, in seconds. An offer never outlives its start.',
    ),
    cfg.IntOpt(
        'max_hold',
        default=600,
        min=0,
        max=86400,
        help='Longest time for which the resources of an offer can be held, in seconds. Others '
        'cannot book them in that time. 0 disables holds.',
    ),
]
