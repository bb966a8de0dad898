/** The end of the launcher: exit codes, error messages for the operator, and signals. */
@NullMarked
package io.millrace.launcher.exit;

import org.jspecify.annotations.NullMarked;
