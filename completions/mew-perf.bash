# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bash completion for mew-perf. What may stand at a word is asked from mew-perf itself; this script
# splits the line into words, as bash cuts them at `:` and `=` too, and quotes what it inserts.

# Takes the quotes off $1. REPLY: the text. _mew_quote: the quote that is still open, or nothing.
# _mew_before: what of the text readline leaves alone: up to that quote, or up to the last character
# that parts words for it.
_mew_perf_unquote()
{
	local raw=$1 char i
	REPLY='' _mew_quote='' _mew_before=''
	for ((i = 0; i < ${#raw}; i++)); do
		char=${raw:i:1}
		if [[ $_mew_quote ]]; then
			if [[ $char == "$_mew_quote" ]]; then
				_mew_quote=''
			elif [[ $_mew_quote == '"' && $char == \\ && ${raw:i+1:1} == [\"\\\$\`] ]]; then
				((++i))
				REPLY+=${raw:i:1}
			else
				REPLY+=$char
			fi
		elif [[ $char == [\'\"] ]]; then
			_mew_quote=$char
			_mew_before=$REPLY
		elif [[ $char == \\ ]]; then
			((++i))
			REPLY+=${raw:i:1}
		else
			REPLY+=$char
			[[ $COMP_WORDBREAKS != *"$char"* ]] || _mew_before=$REPLY
		fi
	done
	# shellcheck disable=SC2088 # the tilde as it was typed
	if [[ $raw == '~/'* ]]; then
		REPLY=$HOME/${REPLY:2}
		_mew_before=''
	fi
}

# The line as words without quotes: _mew_words; _mew_at: the one at the cursor, cut there.
_mew_perf_split()
{
	local rest=$COMP_LINE word glued i room raws=()
	_mew_words=() _mew_at=-1
	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		word=${COMP_WORDS[i]}
		glued=1
		while [[ $rest == [[:space:]]* ]]; do
			rest=${rest:1}
			glued=0
		done
		room=$((COMP_POINT - (${#COMP_LINE} - ${#rest})))
		rest=${rest#"$word"}
		if ((i == COMP_CWORD && room < ${#word})); then
			word=${word:0:room < 0 ? 0 : room}
		fi
		if ((!glued || !${#raws[@]})); then
			raws+=("$word")
		elif ((_mew_at != ${#raws[@]} - 1)); then
			raws[-1]+=$word
		fi
		((i != COMP_CWORD)) || _mew_at=$((${#raws[@]} - 1))
	done
	for word in "${raws[@]}"; do
		_mew_perf_unquote "$word"
		_mew_words+=("$REPLY")
	done
	# Last, for what it says of quotes.
	_mew_perf_unquote "${raws[_mew_at]}"
}

# The text as it must stand behind what is typed.
_mew_perf_quote()
{
	local char
	REPLY=${1#"$_mew_before"}
	case $_mew_quote in
	'"')
		for char in \\ '"' '$' '`'; do
			REPLY=${REPLY//"$char"/"\\$char"}
		done
		;;
	"'") REPLY=${REPLY//\'/\'\\\'\'} ;;
	*) printf -v REPLY %q "$REPLY" ;;
	esac
}

# Files that begin with $1; with $2 programs: those that can be run, and names on PATH.
_mew_perf_files()
{
	local file
	compopt -o filenames
	while IFS= read -r file; do
		[[ ! $2 || -d $file || ($file == */* && -x $file) ]] || continue
		COMPREPLY+=("${_mew_head}$file")
	done < <(compgen -f -- "$1")
	[[ $2 && $1 && $1 != */* ]] || return 0
	while IFS= read -r file; do
		COMPREPLY+=("$file")
	done < <(compgen -c -- "$1" | sort -u)
}

_mew_perf()
{
	local REPLY _mew_quote _mew_before _mew_words _mew_at _mew_head='' candidates candidate word i
	COMPREPLY=()
	_mew_perf_split
	((_mew_at > 0)) || return 0
	word=${_mew_words[_mew_at]}
	if [[ $word == --*=* ]]; then
		_mew_head=${word%%=*}=
		word=${word#*=}
	fi
	# Only a benchmark is started by this, and only to list its cases.
	mapfile -t candidates < <("${_mew_words[0]}" --complete "$((_mew_at - 1))" \
		"${_mew_words[@]:1}" 2>/dev/null </dev/null)
	for candidate in "${candidates[@]}"; do
		case $candidate in
		:file) _mew_perf_files "$word" '' ;;
		:program) _mew_perf_files "$word" 1 ;;
		"$word"*)
			_mew_perf_quote "$_mew_head$candidate"
			COMPREPLY+=("$REPLY")
			continue
			;;
		*) continue ;;
		esac
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]#"$_mew_before"}
		done
	done
}

complete -o nosort -F _mew_perf mew-perf
