# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
