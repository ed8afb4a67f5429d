# SPDX-License-Identifier: Apache-2.0

"""Values, life cycles and the order of events: pure, standard library only."""
