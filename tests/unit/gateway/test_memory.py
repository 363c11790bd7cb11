import gc

from proctor.gateway.memory import settle


def test_what_is_there_at_the_start_is_not_looked_at_again() -> None:
    before = gc.get_threshold()
    try:
        settle()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
