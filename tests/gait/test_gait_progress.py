"""Searches of gaits, and the questions to one that is held, say how far they are."""

import strut
from strut import control, gait, walkers


def test_a_search_tells_its_counts():
    told = []
    gaits = gait.find_all(
        walkers.compass(slope=strut.deg(3)), starts=60, progress=lambda text, part: told.append((text, part))
    )
    newton = [part for text, part in told if text.startswith("Newton's method from") and part is not None]
    assert len(newton) > 3
    assert newton == sorted(newton)
    assert 0 <= newton[0] < newton[-1] < 1
    replayed = [text for text, _ in told if text.startswith("simulating what Newton's method found")]
    assert len(replayed) >= len(gaits)
    assert replayed[0].endswith(f"1 of {len(replayed)}")
    assert [each.period for each in gaits] == [
        each.period for each in gait.find_all(walkers.compass(slope=strut.deg(3)), starts=60)
    ]


def test_questions_to_a_held_gait_are_counted_and_kept():
    held = control.step_lqr(gait.find(walkers.compass(slope=strut.deg(3))), by=["hip_spring"])
    told = []
    rows = held.compare(lambda name, part: told.append((name, part)))
    assert [name for name, _ in told][:4] == ["step down", "step up", "rough ground", "pushes"]
    parts = [part for _, part in told]
    assert parts == sorted(parts)
    assert parts[0] == 0 < parts[-1] < 1
    assert held.comparison is rows  # not asked again
    wrong = [row.name for row in rows if row.name.startswith("largest error survived of")]
    assert [
        f"largest error survived of {name.removeprefix('wrong ')}, relative" for name, _ in told[4:]
    ] == wrong
