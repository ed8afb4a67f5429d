# SPDX-License-Identifier: Apache-2.0

"""Builds the oslo.policy enforcer."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from collections.abc import Sequence

from oslo_config import cfg
from oslo_policy import policy

from climate import policies


class PublishingEnforcer(policy.Enforcer):
    """An enforcer for many threads, whose policy file may change.

    oslo.policy replaces all rules by those of the file, and adds the defaults afterwards. A
    request that another thread handles in between finds no rule, and is refused. Here, an
    enforcer of its own loads the rules, and all of them are published at once.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__(conf)
        self._loader = policy.Enforcer(conf)
        self._loading = threading.Lock()
        self._published: policy.Rules | None = None

    def register_defaults(self, defaults: Sequence[policy.RuleDefault]) -> None:
        """Register rules that the policy file need not have."""
        super().register_defaults(defaults)
        self._loader.register_defaults(defaults)

    def load_rules(self, force_reload: bool = False) -> None:
        """Load the policy file if it has changed."""
        with self._loading:
            self._loader.load_rules(force_reload)
            loaded = self._loader.rules
            if loaded is not self._published:
                self._published = loaded
                self.rules = policy.Rules(dict(loaded), loaded.default_rule)
                self.file_rules = self._loader.file_rules


def make_enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    """Return an enforcer with all rules, and the policy file of *conf*.

    :raises oslo_policy.policy.InvalidDefinitionError: if the policy file names
        rules that do not exist or refer to each other in a circle
    """
    enforcer = PublishingEnforcer(conf)
    enforcer.register_defaults(policies.list_rules())
    enforcer.load_rules()
    return enforcer


def allows(
    enforcer: policy.Enforcer, rule: str, *, user_id: str, project_id: str, roles: Iterable[str]
) -> bool:
    """Return whether *rule* allows a user to act in one of their projects.

    Works without a request, and therefore without a token.

    :param roles: names of the roles of the user in the project
    """
    credentials = {
        'user_id': user_id,
        'project_id': project_id,
        'roles': sorted(roles),
        'domain_id': None,
        'system_scope': None,
    }
    return bool(enforcer.authorize(rule, {'project_id': project_id}, credentials))


def get_enforcer() -> policy.Enforcer:
    """Return an enforcer for the oslopolicy command line tools."""
    # The tools pass no configuration, so this reads the files that every
    # command of Climate reads.
    conf = cfg.ConfigOpts()
    conf([], project='climate')
    return make_enforcer(conf)
