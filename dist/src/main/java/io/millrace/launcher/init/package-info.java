/** The command {@code millrace init}: its questions, and the configuration that it makes from the answers. */
@NullMarked
package io.millrace.launcher.init;

import org.jspecify.annotations.NullMarked;
