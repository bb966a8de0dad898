/** Commands for storage paths: state and change of a running store, check of the files of a stopped store. */
@NullMarked
package io.millrace.cli.command.storage;

import org.jspecify.annotations.NullMarked;
