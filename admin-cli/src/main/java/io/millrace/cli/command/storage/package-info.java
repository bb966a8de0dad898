/** Commands that show and change the storage paths of a running proxy, or check those of a stopped one. */
@NullMarked
package io.millrace.cli.command.storage;

import org.jspecify.annotations.NullMarked;
