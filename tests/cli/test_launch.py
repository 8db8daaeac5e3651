"""`pullback launch`: processes that know which one they are; what is lost is named, and begun again where asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullback.cli import launch
from pullback.cli.main import main
from pullback.engines.processes import DEFAULT_LOST_TIMEOUT

WHICH = """
import os, pathlib, sys
index, count = os.environ["PULLBACK_PROCESS_INDEX"], os.environ["PULLBACK_PROCESS_COUNT"]
pathlib.Path(sys.argv[1], index).write_text(f"{count} {os.environ['JAX_COORDINATOR_ADDRESS']} {sys.argv[2:]}")
"""


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


def test_each_process_is_told_which_one_it_is(tmp_path: Path) -> None:
    assert main(["launch", "-n", "3", program(tmp_path, WHICH), str(tmp_path), "--steps", "2"]) == 0
    told = [(tmp_path / str(i)).read_text() for i in range(3)]
    assert told[0] == told[1] == told[2]
    assert told[0].startswith("3 localhost:")
    assert told[0].endswith("['--steps', '2']")


def test_a_lost_process_ends_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import os, sys, threading\nsys.exit(4) if os.environ['PULLBACK_PROCESS_INDEX'] == '1' else None\n"
    assert main(["launch", "-n", "2", program(tmp_path, text + "threading.Event().wait()")]) == 1
    said = "pullback launch: process 1 of 2 ended with exit code 4; the others were ended\n"
    assert capsys.readouterr().err == said


def test_all_begin_again_as_often_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        f"import os, pathlib\npathlib.Path({str(tmp_path)!r}, 'tries').open('a').write('x')\nos.kill(os.getpid(), 9)\n"
    )
    assert main(["launch", "-n", "1", "--restarts", "2", program(tmp_path, text)]) == 1
    assert (tmp_path / "tries").read_text() == "xxx"
    lost = "pullback launch: process 0 of 1 was killed by SIGKILL"
    assert capsys.readouterr().err.split("\n") == [
        f"{lost}; starting all again, 2 restarts left",
        f"{lost}; starting all again, 1 restarts left",
        f"{lost}; the others were ended",
        "",
    ]


def test_what_a_program_says_at_its_end_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "1", program(tmp_path, "raise SystemExit('no data')")]) == 1
    assert capfd.readouterr().err.startswith("no data\n")


def test_of_what_a_program_raises_its_own_lines_are_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "1", program(tmp_path, "def load():\n    return 1 / 0\nload()")]) == 1
    said = capfd.readouterr().err
    assert [line.split('"')[1] for line in said.splitlines() if "File" in line] == [str(tmp_path / "program.py")] * 2
    assert "ZeroDivisionError: division by zero" in said


def test_a_program_that_is_not_there_is_said_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "2", str(tmp_path / "nix.py")]) == 1
    assert capfd.readouterr().err == f"pullback launch: there is no file {tmp_path / 'nix.py'}\n"


def test_modules_beside_the_program_are_found(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 1")
    assert main(["launch", "-n", "1", program(tmp_path, "import beside\nassert beside.value == 1")]) == 0


def test_of_several_that_are_lost_the_killed_one_was_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "import os, sys\nos.kill(os.getpid(), 9) if os.environ['PULLBACK_PROCESS_INDEX'] == '1' else sys.exit(1)"
    monkeypatch.setattr(launch, "INTERVAL", 3.0)
    assert main(["launch", "-n", "2", program(tmp_path, text)]) == 1
    assert capsys.readouterr().err == "pullback launch: process 1 of 2 was killed by SIGKILL; the others were ended\n"


def test_on_several_hosts_processes_are_numbered_through(tmp_path: Path) -> None:
    where = ["--hosts", "3", "--host", "1", "--coordinator", "host0:77"]
    assert main(["launch", "-n", "2", *where, program(tmp_path, WHICH), str(tmp_path)]) == 0
    assert [(tmp_path / str(i)).read_text() for i in (2, 3)] == ["6 host0:77 []"] * 2


def test_each_process_is_told_which_silence_is_a_loss(tmp_path: Path) -> None:
    text = "import os, sys\nsys.exit(os.environ['PULLBACK_LOST_TIMEOUT'] != '60')"
    assert main(["launch", "-n", "1", "--lost-timeout", "60", program(tmp_path, text)]) == 0


def test_processes_that_begin_again_meet_at_the_next_port(tmp_path: Path) -> None:
    where = ["--hosts", "2", "--host", "1", "--coordinator", "host0:77", "--restarts", "2"]
    assert main(["launch", "-n", "1", *where, program(tmp_path, WHICH + "sys.exit(1)"), str(tmp_path)]) == 1
    assert (tmp_path / "1").read_text() == "2 host0:79 []"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (["--hosts", "2"], "--hosts needs --host, which of them this is, and --coordinator, at host 0"),
        (["--hosts", "2", "--host", "2", "--coordinator", "host0:77"], "--host must be from 0 to 1, not 2"),
    ],
)
def test_a_host_says_which_one_it_is(where: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "1", *where, "program.py"]) == 1
    assert capsys.readouterr().err == f"pullback launch: {said}\n"


def test_a_process_is_not_lost_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["launch", "-n", "1", "--lost-timeout", "0", "program.py"])
    assert "--lost-timeout: a whole number of at least 1, not '0'\n" in capsys.readouterr().err


def test_the_help_says_after_how_many_seconds_a_process_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["launch", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"to those on other hosts (default: {DEFAULT_LOST_TIMEOUT})" in said


@pytest.mark.parametrize("address", ["host0", ":77", "host0:0", "host0:65536"])
def test_an_address_without_a_port_is_refused(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["launch", "-n", "1", "--coordinator", address, "program.py"])
    assert f"--coordinator: a host and a port, such as host0:1234, not '{address}'\n" in capsys.readouterr().err
