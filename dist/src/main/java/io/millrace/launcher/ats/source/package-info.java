/** Readers of Traffic Server's files: lines of words, YAML, and records. */
@NullMarked
package io.millrace.launcher.ats.source;

import org.jspecify.annotations.NullMarked;
