"""The index over SQLite and PostgreSQL: one suite, and tables that equal their migrations."""

from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from postgres import NoPostgresError, running_postgres, skip_unless_required
from proctor.api.stored import StoredFolder, StoredTrial
from proctor.store.folders import ConflictError, FolderKey, Part
from proctor.store.index import SqlIndex
from proctor.store.migrate import migrations
from proctor.store.objects import StoreError
from proctor.store.tables import metadata

NOW = datetime(2026, 1, 31, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def postgres():
    try:
        with running_postgres() as url:
            yield url
    except NoPostgresError as error:
        skip_unless_required(error)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'index.sqlite'}"
        return
    url = request.getfixturevalue("postgres")
    yield url
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


@pytest_asyncio.fixture
async def index(url):
    index = SqlIndex(url)
    await index.open()
    yield index
    await index.close()


def a_folder(digest="d" * 64, *, trial="trial-1", attempt=1, age=timedelta(0)):
    known = StoredTrial(
        name="r-abc", uid=trial, attempt=attempt, run="r", run_uid="u", task="t", variant="v",
        repeat=0,
    )  # fmt: skip
    return StoredFolder(
        kind="record",
        namespace="team",
        namespace_uid="team-uid",
        digest=digest,
        size_bytes=10,
        created_at=NOW - age,
        trial=known,
    )


def a_bundle(digest="b" * 64):
    return StoredFolder(
        kind="bundle",
        namespace="team",
        namespace_uid="team-uid",
        digest=digest,
        size_bytes=10,
        created_at=NOW,
    )


def parts(*names):
    return [Part(f"{name}.txt", name * 64, 5) for name in names]


async def stored(index, folder, *names):
    await index.begin(folder, parts(*names))
    await index.finish(FolderKey.of(folder), NOW)


async def test_a_folder_is_found_as_it_was_noted_and_is_whole_only_when_finished(index):
    folder = a_folder()
    key = FolderKey.of(folder)

    await index.begin(folder, parts("a", "b"))
    assert await index.find(key) == (folder, False)
    assert await index.stored("team-uid", "record") == ()

    await index.finish(key, NOW)
    assert await index.find(key) == (folder, True)
    assert await index.stored("team-uid", "record", "r") == (folder,)
    assert await index.parts(key) == tuple(parts("a", "b"))


async def test_a_bundle_is_of_no_trial_and_none_replaces_another(index):
    for digest in ("b" * 64, "c" * 64):
        await stored(index, a_bundle(digest), "a")
    assert await index.find(FolderKey.of(a_bundle())) == (a_bundle(), True)
    assert len(await index.stored("team-uid", "bundle")) == 2
    assert await index.stored("team-uid", "record") == ()


async def test_a_folder_that_is_asked_for_again_is_young_again(index):
    await stored(index, a_folder(age=timedelta(days=9)), "a")
    await index.renew(FolderKey.of(a_folder()), NOW)
    assert await index.oldest(10, NOW - timedelta(days=1)) == ()


async def test_tables_of_the_first_version_keep_all_folders_and_parts(index, url):
    folder = a_folder()
    await stored(index, folder, "a", "b")
    engine = create_engine(url)
    config = migrations()
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.execute(text("PRAGMA foreign_keys=ON"))
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    engine.dispose()

    again = SqlIndex(url)
    await again.open()
    assert await again.find(FolderKey.of(folder)) == (folder, True)
    assert await again.parts(FolderKey.of(folder)) == tuple(parts("a", "b"))
    await stored(again, a_bundle(), "c")
    await again.close()


async def test_beginning_again_changes_nothing(index):
    await stored(index, a_folder(), "a")
    await index.begin(a_folder(), parts("b"))
    assert await index.parts(FolderKey.of(a_folder())) == tuple(parts("a"))


async def test_an_attempt_has_one_record(index):
    await stored(index, a_folder("d" * 64), "a")
    with pytest.raises(ConflictError, match="has record d"):
        await index.begin(a_folder("e" * 64), parts("b"))


async def test_a_record_that_never_became_whole_gives_way(index):
    await index.begin(a_folder("d" * 64), parts("a"))
    await stored(index, a_folder("e" * 64), "b")
    assert await index.find(FolderKey.of(a_folder("d" * 64))) is None


async def test_namespaces_with_another_uid_share_nothing(index):
    await stored(index, a_folder(), "a")
    assert await index.stored("other-uid", "record") == ()
    assert await index.unknown("other-uid", ["a" * 64]) == {"a" * 64}


async def test_removing_names_the_parts_that_nobody_else_has(index):
    await stored(index, a_folder("d" * 64, trial="1"), "a", "b")
    await stored(index, a_folder("e" * 64, trial="2"), "b", "c")
    assert await index.remove(FolderKey.of(a_folder("d" * 64))) == {"a" * 64}
    assert await index.unknown("team-uid", ["a" * 64, "b" * 64]) == {"a" * 64}


async def test_the_oldest_come_first(index):
    for number, digest in enumerate("cab"):
        folder = a_folder(digest * 64, trial=digest, age=timedelta(days=number))
        await stored(index, folder, digest)
    found = [one.digest[0] for one in await index.oldest(10)]
    assert found == ["b", "a", "c"]
    before = NOW - timedelta(hours=36)
    assert [one.digest[0] for one in await index.oldest(10, before)] == ["b"]
    assert await index.total_bytes() == 30


async def test_what_never_became_whole_is_found_by_its_age(index):
    old = a_folder("a" * 64, trial="1", age=timedelta(days=2))
    await index.begin(old, parts("a"))
    await index.begin(a_folder("b" * 64, trial="2"), parts("b"))
    assert await index.unfinished(NOW - timedelta(days=1)) == (old,)


async def test_opening_again_keeps_everything(index, url):
    await stored(index, a_folder(), "a")
    again = SqlIndex(url)
    await again.open()
    assert await again.stored("team-uid", "record") == (a_folder(),)
    await again.close()


async def test_the_migrations_make_exactly_the_tables(index, url):
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


async def test_tables_of_a_newer_version_are_refused(index, url):
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="9999"):
        await SqlIndex(url).open()


async def test_a_database_that_lost_its_tables_closes_the_index_until_it_is_opened_again(
    index, url
):
    engine = create_engine(url)
    with engine.begin() as connection:
        for table in ("parts", "folders", "alembic_version"):
            connection.execute(text(f"DROP TABLE {table}"))
    engine.dispose()

    with pytest.raises(StoreError):
        await index.stored("team-uid", "record")
    assert not index.is_open

    await index.open()
    assert await index.stored("team-uid", "record") == ()


async def test_a_database_that_is_not_there_says_so_without_its_password(tmp_path):
    index = SqlIndex(f"postgresql+psycopg://proctor:hunter2@/x?host={tmp_path}")
    with pytest.raises(StoreError) as caught:
        await index.open()
    assert "hunter2" not in str(caught.value)
    await index.close()
