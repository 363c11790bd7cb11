"""Folders that are of no trial: bundles of tasks."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_OF_A_TRIAL: dict[str, sa.types.TypeEngine[Any]] = {
    "trial": sa.String(253),
    "trial_uid": sa.String(64),
    "attempt": sa.Integer(),
    "run": sa.String(63),
    "run_uid": sa.String(64),
    "task": sa.String(120),
    "variant": sa.String(63),
    "repeat": sa.Integer(),
}


def upgrade() -> None:
    """Let them be null."""
    _alter(nullable=True)


def downgrade() -> None:
    """Forget what is of no trial; the store keeps it."""
    op.execute("DELETE FROM folders WHERE trial_uid IS NULL")
    _alter(nullable=False)


def _alter(*, nullable: bool) -> None:
    connection = op.get_bind()
    # SQLite copies the table and drops the old one, and with its rows would go those of `parts`.
    held = connection.dialect.name == "sqlite"
    if held:
        op.execute("CREATE TEMPORARY TABLE held_parts AS SELECT * FROM parts")
    with op.batch_alter_table("folders") as table:
        for name, kind in _OF_A_TRIAL.items():
            table.alter_column(name, existing_type=kind, nullable=nullable)
    if held:
        op.execute("DELETE FROM parts")
        op.execute("INSERT INTO parts SELECT * FROM held_parts")
        op.execute("DROP TABLE held_parts")
