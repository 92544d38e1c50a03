"""Commands that leave something behind, each in its own way, and do not want it to end."""

import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

CROWD = 200

SCRIPTS = {
    # Tells that it is there, and stays.
    "child.sh": """\
echo "$2" >"$1/held"
: >"$1/up.$2"
exec sleep "$3"
""",
    # Ends at once, and goes on as another that has left it.
    "hop.sh": """\
[ -e "$1/go" ] || exit
[ -e "$1/up.$2" ] || { echo "$2" >"$1/held"; : >"$1/up.$2"; }
env -i PATH="$PATH" $4 sh "$1/hop.sh" "$1" "$2" "$3" "$4" &
""",
    # Leaves one more whenever it is asked to end.
    "again.sh": """\
trap 'setsid sleep "$3" &' TERM INT HUP
echo "$2" >"$1/held"
: >"$1/up.$2"
while [ -e "$1/go" ]; do sleep "$3" & wait; done
""",
    # Bears a name that is not its own.
    "renamed.sh": """\
echo "$2" >"$1/held"
: >"$1/up.$2"
exec -a "[kworker/0:1]" sleep "$3"
""",
    # Has no first thread any more, by which it would be known.
    "headless.py": """\
import ctypes, os, pathlib, sys, threading, time
threading.Thread(target=time.sleep, args=(float(sys.argv[3]),)).start()
os.close(1), os.close(2)
def tell():
    with open(sys.argv[1] + "/held", "w") as held:
        print(sys.argv[2], file=held)
    pathlib.Path(sys.argv[1], "up." + sys.argv[2]).touch()
    time.sleep(float(sys.argv[3]))
threading.Thread(target=tell).start()
ctypes.CDLL(None).pthread_exit(None)
""",
    # Stands at the end of a long line of parents.
    "deep.sh": """\
[ "$4" -eq 0 ] && exec sh "$1/child.sh" "$1" "$2" "$3"
sh "$1/deep.sh" "$1" "$2" "$3" $(($4 - 1))
:
""",
}

BEHIND = {
    "background": "@child &",
    "nohup": "nohup @child >/dev/null 2>&1 &",
    "disowned": "@child & disown",
    "own-session": "setsid @child &",
    "own-group": "set -m; @child & set +m",
    "daemon": "(setsid sh -c '(@child &)' &)",
    "without-environment": "(setsid env -i PATH=\"$PATH\" @child &)",
    "without-anything": (
        '(cd /; setsid env -i PATH="$PATH" @child </dev/null >/dev/null 2>&1 9>&- &)'
    ),
    "ignores-all-signals": "(trap '' TERM INT HUP QUIT USR1 USR2 PIPE; @child) &",
    "ignores-all-own-session": (
        "(trap '' TERM INT HUP; setsid env -i PATH=\"$PATH\" @child >/dev/null 2>&1 &)"
    ),
    "stopped": "@child & @there; kill -STOP $!",
    "stopped-own-session": 'setsid env -i PATH="$PATH" @child & @there; kill -STOP $!',
    "silent": "@child >&- 2>&- &",
    "renamed": "bash \"$here/renamed.sh\" @args &",
    "in-a-folder-that-is-gone": (
        'mkdir "$here/lost.$name"; (cd "$here/lost.$name"; rmdir "$here/lost.$name"; exec @child) &'
    ),
    "many": f'for i in $(seq {CROWD}); do sleep "$n" & done; @child &',
    "many-daemons": (
        'for i in $(seq 20); do (setsid env -i PATH="$PATH" sleep "$n" >/dev/null 2>&1 &); done;'
        " @child &"
    ),
    "headless": f'setsid env -i {sys.executable} -I "$here/headless.py" @args &',
    "deep": "sh \"$here/deep.sh\" @args 40 &",
    "hops": "sh \"$here/hop.sh\" @args '' >/dev/null 2>&1 &",
    "hops-out-of-its-session": "sh \"$here/hop.sh\" @args setsid >/dev/null 2>&1 &",
    "comes-again": "sh \"$here/again.sh\" @args &",
    "comes-again-own-session": "setsid sh \"$here/again.sh\" @args &",
    "floods": 'yes "$n" & @child &',
    "floods-own-session": 'setsid env -i PATH="$PATH" yes "$n" & @child &',
    "asks-the-person": "(read x </dev/tty || read x; @child) &",
}  # fmt: skip
"""What is left behind by a command, which goes on or ends once that is there."""

STAYING = {
    "stops-itself": "@child & @there; kill -STOP $$",
    "stops-its-keeper": '@child & @there; kill -STOP $PPID; sleep "$n"',
    "closes-its-output": 'exec >&- 2>&-; @child & sleep "$n"',
    "does-not-want-to-end": "trap '' TERM INT HUP QUIT; @child & while :; do sleep \"$n\"; done",
    "is-a-flood": '@child & exec yes "$n"',
    "leaves-more-when-it-is-asked": (
        "trap 'setsid env -i PATH=\"$PATH\" sleep \"$n\" & exit' TERM; @child & wait"
    ),
}  # fmt: skip
"""Commands that themselves do not end."""

ALL = (*BEHIND, *STAYING)


@dataclass(frozen=True, slots=True)
class Mischief:
    """The commands of one test in a folder; `mark` stands in the words of all that they start."""

    folder: Path
    mark: str = field(default_factory=lambda: str(secrets.randbelow(10**12) + 10**12))

    def __post_init__(self) -> None:
        for name, script in SCRIPTS.items():
            (self.folder / name).write_text(script, "utf-8")
        (self.folder / "go").touch()

    def ending(self, name: str) -> str:
        """A command that leaves something behind and ends once that is there."""
        return self._told(name, f"{BEHIND[name]}\n@there")

    def staying(self, name: str) -> str:
        """A command that does the same, or worse, and does not end by itself."""
        return self._told(name, STAYING.get(name) or f'{BEHIND[name]}\nsleep "$n"')

    def _told(self, name: str, text: str) -> str:
        values = f"export here={quote(str(self.folder))} name={name} n=300.{self.mark}\n"
        values += 'exec 9>"$here/held"\n'
        for word, meaning in _WORDS.items():
            text = text.replace(word, meaning)
        return values + text

    def forget(self) -> None:
        """Have all of them begin anew."""
        for up in self.folder.glob("up.*"):
            up.unlink()

    def stop(self) -> None:
        """Let those that come again end, should any have got away."""
        (self.folder / "go").unlink(missing_ok=True)


_WORDS = {
    "@child": 'sh "$here/child.sh" @args',
    "@args": '"$here" "$name" "$n"',
    "@there": 'until [ -e "$here/up.$name" ]; do sleep 0.02; done',
}
