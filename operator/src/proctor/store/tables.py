"""The index's tables, as the last migration leaves them."""

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

folders = Table(
    "folders",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("namespace", String(63), nullable=False),
    Column("namespace_uid", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("stored_at", DateTime(timezone=True), nullable=True),
    Column("trial", String(253), nullable=True),
    Column("trial_uid", String(64), nullable=True),
    Column("attempt", Integer, nullable=True),
    Column("run", String(63), nullable=True),
    Column("run_uid", String(64), nullable=True),
    Column("task", String(120), nullable=True),
    Column("variant", String(63), nullable=True),
    Column("repeat", Integer, nullable=True),
    UniqueConstraint("namespace_uid", "kind", "digest"),
    Index("ix_folders_namespace_uid_run", "namespace_uid", "run"),
    Index("ix_folders_trial_uid_attempt", "trial_uid", "attempt"),
    Index("ix_folders_created_at", "created_at"),
)
"""One row a folder; ``stored_at`` is null until all its parts are there.

From ``trial`` on all is null when it is no record.
"""

parts = Table(
    "parts",
    metadata,
    Column("folder_id", ForeignKey("folders.id", ondelete="CASCADE"), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Index("ix_parts_sha256", "sha256"),
)
"""One row a part of a folder; its content is shared by all folders of the namespace."""
