"""A real PostgreSQL server of our own: a throw-away folder, a free port on loopback, nothing durable."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rig.ports import held_port

REQUIRED = "PILOTAGE_REQUIRE_REAL"


def missing(reason: str) -> None:
    """Skips the test, or fails it where real components are required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def binaries() -> Path:
    """The folder of initdb and pg_ctl."""
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True
    )
    found = shutil.which("initdb")
    places += [Path(found).resolve().parent] if found else []
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    missing("PostgreSQL is not installed: no initdb in /usr/lib/postgresql/*/bin nor on the PATH")
    raise AssertionError


class Server:
    """One server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bin = binaries()
        self.port = held_port()
        self._databases = 0
        self._free: list[str] = []
        self._as(
            "initdb",
            "-D",
            "data",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        (folder / "data" / "pg_hba.conf").write_text(
            "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
            "local all all trust\n"
        )

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
            " -c fsync=off -c max_connections=40"
        )
        self._as("pg_ctl", "-D", "data", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._as("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres") -> None:
        self._as(
            "psql",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            "postgres",
            "-d",
            database,
            "-qc",
            statement,
        )

    def database(self) -> str:
        """The address of a new, empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.url(name)

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The address of an empty database, which the next test gets emptied: a new one takes a second."""
        import psycopg

        url = self._free.pop() if self._free else self.database()
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            # What a test has left open must not hold up the next one.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA IF EXISTS pilotage CASCADE")
        self._free.append(url)

    def _as(self, program: str, *args: str) -> None:
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        errors = self._folder / "errors"
        # Files, not pipes: the server inherits them, and a pipe would make us wait for its end.
        with errors.open("wb") as stderr:
            done = subprocess.run(
                [*as_user, str(self._bin / program), *args],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                check=False,
                timeout=120,
            )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {errors.read_text()}")


@contextmanager
def server() -> Iterator[Server]:
    """A running server, removed at the end."""
    binaries()
    # Not pytest's folder: the user postgres must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="pilotage-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        made = Server(folder)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
