/**
 * Base types that the commands of {@code millctl} share. The commands are in the packages below this one. The class
 * {@link io.millrace.cli.Millctl} arranges them in a tree.
 */
@NullMarked
package io.millrace.cli.command;

import org.jspecify.annotations.NullMarked;
