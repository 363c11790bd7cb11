"""Brings an index's tables to the version that this Proctor knows."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

_MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(connection: Connection) -> None:
    """Run the migrations that are missing.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: The database refuses.
        alembic.util.CommandError: It was migrated by a newer Proctor.
    """
    config = migrations()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def migrations() -> Config:
    """Where Alembic finds the migrations."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    return config
