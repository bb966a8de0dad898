/**
 * Commands for storage paths: state and change of a running store, check of files at rest.
 */
@NullMarked
package io.millrace.cli.command.storage;

import org.jspecify.annotations.NullMarked;
