# SPDX-License-Identifier: Apache-2.0
# Checks that collect what is missing, so that one message names every Debian package to install.

# MEW_MISSING(WHAT, DEBIAN-PACKAGE)
AC_DEFUN([MEW_MISSING], [
	mew_missing="$mew_missing
  $1 (Debian: $2)"
	mew_missing_packages="$mew_missing_packages $2"
])

# MEW_PKG(VARIABLE, PKG-CONFIG-MODULE, DEBIAN-PACKAGE)
AC_DEFUN([MEW_PKG], [
	PKG_CHECK_MODULES([$1], [$2], [], [MEW_MISSING([$2], [$3])])
])

# MEW_LIB(VARIABLE, HEADER, LIBRARY, FUNCTION, DEBIAN-PACKAGE)
AC_DEFUN([MEW_LIB], [
	mew_found=yes
	AC_CHECK_HEADER([$2], [], [mew_found=no])
	AC_CHECK_LIB([$3], [$4], [:], [mew_found=no])
	AS_IF([test "$mew_found" = yes], [$1_LIBS=-l$3], [MEW_MISSING([lib$3], [$5])])
	AC_SUBST([$1_LIBS])
])

AC_DEFUN([MEW_REPORT_MISSING], [
	AS_IF([test -n "$mew_missing"], [AC_MSG_ERROR([missing libraries:$mew_missing
install them with: apt install$mew_missing_packages])])
])

# MEW_CHECK_CFLAG(FLAG, IF-KNOWN, IF-NOT)
AC_DEFUN([MEW_CHECK_CFLAG], [
	mew_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_MSG_CHECKING([whether $CC knows $1])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		[mew_known=yes], [mew_known=no])
	CFLAGS=$mew_save_CFLAGS
	AC_MSG_RESULT([$mew_known])
	AS_IF([test $mew_known = yes], [$2], [$3])
])

# MEW_WARNINGS(VARIABLE): the warnings that this compiler knows.
AC_DEFUN([MEW_WARNINGS], [
	$1=
	for mew_flag in -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
		-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla \
		-Wcast-qual -Wno-missing-field-initializers -Wno-format-nonliteral
	do
		MEW_CHECK_CFLAG([$mew_flag], [$1="$$1 $mew_flag"])
	done
])
