/** The state of an import from Traffic Server: the source directory, and the resulting configuration. */
@NullMarked
package io.millrace.launcher.ats.draft;

import org.jspecify.annotations.NullMarked;
