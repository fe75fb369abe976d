"""What is used stays, what is not gives way, what is put again is replaced."""

from console.widgets.recent import Recent


def test_the_value_not_used_for_longest_gives_way() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]


def test_a_value_put_again_replaces_the_old_one_and_is_the_newest() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.put("a", 9)
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [9, None, 3]
    recent.clear()
    assert recent.get("a") is None
