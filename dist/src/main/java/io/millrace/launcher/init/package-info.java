/** The command {@code millrace init}: questions, and the configuration made of the answers. */
@NullMarked
package io.millrace.launcher.init;

import org.jspecify.annotations.NullMarked;
