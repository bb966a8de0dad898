/** Example extensions. Each class shows other hooks; {@code examples/README.md} has their configuration. */
@NullMarked
package io.millrace.examples;

import org.jspecify.annotations.NullMarked;
