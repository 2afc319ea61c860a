#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completion in a real interactive bash on a terminal: type a line, press Tab, see what the words are.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need bash python3
[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
mkdir bin || broken "no folder"
ln -s "$MEW_PERF" bin/mew-perf
cp "$MEW_BUILDDIR/tests/fixtures/odd_names" bench || broken "no fixture odd_names"
: >results.csv
mkdir 'a dir'
cp bench 'a dir/my bench'
: >'a dir/of its own.csv'

# A program without the note of mew.h must not be started by a Tab.
cat >other <<'END'
#!/bin/sh
echo ran >>started
END
chmod +x other

cat >drive.py <<'END'
# Reads lines `NAME<tab>BEFORE<tab>AFTER<tab>WANT`: types BEFORE, then AFTER behind the cursor, presses
# Tab, and compares the words that bash then sees with WANT.
import os, select, sys

pid, fd = os.forkpty()
if pid == 0:
    os.environ.update(PATH=os.getcwd() + '/bin:' + os.environ['PATH'], TERM='dumb', HISTFILE='')
    os.environ.pop('INPUTRC', None)
    os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])

def read_until(end):
    out = b''
    while end not in out:
        ready, _, _ = select.select([fd], [], [], 20)
        if not ready:
            sys.exit('bash does not answer: %r' % out)
        out += os.read(fd, 65536)
    return out

def words(line):
    """The words of the line once Tab has been pressed in front of its \\0."""
    before, after = line.split('\0')
    os.write(fd, before.encode() + after.encode() + b'\x1b[D' * len(after) + b'\t')
    # The line becomes the arguments of a function that prints them, between two marks.
    os.write(fd, b'\x01show \x05\n')
    return read_until(b'</words>').split(b'<words>')[-1].split(b'</words>')[0].decode()

os.write(fd, b"PS1=; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; set +o histexpand; "
             b". \"$MEW_SRCDIR/completions/mew-perf.bash\"; "
             b"show() { printf '<%s' words\\>; printf '[%s]' \"$@\"; printf '<%s' /words\\>; }; "
             b"printf 'rea%s' dy\n")
read_until(b'ready')
failed = 0
for number, row in enumerate(open(sys.argv[1]), 1):
    before, after, want = row.rstrip('\n').split('\t')
    got = words(before + '\0' + after)
    if got == want:
        print('ok - %s|%s' % (before, after))
    else:
        failed = 1
        print('not ok - %s|%s: %s, not %s' % (before, after, got, want))
os.write(fd, b'exit\n')
os.waitpid(pid, 0)
sys.exit(failed)
END

