# SPDX-License-Identifier: Apache-2.0

"""What is asked for: checks requests, and completes them with defaults.

Start with ``requests``. Imports no other room.
"""
