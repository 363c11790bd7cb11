"""Folders and their parts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "folders",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("namespace", sa.String(63), nullable=False),
        sa.Column("namespace_uid", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("trial", sa.String(253), nullable=False),
        sa.Column("trial_uid", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("run", sa.String(63), nullable=False),
        sa.Column("run_uid", sa.String(64), nullable=False),
        sa.Column("task", sa.String(120), nullable=False),
        sa.Column("variant", sa.String(63), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_folders"),
        sa.UniqueConstraint(
            "namespace_uid", "kind", "digest", name="uq_folders_namespace_uid_kind_digest"
        ),
    )
    op.create_index("ix_folders_namespace_uid_run", "folders", ["namespace_uid", "run"])
    op.create_index("ix_folders_trial_uid_attempt", "folders", ["trial_uid", "attempt"])
    op.create_index("ix_folders_created_at", "folders", ["created_at"])
    op.create_table(
        "parts",
        sa.Column(
            "folder_id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            sa.ForeignKey("folders.id", ondelete="CASCADE", name="fk_parts_folder_id"),
            nullable=False,
        ),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("folder_id", "path", name="pk_parts"),
    )
    op.create_index("ix_parts_sha256", "parts", ["sha256"])


def downgrade() -> None:
    """Remove both tables; the store can fill them again."""
    op.drop_table("parts")
    op.drop_table("folders")
