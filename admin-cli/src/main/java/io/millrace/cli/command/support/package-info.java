/** The command {@code millctl support bundle}. */
@NullMarked
package io.millrace.cli.command.support;

import org.jspecify.annotations.NullMarked;
