"""What a reader makes of files as people have them."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import sys
import tarfile
from pathlib import Path

import pytest

from pilotage.checks.readers import contents
from pilotage.checks.readers.charts import HelmChoices
from pilotage.checks.readers.files import Reach, read_paths, read_text
from pilotage.checks.readers.reading import Reading, Trouble
from pilotage.core.errors import NotFound

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n"


def keys(reading: Reading) -> list[str]:
    return [one.key for one in reading.objects]


def test_documents_are_divided_as_kubectl_does() -> None:
    text = f"# first\n---\n{POD.format('a')}--- # second\n\n---\n{POD.format('b')}data: |\n  --- x\n---\n"
    assert keys(read_text(text)) == ["Pod a", "Pod b"]


def test_tabs_and_marks_at_the_beginning_of_a_later_document() -> None:
    text = f"{POD.format('a')}---\t\n{POD.format('b')}---\n\ufeff{POD.format('c')}"
    reading = read_text(text, "x.yaml")
    assert keys(reading) == ["Pod a", "Pod b", "Pod c"]
    assert [one.place(("metadata", "name")).line for one in reading.objects] == [4, 9, 14]


def test_a_block_that_goes_to_the_end_of_the_file_ends_with_a_line_end() -> None:
    (one,) = read_text(f"{POD.format('a')}spec:\n  x: |\n    y").objects
    assert one.spec == {"x": "y\n"}


def test_numbers_that_json_does_not_know_are_no_numbers() -> None:
    reading = read_text(
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": 1e400}}'
    )
    assert reading.objects[0].spec == {"x": "1e400"}


def test_lines_are_counted_over_documents() -> None:
    reading = read_text(f"# head\n---\n{POD.format('a')}---\n\n{POD.format('b')}", "x.yaml")
    assert [str(one.place(("metadata", "name"))) for one in reading.objects] == ["x.yaml:6:3", "x.yaml:12:3"]
    assert [one.place().line for one in reading.objects] == [3, 9]


def test_a_broken_document_harms_no_other() -> None:
    text = f"{POD.format('a')}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: x\n---\n{POD.format('b')}"
    reading = read_text(text, "x.yaml")
    assert keys(reading) == ["Pod a", "Pod b"]
    (problem,) = reading.problems
    assert problem.trouble == Trouble.BROKEN
    assert problem.grave
    assert 6 <= problem.place.line <= 9


def test_byte_order_mark_carriage_returns_and_tabs(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbf" + POD.format("a").replace("\n", "\t\r\n").encode())
    assert keys(read_paths([str(tmp_path)])) == ["Pod a"]


def test_a_tab_that_indents_is_called_that() -> None:
    (problem,) = read_text("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", "x.yaml").problems
    assert str(problem.place) == "x.yaml:4:1"
    assert problem.message == "kubectl would not read it: a tab stands here, and only spaces may indent"


def test_bytes_that_are_no_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(f"{POD.format('a')}---\n{POD.format('b')}  # ".encode() + b"caf\xe9\n")
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod a"]
    assert reading.problems[0].message == "not UTF-8"
    assert reading.problems[0].place.line == 10


def test_lists_are_taken_apart_with_places() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n"
        "- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata:\n      name: b\n      namespace: apps\n"
    )
    reading = read_text(text, "x.yaml")
    assert keys(reading) == ["Pod a", "Pod apps/b"]
    assert [one.place(("metadata", "name")).line for one in reading.objects] == [7, 12]
    assert reading.objects[1].api_version == "v1"


def test_json_with_tabs_and_several_values(tmp_path: Path) -> None:
    text = '{\n\t"apiVersion": "v1",\n\t"kind": "Pod",\n\t"metadata": {"name": "a"}\n}\n'
    (tmp_path / "a.json").write_text(text * 2)
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod a", "Pod a"]
    assert [one.place(("kind",)).line for one in reading.objects] == [3, 8]


def test_half_an_object_in_one_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"')
    (tmp_path / "b.yaml").write_text(POD.format("b"))
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod b"]
    (problem,) = reading.problems
    assert (problem.trouble, problem.grave) == (Trouble.BROKEN, True)


@pytest.mark.parametrize("end", ['"kind": "List', '"kind": "List"', '"kind":', '"kind"', '"kind": "List",'])
def test_json_that_is_cut_off_is_told_as_that(end: str) -> None:
    # Whatever YAML would make of it, and although it holds what looks like a template.
    text = '{"apiVersion": "v1",\n "items": [{"a": "{{ x }} \\ud83d\\ude00"}],\n ' + end
    (problem,) = read_text(text, "a.json").problems
    assert problem.message == "the JSON ends in the middle of a value"
    assert (problem.place.line, problem.grave) == (3, True)


@pytest.mark.parametrize("kind", ["List", "PodList"])
def test_a_list_of_nothing_is_no_object(kind: str) -> None:
    for items in ("[]", "null"):
        text = f'{{"apiVersion": "v1", "kind": "{kind}", "metadata": {{"name": "a"}}, "items": {items}}}'
        assert read_text(text, "a.json").objects == []
    assert read_text("apiVersion: v1\nkind: PodList\nmetadata: {}\nitems:\n", "a.yaml").objects == []
    assert keys(read_text("apiVersion: a.b/v1\nkind: AllowList\nmetadata: {name: a}\n", "a.yaml"))


def test_yaml_in_braces_is_not_json() -> None:
    assert keys(read_text("{apiVersion: v1, kind: Pod, metadata: {name: a}}")) == ["Pod a"]


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n{{- if .Values.x }}\n  name: x\n{{- end }}\n",
        'apiVersion: v1\nkind: Pod\nmetadata:\n  name: "{{ name }}"\n',
        "kind: ${ROLE_KIND}\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: a}\n",
        "kind: '@KIND@'\napiVersion: v1\nmetadata: {name: a}\n",
    ],
)
def test_templates_are_said_to_be_such(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(f"{POD.format('b')}---\n{text}")
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod b"]
    (problem,) = reading.problems
    assert problem.trouble == Trouble.TEMPLATE
    assert not problem.grave


def test_braces_in_values_are_no_template() -> None:
    rule = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rules}\ndata:\n  summary: 'on {{ $labels.node }}'\n"
    assert keys(read_text(rule)) == ["ConfigMap rules"]


def test_other_yaml_is_counted_not_complained_about(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 3\n---\nkind: {broken\n")
    (tmp_path / "pod.yaml").write_text(POD.format("a"))
    reading = read_paths([str(tmp_path)])
    assert not reading.problems
    assert reading.skipped == {"not Kubernetes": 2}


def test_a_folder_in_which_nothing_was_parsed_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    reading = read_paths([str(tmp_path)])
    (problem,) = reading.problems
    assert problem.grave
    assert "nothing in it could be checked" in problem.message


def test_a_file_that_was_named_and_holds_nothing_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    assert read_paths([str(tmp_path / "values.yaml")]).problems[0].grave


def test_globs_hidden_folders_and_no_file_twice(tmp_path: Path) -> None:
    for name in ("a.yaml", "deep/b.yml", ".git/c.yaml", "node_modules/d.yaml", "e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(POD.format(path.stem))
    paths = [str(tmp_path / "*.yaml"), str(tmp_path), str(tmp_path / "a.yaml")]
    assert keys(read_paths(paths)) == ["Pod a", "Pod b"]


def test_circles_of_links_end_and_dead_links_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD.format("a"))
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "dead.yaml").symlink_to(tmp_path / "nowhere")
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod a"]
    assert [problem.trouble for problem in reading.problems] == [Trouble.UNREADABLE]
    assert reading.problems[0].message == "cannot be read: it is a link that leads nowhere"


@pytest.mark.parametrize("name", ["round.yaml", "n" * 300, "dead.yaml"])
def test_a_path_that_cannot_be_looked_at_is_told_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.yaml").write_text(POD.format("a"))
    (tmp_path / "round.yaml").symlink_to("round.yaml")
    (tmp_path / "dead.yaml").symlink_to("nowhere")
    reading = read_paths([str(tmp_path / "a.yaml"), str(tmp_path / name)])
    assert keys(reading) == ["Pod a"]
    assert [(one.place.file, one.message.partition(":")[0]) for one in reading.problems] == [
        (str(tmp_path / name), "cannot be read")
    ]


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD.format("a"))
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "link.yaml").symlink_to("pipe.yaml")
    reading = read_paths([str(tmp_path)])
    assert (keys(reading), reading.problems) == (["Pod a"], [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD.format("a"))
    (tmp_path / "a.yaml").chmod(0)
    assert "cannot be read" in read_paths([str(tmp_path)]).problems[0].message


def test_what_does_not_exist_is_an_error() -> None:
    for name in ("no-such-folder", "no-such-*.yaml"):
        with pytest.raises(NotFound):
            read_paths([name])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POD.format("a").encode())))
    reading = read_paths(["-"])
    assert [one.place().file for one in reading.objects] == ["-"]


def test_patches_of_kustomize_are_no_objects(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        "patches:\n- path: patch.yaml\n- oldest.yaml\npatchesStrategicMerge: [old.yaml, 'a: |\n  b']\n"
    )
    (tmp_path / "patches").mkdir()
    for name in ("patch", "old", "oldest", "real", "dispatch", "patches/unused", "web-patch"):
        (tmp_path / f"{name}.yaml").write_text(POD.format(name.rpartition("/")[2]))
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod dispatch", "Pod real"]
    assert reading.skipped["Kustomize patch"] == 5


def test_test_data_is_passed_over_unless_it_is_named(tmp_path: Path) -> None:
    for name in ("testdata", "app"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pod.yaml").write_text(POD.format(name))
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod app"]
    assert reading.skipped["folders of test data"] == 1
    assert keys(read_paths([str(tmp_path / "testdata")])) == ["Pod testdata"]


def test_a_folder_called_test_may_be_an_environment(tmp_path: Path) -> None:
    for name in (
        "overlays/test",
        "src/test",
        "hack/test",
        "hack/e2e",
        "tests",
        "go/test",
        "js/test",
        "e2e-tests",
        "hack/perf",
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "pod.yaml").write_text(POD.format(name.replace("/", "-")))
    (tmp_path / "go" / "test" / "web_test.go").touch()
    (tmp_path / "js" / "test" / "integration").mkdir()
    (tmp_path / "tests" / "conftest.py").touch()
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod overlays-test"]
    assert reading.skipped["folders of test data"] == 8


def test_what_a_kustomization_changes_is_a_piece_where_it_was_not_rendered(tmp_path: Path) -> None:
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    for name, text in (("base", "resources: [pod.yaml]\n"), ("prod", "resources: [../base, own.yaml]\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kustomization.yaml").write_text(head + text)
    (tmp_path / "base" / "pod.yaml").write_text(POD.format("a"))
    (tmp_path / "prod" / "own.yaml").write_text(POD.format("b"))
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod a", "Pod b"]
    assert {one for one in reading.unbuilt.files if one.endswith(".yaml")} == {
        str(tmp_path / "base" / "pod.yaml")
    }


def test_many_documents_take_time_in_proportion() -> None:
    reading = read_text("---\n".join(POD.format(f"p{n}") for n in range(5000)))
    assert len(reading.objects) == 5000
    assert reading.objects[-1].place().line == 5 * 4999 + 1


@pytest.mark.parametrize(("number", "told"), [(1, "1 place that looks"), (2, "2 places that look")])
def test_templates_are_counted_in_words(tmp_path: Path, number: int, told: str) -> None:
    (tmp_path / "a.yaml").write_text("---\n".join([POD.format("'{{ .Values.name }}'")] * number))
    last = read_paths([str(tmp_path)]).problems[-1]
    assert last.message.endswith(f"none with a Kubernetes object, {told} like unrendered templates")


def test_what_has_no_end_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = read_paths(["/dev/zero"]).problems
    assert problem.message == "it is no text: it holds zero bytes"
    monkeypatch.setattr(contents, "MOST_BYTES", 2**20)
    (tmp_path / "long.yaml").write_text("a: b\n" * 300_000)
    (tmp_path / "x.yaml").write_text(POD.format("x"))
    reading = read_paths([str(tmp_path)])
    assert keys(reading) == ["Pod x"]
    assert [one.message for one in reading.problems] == ["longer than 1 MiB, or without an end"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a: b\n" * 300_000)))
    (problem,) = read_paths(["-"]).problems
    assert str(problem.place) == "-"
    assert "without an end" in problem.message


def test_sockets_and_pipes_that_a_glob_means_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(POD.format("x"))
    os.mkfifo(tmp_path / "pipe.yaml")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
        one.bind(str(tmp_path / "s.yaml"))
    reading = read_paths([str(tmp_path / "*.yaml"), str(tmp_path / "s.yaml")])
    assert keys(reading) == ["Pod x"]
    assert [one.message for one in reading.problems] == [
        "cannot be read: it is a socket, or a device that is not there"
    ]


def test_an_archive_that_is_cut_off_or_broken_is_passed_over_or_told(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "c.tgz", "w:gz") as archive:
        for number in range(50):
            content = os.urandom(500).hex().encode()
            member = tarfile.TarInfo("c/Chart.yaml" if not number else f"c/{number}.yaml")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    whole = (tmp_path / "c.tgz").read_bytes()
    (tmp_path / "x.yaml").write_text(POD.format("x"))
    for at in range(0, len(whole), 700):
        for content in (whole[:at], whole[:at] + b"\xff" * 9 + whole[at + 9 :]):
            (tmp_path / "c.tgz").write_bytes(content)
            assert "Pod x" in keys(read_paths([str(tmp_path)], reach=Reach(render=HelmChoices())))
