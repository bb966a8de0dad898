/** The command {@code millctl shell}: line editor, completion and history. */
@NullMarked
package io.millrace.cli.command.shell;

import org.jspecify.annotations.NullMarked;
