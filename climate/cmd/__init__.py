# SPDX-License-Identifier: Apache-2.0

"""Commands, and the assembly of processes from their parts."""
