/** The state directory: its files, and the locks against a second instance. */
@NullMarked
package io.millrace.launcher.state;

import org.jspecify.annotations.NullMarked;