# row BEFORE AFTER WANT
row()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>rows
}
row 'mew-perf c' '' '[mew-perf][cpu]'
row 'mew-perf rep' '' '[mew-perf][report]'
row 'mew-perf cpu --fil' '' '[mew-perf][cpu][--filter]'
row 'mew-perf mem --warm' '' '[mew-perf][mem][--warmup]'
row 'mew-perf mem --thread=se' '' '[mew-perf][mem][--thread=self]'
row 'mew-perf run --incl' '' '[mew-perf][run][--include-paused]'
row 'mew-perf mem --table=cu' '' '[mew-perf][mem][--table=curve]'
row 'mew-perf heap --warm' '' '[mew-perf][heap][--warmup]'
row 'mew-perf cpu --form' ' ./bench' '[mew-perf][cpu][--format][./bench]'
row 'mew-perf cpu --format=cs' '' '[mew-perf][cpu][--format=csv]'
row 'mew-perf cpu --format cs' '' '[mew-perf][cpu][--format][csv]'
row 'mew-perf cpu --table=fu' '' '[mew-perf][cpu][--table=functions]'
row 'mew-perf cpu --csv=res' '' '[mew-perf][cpu][--csv=results.csv]'
row 'mew-perf cpu -o res' '' '[mew-perf][cpu][-o][results.csv]'
row 'mew-perf cpu -qo res' '' '[mew-perf][cpu][-qo][results.csv]'
row 'mew-perf cpu ./ben' '' '[mew-perf][cpu][./bench]'
row 'mew-perf list ./ben' '' '[mew-perf][list][./bench]'
row 'mew-perf cpu -- ./ben' '' '[mew-perf][cpu][--][./bench]'
row 'mew-perf cpu ./bench res' '' '[mew-perf][cpu][./bench][results.csv]'
# Names with blanks: quoted as the word was begun.
row 'mew-perf cpu -o a' '' '[mew-perf][cpu][-o][a dir/]'
row 'mew-perf cpu -o a\ dir/of' '' '[mew-perf][cpu][-o][a dir/of its own.csv]'
row 'mew-perf cpu --csv=a\ dir/of' '' '[mew-perf][cpu][--csv=a dir/of its own.csv]'
row 'mew-perf report -d "a dir/of' '' '[mew-perf][report][-d][a dir/of its own.csv]'
row "mew-perf cpu 'a dir/my" '' '[mew-perf][cpu][a dir/my bench]'
row 'mew-perf cpu ./a\ dir/my' '' '[mew-perf][cpu][./a dir/my bench]'
row 'mew-perf cpu -k so' ' a\ dir/my\ bench' '[mew-perf][cpu][-k][sort_ints/case:][a dir/my bench]'
row 'mew-perf cpu -k so' ' "a dir/my bench"' '[mew-perf][cpu][-k][sort_ints/case:][a dir/my bench]'
# Cases: of the program that stands behind the cursor.
row 'mew-perf cpu -k so' ' ./bench' '[mew-perf][cpu][-k][sort_ints/case:][./bench]'
row 'mew-perf cpu -k sort_ints/case:' ' ./bench' '[mew-perf][cpu][-k][sort_ints/case:][./bench]'
row 'mew-perf mem -k spl' ' -n 3 ./bench' '[mew-perf][mem][-k][split line][-n][3][./bench]'
row 'mew-perf run -k split\ l' ' -- ./bench -- x' '[mew-perf][run][-k][split line][--][./bench][--][x]'
row 'mew-perf cpu -k "spl' '" ./bench' '[mew-perf][cpu][-k][split line][./bench]'
row "mew-perf cpu -k 'spl" "' ./bench" '[mew-perf][cpu][-k][split line][./bench]'
row 'mew-perf cpu -k par' ' ./bench' '[mew-perf][cpu][-k][parse/json:fast][./bench]'
row 'mew-perf cpu -k parse/json:f' ' ./bench' '[mew-perf][cpu][-k][parse/json:fast][./bench]'
row 'mew-perf cpu --filter=parse/json:f' ' ./bench' '[mew-perf][cpu][--filter=parse/json:fast][./bench]'
row 'mew-perf cpu --filter="parse/json:f' '" ./bench' '[mew-perf][cpu][--filter=parse/json:fast][./bench]'
row 'mew-perf cpu -k plu' ' ./bench' '[mew-perf][cpu][-k][plus\+x][./bench]'
row "mew-perf cpu -k 'q" "' ./bench" "[mew-perf][cpu][-k][q'uote][./bench]"
row "mew-perf cpu -k q" " ./bench" "[mew-perf][cpu][-k][q'uote][./bench]"
row 'mew-perf cpu -k "d\"' '" ./bench' '[mew-perf][cpu][-k][d"quote][./bench]'
row 'mew-perf cpu -k dol' ' ./bench' '[mew-perf][cpu][-k][dollar\$\(echo\)][./bench]'
row 'mew-perf cpu -k ' ' ./other' '[mew-perf][cpu][-k][./other]'
row 'mew-perf cpu -k x' ' ./missing' '[mew-perf][cpu][-k][x][./missing]'

python3 drive.py rows >driven 2>&1 || fail "completion" driven
[ "$(grep -c '^ok ' driven)" -eq "$(wc -l <rows)" ] || fail "not every line was typed" driven
while read -r _ _ line; do
	pass "Tab at | in: $line"
done <driven
[ ! -e started ] || fail "Tab has started a program that is no benchmark"
pass "Tab starts no other program"

# What completion knows is what getopt knows: each option it offers is taken.
for command in run cpu mem report list; do
	run 0 "$MEW_PERF" --complete 1 $command -
	mv out offered
	[ -s offered ] || fail "$command: no options are offered"
	run 0 "$MEW_PERF" $command -h
	while read -r option; do
		grep -q -- "$option" out || fail "$command: '$option' is offered, but not in the help" out
	done <offered
done
pass "the options offered are those of the help"

# A key that is inserted selects that case.
run 0 "$MEW_PERF" --complete 2 cpu -k '' ./bench
mv out keys
[ "$(wc -l <keys)" -eq 9 ] || fail "not every key is offered" keys
while IFS= read -r key; do
	run 0 "$MEW_PERF" mem --no-db -n 1 --csv -k "$key" ./bench
	[ "$(wc -l <out)" -ge 2 ] || fail "'$key' selects nothing" out
done <keys
pass "a key that is inserted selects its case"

echo "1..$mew_count"
