# SPDX-License-Identifier: Apache-2.0

"""Climate: reservation of cloud resources in time."""
