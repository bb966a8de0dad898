/** The lines of imported files, their outcomes, and values in the syntax of Millrace. */
@NullMarked
package io.millrace.launcher.importing.source;

import org.jspecify.annotations.NullMarked;
