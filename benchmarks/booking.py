# SPDX-License-Identifier: Apache-2.0
"""Measures the duration of creates and lists."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

import webob

from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.figures import timed
from climate.cmd import composition
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.requests import LeaseQuery

_CALLER = Caller(user_id='u', project_id='project-1', all_projects=True)
_MINUTE = datetime.timedelta(minutes=1)


def creations(
    engine: str, core: composition.Core, size: str, count: int, aim: float
) -> Iterator[Figure]:
    """Measure sequential creates, through the core and through the API."""
    rng = random.Random(3)
    leases = composition.leases(core, wake=lambda: None)
    application = parts.api(core)

    def start() -> datetime.datetime:
        return core.clock.now() + rng.randrange(5, 20 * 24 * 60) * _MINUTE

    def book() -> None:
        begin = start()
        body = parts.lease_body('core', begin)
        leases.create(
            _CALLER,
            LeaseDraft(
                name='core',
                start=begin,
                end=begin + parts.HOUR,
                reservations=tuple(body['reservations']),
            ),
        )

    def post() -> None:
        request = webob.Request.blank('/v1/leases', method='POST')
        request.headers['X-Auth-Token'] = 'notused'
        request.json = parts.lease_body('api', start())
        answer = request.get_response(application)
        if answer.status_int != 201:
            raise RuntimeError(answer.text)

    for name, work in (('core', book), ('API', post)):
        times = timed(work, count)
        for share in (0.5, 0.99):
            yield Figure(
                engine=engine,
                what=f'{size}: create through the {name}, p{share * 100:g}',
                value=quantile(times, share),
                aim=aim if share == 0.5 else None,
            )


def lists(engine: str, core: composition.Core, size: str) -> Iterator[Figure]:
    """Measure lists of leases."""
    leases = composition.leases(core, wake=lambda: None)
    queries = {
        '100 of a project': LeaseQuery(project_id='project-7', limit=100),
        '100 of all': LeaseQuery(project_id=None, limit=100),
        '100 of a status': LeaseQuery(project_id=None, status='PENDING', limit=100),
        '1000 of all': LeaseQuery(project_id=None, limit=1000),
    }
    for name, query in queries.items():

        def read(query: LeaseQuery = query) -> None:
            leases.page(query)

        yield Figure(
            engine=engine,
            what=f'{size}: list of leases, {name}',
            value=quantile(timed(read, 11), 0.5),
        )


def rates(engine: str, url: str, clients: int, seconds: float) -> Iterator[Figure]:
    """Measure the throughput and the memory of several API processes."""
    children = [parts.Child('benchmarks.client', url) for _ in range(clients)]
    try:
        for child in children:
            child.answer()
        for child in children:
            child.send(seconds)
        answers = [child.answer() for child in children]
    finally:
        for child in children:
            child.close()
    times = [1000 * each for answer in answers for each in answer['times']]
    plural = 'es' if clients > 1 else ''
    what = f'1,000 hosts: {clients} API process{plural}'
    yield Figure(engine=engine, what=f'{what}, creates', value=len(times) / seconds, unit='/s')
    for share in (0.5, 0.99):
        yield Figure(
            engine=engine, what=f'{what}, create p{share * 100:g}', value=quantile(times, share)
        )
    yield Figure(
        engine=engine,
        what=f'{what}, memory of each',
        value=max(answer['megabytes'] for answer in answers),
        unit='MB',
        aim=150,
    )
