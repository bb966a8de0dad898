/** The command {@code millrace log}. */
@NullMarked
package io.millrace.launcher.log;

import org.jspecify.annotations.NullMarked;
