# SPDX-License-Identifier: Apache-2.0

"""Keeps booked leases possible: health of hosts, moves off failed ones, maintenances."""
