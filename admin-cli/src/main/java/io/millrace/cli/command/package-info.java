/** The commands of {@code millctl}, one class each: arguments in, exit code out. */
@NullMarked
package io.millrace.cli.command;

import org.jspecify.annotations.NullMarked;
