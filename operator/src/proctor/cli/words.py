"""Figures as people read them; what is unknown is "–", never 0 (pure)."""

from decimal import Decimal

from proctor.api.ratio import cut

REPLAY = "Replay"
UNKNOWN = "–"
_SMALLEST_SHOWN = Decimal("0.0001")


def money(
    cost_usd: Decimal | None,
    scripted_usd: Decimal | None = None,
    *,
    complete: bool = True,
    models: str = "Scripted",
) -> str:
    """US dollars: ``$0.0123``, ``≥ $0.0123`` for a floor, ``$0.0123 scripted`` when not spent.

    ``models`` is who answered; of a cassette's answers the last word is ``replayed``.
    """
    if scripted_usd is not None:
        scripted = f"{_dollars(scripted_usd)} {'replayed' if models == REPLAY else 'scripted'}"
        return f"{money(cost_usd, complete=complete)} + {scripted}" if cost_usd else scripted
    if cost_usd is None:
        return UNKNOWN
    return _dollars(cost_usd) if complete else f"≥ {_dollars(cost_usd)}"


def _dollars(amount: Decimal) -> str:
    if 0 < amount < _SMALLEST_SHOWN:
        return f"<${_SMALLEST_SHOWN}"
    return f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"


def ratio(value: Decimal | None) -> str:
    """A score in [0, 1] with three digits, the rest cut off: it never looks like a pass."""
    return UNKNOWN if value is None else f"{cut(value, 3)}"


def duration(seconds: Decimal | None) -> str:
    """Wall time: ``1.2s``, ``2m05s``, ``1h02m``."""
    if seconds is None:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def count(number: int) -> str:
    """A count, with thousands set off."""
    return f"{number:,}"


def trial_name(task: str, variant: str, repeat: int | None = None) -> str:
    """A trial in one word; ``repeat`` None: there is only one."""
    name = f"{task} · {variant}"
    return name if repeat is None else f"{name} · {repeat}"
