# SPDX-License-Identifier: Apache-2.0

"""``climate-manager --check``: asks a running manager for its health."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from typing import Any
from typing import Final

from oslo_config import cfg

from climate.api.middleware import health

# Longer than a check may take.
_TIMEOUT: Final = 15.0


def check(conf: cfg.ConfigOpts) -> int:
    """Ask the manager that runs with the same configuration; return the exit status.

    :returns: 0 if all checks pass, 1 if not, 2 if managers do not expose their health
    """
    options = conf.metrics
    if not options.enabled:
        sys.stderr.write('climate-manager: --check needs [metrics] enabled = true\n')
        return 2
    host = f'[{options.host}]' if ':' in options.host else options.host
    url = f'http://{host}:{options.manager_port}{health.PATH}?checks=all'
    # Proxies of the environment are not for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_TIMEOUT) as answer:
            answered = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return _complain(_reason(error))
    except (OSError, ValueError) as error:
        return _complain(f'no manager responds at {url}: {error}')
    sys.stdout.write(f'ok: {", ".join(sorted(answered["checks"]))}\n')
    return 0


def _reason(error: urllib.error.HTTPError) -> Any:
    """Return the message in the body of an error, or its status."""
    try:
        return json.loads(error.read())['error_message']
    except (OSError, ValueError, KeyError, TypeError):
        return f'HTTP {error.code}'


def _complain(text: Any) -> int:
    sys.stderr.write(f'climate-manager: {text}\n')
    return 1
