/** The command {@code millctl support bundle}, and the collectors of its files. */
@NullMarked
package io.millrace.cli.command.support;

import org.jspecify.annotations.NullMarked;
