# SPDX-License-Identifier: Apache-2.0

"""A real OpenStack with Climate on this machine, for tests.

``python -m tools.cloud`` installs, starts and stops it. Tests use
:mod:`tools.cloud.state`, which has the addresses and paths, and
:mod:`tools.cloud.processes`, which stops and starts single services.
"""
