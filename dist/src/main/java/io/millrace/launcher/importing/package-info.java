/** The result of an import from another proxy, and its report. */
@NullMarked
package io.millrace.launcher.importing;

import org.jspecify.annotations.NullMarked;
