/** The configuration that an import builds, and the directory from which it is imported. */
@NullMarked
package io.millrace.launcher.ats.draft;

import org.jspecify.annotations.NullMarked;
