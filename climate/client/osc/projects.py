# SPDX-License-Identifier: Apache-2.0

"""Of which project a command lists leases."""

from __future__ import annotations

import argparse
from typing import Any


def add_projects(parser: argparse.ArgumentParser) -> None:
    """Add the options that select projects."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        '--all-projects', action='store_true', help='Leases of every project (administrators)'
    )
    which.add_argument('--project', metavar='ID', help='Leases of this project (administrators)')


def wanted(app: Any, parsed: argparse.Namespace) -> str | None:
    """Return the id of the project whose leases are wanted; None for all.

    The API shows all leases to an administrator. Without a token there is no project, so that
    ``climate-standalone`` shows all leases, too.
    """
    if parsed.all_projects:
        return None
    if parsed.project:
        return str(parsed.project)
    project_id: str | None = app.client_manager.sdk_connection.current_project_id
    return project_id
