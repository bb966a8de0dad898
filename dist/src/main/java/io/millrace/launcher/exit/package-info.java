/** How the launcher ends: exit codes, failures in words for the operator, and signals. */
@NullMarked
package io.millrace.launcher.exit;

import org.jspecify.annotations.NullMarked;
