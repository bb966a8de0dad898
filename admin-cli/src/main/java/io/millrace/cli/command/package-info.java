/**
 * Base types that the commands of {@code millctl} share. Each group of verbs has a package below this one; the
 * command tree is in {@link io.millrace.cli}.
 */
@NullMarked
package io.millrace.cli.command;

import org.jspecify.annotations.NullMarked;
