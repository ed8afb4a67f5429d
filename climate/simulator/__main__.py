# SPDX-License-Identifier: Apache-2.0

"""Runs the command line of the simulated cloud."""

import sys

from climate.simulator.cli import main

if __name__ == '__main__':
    sys.exit(main())
