# SPDX-License-Identifier: Apache-2.0

"""``virtual:floatingip``: floating IPs."""
