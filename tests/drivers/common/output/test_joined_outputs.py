"""The outputs of programs that shade consecutive lanes, as those of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.drivers.common.program import FragmentOutputs, Outputs


def outputs(first: Any, second: Any) -> Outputs:
    return {4: [np.asarray(first, np.float32), None, np.asarray(second, np.float32)]}


def test_each_lane_keeps_its_outputs() -> None:
    one = FragmentOutputs(outputs(1, [5, 6]), None, {})
    two = FragmentOutputs(outputs([2, 3, 4], 7), np.array([True, False, True]), {})
    found = FragmentOutputs.joined([(2, one), (3, two)])
    first, none, second = found.outputs[4]
    assert none is None and first is not None and second is not None
    assert (first.tolist(), second.tolist()) == ([1, 1, 2, 3, 4], [5, 6, 7, 7, 7])
    assert found.alive is not None and found.alive.tolist() == [True, True, True, False, True]
    assert found.dual == {}
    assert FragmentOutputs.joined([(2, one)]) is one
    assert FragmentOutputs.joined([(2, one), (2, one)]).alive is None
