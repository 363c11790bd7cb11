"""Tells the garbage collector what is not garbage."""

import gc


def settle() -> None:
    """Leave alone what is there now, such as the catalog of prices, and look less often.

    A call makes hundreds of short-lived objects and no cycles; looking through the catalog's
    objects for them would take longer than the call.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
