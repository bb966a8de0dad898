/** Example extensions. Each class shows different hooks; {@code examples/README.md} describes their configuration. */
@NullMarked
package io.millrace.examples;

import org.jspecify.annotations.NullMarked;
