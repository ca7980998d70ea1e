"""The PostgreSQL store when the server is not as it should be."""

from __future__ import annotations

import pytest

from pilotage.core.errors import ConfigError, Refused, StoreCorrupt, StoreReadOnly, Unreachable
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters
from rig import postgres
from rig.stores import document, new, vocabulary

pytestmark = pytest.mark.real


def opened(url, **options):
    return open_store(url, vocabulary=vocabulary, **({"create": True} | options))


def test_what_the_server_refuses_is_refused(postgres_server):
    with pytest.raises(Refused):
        opened(postgres_server.url("nowhere"))
    postgres_server.sql("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    address = postgres_server.url("postgres", user="guarded:wrong-secret")
    with pytest.raises(Refused) as caught:
        opened(address)
    assert "wrong-secret" not in caught.value.message + caught.value.hint
    # A store is made by its first transaction.
    address = postgres_server.url("postgres", user="guarded:right")
    with opened(address) as store, pytest.raises(Refused), store.transaction():
        pass


def test_a_schema_that_may_not_be_entered_is_refused_by_name(postgres_server):
    with postgres_server.lent() as address:
        with opened(address) as store, store.transaction() as writer:
            writer.put(new(document(1)))
        postgres_server.sql("CREATE ROLE outsider LOGIN")
        with pytest.raises(Refused, match="may not enter the schema 'pilotage'"):
            opened(address.replace("postgres@", "outsider@"), create=False)


def test_a_table_that_is_gone_is_damage(postgres_server):
    with postgres_server.lent() as address, opened(address) as store:
        with store.transaction() as writer:
            writer.put(new(document(1)))
        postgres_server.sql("DROP TABLE pilotage.tally", database=address.rpartition("/")[2])
        (said,) = store.verify()
        assert "a table of the store is missing" in said
        with pytest.raises(StoreCorrupt):
            store.facets(Filters(), "public")


def test_the_address_is_shown_without_its_password(postgres_server):
    address = postgres_server.database().replace("postgres@", "postgres:secret@") + "?connect_timeout=5"
    with opened(address) as store:
        assert "secret" not in store.url
        assert store.url.startswith("postgresql://postgres@127.0.0.1:")
    with pytest.raises(ConfigError) as caught:
        opened("postgresql://me:secret@127.0.0.1/x?nonsense=1")
    assert "secret" not in caught.value.message + str(caught.value.__cause__)


def test_nobody_listening_is_unreachable():
    with pytest.raises(Unreachable) as caught:
        opened("postgresql://postgres@127.0.0.1:1/postgres")
    assert "\n" not in caught.value.message


def test_a_database_that_takes_no_writes_is_read_only(postgres_server):
    address = postgres_server.database()
    with opened(address) as store, store.transaction() as writer:
        writer.put(new(document(1)))
    postgres_server.sql(f"ALTER DATABASE {address.rpartition('/')[2]} SET default_transaction_read_only = on")
    with opened(address, create=False) as store:
        assert store.count(Filters(), "public") == 1
        with pytest.raises(StoreReadOnly), store.transaction() as writer:
            writer.put(new(document(2)))


def lose_the_server(server, writer):
    writer.put(new(document(3)))
    server.stop()
    writer.put(new(document(4)))


def test_a_server_that_comes_back_is_used_again():
    with postgres.server() as server:
        address = server.database()
        with opened(address) as store:
            with store.transaction() as writer:
                writer.put(new(document(1)))
            server.stop()
            with pytest.raises(Unreachable):
                store.count(Filters(), "public")
            with pytest.raises(Unreachable), store.transaction():
                pass
            server.start()
            assert store.count(Filters(), "public") == 1
            with store.transaction() as writer:
                writer.put(new(document(2)))
            server.stop()
            server.start()
            # An idle connection of before the restart does not harm the next call.
            assert store.count(Filters(), "public") == 2
            with pytest.raises(Unreachable), store.transaction() as writer:
                lose_the_server(server, writer)
            server.start()
            assert store.ids("all") == ["T-00001", "T-00002"]
            assert store.verify() == []
