# SPDX-License-Identifier: Apache-2.0

"""Assembles managers, and what operators use of them.

A module of its own, so that processes of the API do not load what only managers need.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from oslo_config import cfg

from climate.clock import Clock
from climate.clock import SteadyClock
from climate.clock import SystemClock
from climate.cloud.base import Cloud
from climate.cmd import auditing
from climate.cmd import composition
from climate.cmd.composition import Core
from climate.domain.booting import ServerReport
from climate.domain.health import HostReport
from climate.domain.requests import Caller
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.clocks import Clocks
from climate.manager.periodic.health import ReportListener
from climate.manager.periodic.repair import Repair
from climate.manager.running.deletions import DeletionRecorder
from climate.manager.service import Manager
from climate.manager.service import ManagerOptions
from climate.manager.service import unique_owner
from climate.messaging import publisher as publishers
from climate.policies.enforcer import allows
from climate.policies.enforcer import make_enforcer
from climate.upkeep.owners import May
from climate.webhooks.sending import EventSender


def manager_clock(conf: cfg.ConfigOpts) -> Clock:
    """Return the clock of a manager, which follows that of a database server."""
    if (conf.database.connection or '').startswith('sqlite'):
        # It has no clock to follow.
        return SystemClock()
    return SteadyClock(SystemClock())


def event_sender(parts: Core) -> EventSender:
    """Return what sends the events of webhooks."""
    return EventSender(composition.poster(parts), parts.clock, parts.conf.webhooks.source)


@contextlib.contextmanager
def repair(parts: Core) -> Iterator[Repair]:
    """Yield a repair that an operator runs; its claims are renewed until the end."""
    seconds = parts.conf.manager.claim_seconds
    clocks = Clocks(parts.store, parts.clock, seconds)
    claims = ClaimKeeper(parts.store, parts.clock, unique_owner(), seconds, clocks)
    claims.start()
    try:
        opened, audit = (
            composition.cloud(parts),
            auditing.deletion_recorder(parts.conf, parts.clock),
        )
        record = DeletionRecorder(parts.store, audit)
        yield Repair(
            parts.store, parts.plugins, opened, parts.clock, parts.settings, claims, record
        )
    finally:
        claims.stop()


def manager(
    parts: Core,
    cloud: Cloud,
    publisher: publishers.Publisher,
    owner: str | None = None,
    listener: ReportListener[HostReport] | None = None,
    server_listener: ReportListener[ServerReport] | None = None,
    audit: auditing.DeletionAudit | None = None,
) -> Manager:
    """Return a manager, not yet started.

    :param listener: receives the notifications of Nova about hosts; None for none
    :param server_listener: receives those about servers; None for none
    :param audit: records audit events of deletions; None if the audit trail is off
    """
    return Manager(
        store=parts.store,
        plugins=parts.plugins,
        cloud=cloud,
        clock=parts.clock,
        settings=parts.settings,
        options=ManagerOptions.from_conf(parts.conf),
        publisher=publisher,
        listener=listener,
        server_listener=server_listener,
        owner=owner,
        filters=parts.filters,
        may=policy(parts.conf),
        events=event_sender(parts),
        audit=audit,
    )


def policy(conf: cfg.ConfigOpts) -> May | None:
    """Return a check of the policy, for users without a token; None without authentication."""
    if conf.auth_strategy == 'noauth':
        return None
    enforcer = make_enforcer(conf)

    def may(caller: Caller, rule: str) -> bool:
        return allows(
            enforcer, rule, user_id=caller.user_id, project_id=caller.project_id, roles=caller.roles
        )

    return may
