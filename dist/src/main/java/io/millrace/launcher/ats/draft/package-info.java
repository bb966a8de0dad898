/** The configuration that is being written, and the directory that it is read from. */
@NullMarked
package io.millrace.launcher.ats.draft;

import org.jspecify.annotations.NullMarked;
