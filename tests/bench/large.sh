#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# large.sh DIR [UNITS]: writes a large C++ program to DIR, with a Makefile that builds DIR/large with
# full debug information: some 2 MB of it a unit, most of it templates of the C++ library. The
# program makes as many passes through all units as its first argument says, by chains of inlined
# functions; its second names a file for its times (see spin.c).
set -e
dir=${1:?usage: large.sh DIR [UNITS]}
units=${2:-64}
mkdir -p "$dir"

unit()
{
	cat <<-END
	#include <algorithm>
	#include <functional>
	#include <map>
	#include <numeric>
	#include <regex>
	#include <string>
	#include <unordered_map>
	#include <vector>

	namespace unit$1 {

	template <int N> struct chain {
		static inline unsigned step(unsigned x) { return chain<N - 1>::step(x * 33 + N) ^ x >> 3; }
	};
	template <> struct chain<0> {
		static inline unsigned step(unsigned x) { return x ^ x << 7; }
	};

	struct item {
		unsigned key;
		double weight;
		bool operator<(const item &o) const { return key < o.key; }
	};

	static unsigned sorted(std::vector<item> &v, unsigned seed)
	{
		for (auto &i : v)
			i = item{seed = chain<8>::step(seed), seed * 0.5};
		std::sort(v.begin(), v.end(), [](const item &a, const item &b) { return b < a; });
		return std::accumulate(v.begin(), v.end(), 0u,
				       [](unsigned sum, const item &i) { return sum * 31 + i.key; });
	}

	static unsigned counted(std::map<unsigned, std::string> &m, unsigned seed)
	{
		std::unordered_map<unsigned, unsigned> n;
		for (int i = 0; i < 64; i++) {
			seed = chain<4>::step(seed);
			m[seed % 97] = std::to_string(seed);
			n[seed % 31] += m[seed % 53].size();
		}
		for (auto &p : n)
			seed += p.second;
		return seed;
	}

	static unsigned matched(unsigned seed)
	{
		static const std::regex number("([0-9]+)-([a-f]*)");
		std::smatch found;
		std::string text = std::to_string(seed) + "-abc";
		return std::regex_match(text, found, number) ? seed + found.size() : seed;
	}

	unsigned work(unsigned seed)
	{
		static std::vector<item> v(64);
		static std::map<unsigned, std::string> m;
		std::function<unsigned(unsigned)> f = [](unsigned x) { return counted(m, x); };
		seed = f(sorted(v, seed));
		return seed % 16 ? seed : matched(seed);
	}

	} // namespace unit$1
	END
}

objects=
i=0
while [ "$i" -lt "$units" ]; do
	unit "$i" >"$dir/unit$i.cc"
	objects="$objects unit$i.o"
	i=$((i + 1))
done
{
	echo '#include <cstdio>'
	echo '#include <cstdlib>'
	echo '#include <ctime>'
	seq 0 $((units - 1)) | sed 's/.*/namespace unit& { unsigned work(unsigned); }/'
	cat <<-'END'

	static double now(clockid_t clock)
	{
		timespec t;
		clock_gettime(clock, &t);
		return t.tv_sec + t.tv_nsec / 1e9;
	}

	int main(int argc, char **argv)
	{
		long passes = argc > 1 ? atol(argv[1]) : 1000;
		double begin = now(CLOCK_MONOTONIC);
		unsigned x = 1;
		while (passes-- > 0) {
	END
	seq 0 $((units - 1)) | sed 's/.*/\t\tx = unit&::work(x);/'
	cat <<-'END'
		}
		FILE *out = argc > 2 ? fopen(argv[2], "w") : stdout;
		if (!out)
			return 1;
		fprintf(out, "%.9f %.9f %.9f %u\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_REALTIME),
			now(CLOCK_PROCESS_CPUTIME_ID), x);
		return fclose(out) != 0;
	}
	END
} >"$dir/main.cc"
# shellcheck disable=SC2016 # for make
printf 'CXX = g++\nlarge: main.o%s\n\t$(CXX) -o $@ $^\n%%.o: %%.cc\n\t$(CXX) -std=c++17 -g3 -O1 -c -o $@ $<\n' \
	"$objects" >"$dir/Makefile"
