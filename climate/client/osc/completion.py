# SPDX-License-Identifier: Apache-2.0

"""``openstack lease completion``."""

from __future__ import annotations

import argparse
import importlib.resources

from osc_lib.command import command


class PrintCompletion(command.Command):
    """Print the completion of names for bash, which asks the service.

    Load it after that of the commands: source <(openstack complete), then
    source <(openstack lease completion).
    """

    # The script is the same for every cloud.
    auth_required = False

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print the script."""
        script = importlib.resources.files(__package__) / 'completion.bash'
        self.app.stdout.write(script.read_text(encoding='utf-8'))
