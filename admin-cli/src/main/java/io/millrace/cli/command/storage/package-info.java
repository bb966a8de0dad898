/** Commands for the storage paths of a running or a stopped proxy. */
@NullMarked
package io.millrace.cli.command.storage;

import org.jspecify.annotations.NullMarked;
